"""The load of the benchmark of nodes, in a separate process: feeds that publish at a rate, and receivers.

It listens at several addresses on loopback, as nodes share the work by host. `python -m bench.nodes_house HOSTS FEEDS`
prints its port. Its input is a rate a line, in entries a second over all feeds; each line is answered with a line of
JSON: the entries published so far, and the milliseconds from each event's commit to its arrivals since the last line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from typing import Any

import trio

from bench.topic import ROOT
from storage.records.identity import millis_of, seq_of

SHOWN = 60
"""Newest entries in a feed."""
TEXT = "The north beach is where most of the small waders feed while the tide goes out, day after day. " * 2


class Load:
    """The process, as the benchmark sees it. hosts: where each feed and receiver may be reached."""

    def __init__(self, process: subprocess.Popen[str], hosts: int, port: int) -> None:
        self._process, self._hosts, self._port = process, hosts, port

    def url(self, kind: str, number: int) -> str:
        return f"http://127.0.1.{1 + number % self._hosts}:{self._port}/{kind}/{number}"

    def at(self, rate: float) -> tuple[int, list[int]]:
        """Set the rate; return the entries so far, and the delays in milliseconds since the last call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(rate, file=self._process.stdin, flush=True)
        published, delays = json.loads(self._process.stdout.readline())
        return published, delays


@contextmanager
def a_load(hosts: int, feeds: int) -> Iterator[Load]:
    command = [sys.executable, "-m", "bench.nodes_house", str(hosts), str(feeds)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Load(process, hosts, int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()


class _Town:
    def __init__(self, feeds: int) -> None:
        self.feeds = feeds
        self.items: list[list[bytes]] = [[] for _ in range(feeds)]
        self.published = 0
        self.rate = 0.0
        self.delays: list[int] = []

    async def publish(self) -> None:
        owed, before = 0.0, trio.current_time()
        while True:
            await trio.sleep(0.02)
            owed, before = owed + self.rate * (trio.current_time() - before), trio.current_time()
            for _ in range(int(owed)):
                self._publish()
            owed %= 1.0

    def _publish(self) -> None:
        number = self.published
        self.published += 1
        name = f"note {number}"
        what = f"<title>{name}</title><guid>{name}</guid><description>{name}: {TEXT}</description>"
        items = self.items[number % self.feeds]
        items.append(f"<item>{what}<pubDate>{formatdate(time.time())}</pubDate></item>".encode())  # noqa: TID251
        del items[:-SHOWN]

    async def answer(self, stream: trio.SocketStream) -> None:
        data = b""
        while True:
            while (end := data.find(b"\r\n\r\n")) < 0:
                more = await stream.receive_some(65536)
                if not more:
                    return
                data += more
            head, fields = data[:end], data[:end].lower()
            size = int(fields.partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
            while len(data) < end + 4 + size:
                data += await stream.receive_some(65536)
            data = data[end + 4 + size :]
            body = b""
            if head.startswith(b"GET /feed/"):
                items = self.items[int(head.split()[1].rpartition(b"/")[2])]
                body = b'<rss version="2.0"><channel><title>Notes</title>%b</channel></rss>' % b"".join(items[::-1])
            else:
                event = fields.partition(b"webhook-id:")[2].split(b"\r\n")[0].strip().decode()
                self.delays.append(round(time.time() * 1000) - millis_of(seq_of(event)))  # noqa: TID251
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


async def _serve(hosts: int, feeds: int) -> None:
    town: Any = _Town(feeds)
    listeners = await trio.open_tcp_listeners(0, host="127.0.1.1")
    port = listeners[0].socket.getsockname()[1]
    for number in range(1, hosts):
        listeners += await trio.open_tcp_listeners(port, host=f"127.0.1.{1 + number}")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, town.answer, listeners)
        nursery.start_soon(town.publish)
        print(port, flush=True)
        while line := await trio.to_thread.run_sync(sys.stdin.readline):
            town.rate = float(line)
            delays, town.delays = town.delays, []
            print(json.dumps([town.published, delays]), flush=True)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(_serve, int(sys.argv[1]), int(sys.argv[2]))
