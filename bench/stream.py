"""The stream's figures: a delivery's CPU and a client's memory beside raw sockets, a JSON GET beside bare Quart-Trio.

`python -m bench.stream` prints the rows. Each server is a process of its own that is told over its standard input what
to do; the clients are sockets of this process. CPU is the server's own, so other work disturbs it less.
"""

from __future__ import annotations

import json
import os
import random
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import trio
from hypercorn.config import Config
from hypercorn.trio import serve as hypercorn_serve
from quart import Response
from quart_trio import QuartTrio

from actors.doors import Doors
from actors.settings import Settings
from actors.world import World
from api.server import serve
from api.sse import event_frame
from storage.memory import Disk, MemoryStorage
from storage.records.event import Stored
from storage.records.identity import COUNTER_BITS, Millis, Seq, SourceId, id_of
from storage.records.key import ApiKey
from supervision import Mailbox

CLIENTS, EVENTS, REQUESTS, ROUNDS = 1_000, 20, 1_500, 2
KEY = "svc_" + "k" * 43
FIRST = Seq(1_800_000_000_000 << COUNTER_BITS)


def an_event(number: int) -> Stored:
    seq = Seq(FIRST + number)
    fields = {"content": "x" * 700, "id": id_of(seq, 7), "source_id": "s", "source_type": "feed", "title": "T" * 60}
    return Stored(seq, SourceId("s"), 1, msgspec.json.encode(fields, order="sorted"))


def resident() -> int:
    """Return the bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


# --- servers, each in a process of its own ---------------------------------------------------------------------------


async def commands(push: Any) -> None:
    """Obey standard input: `push` publishes an event, `stat` prints CPU seconds and resident bytes."""
    number = 0
    while line := await trio.to_thread.run_sync(sys.stdin.readline):
        if line == "push\n":
            number += 1
            await push(an_event(number))
        else:
            used = os.times()
            print(used.user + used.system, resident(), flush=True)
    os._exit(0)


async def raw(port: int) -> None:
    """The limit: a task a client, an Event, a send."""
    state: dict[str, Any] = {"frame": b"", "number": 0, "wake": trio.Event()}

    async def push(event: Stored) -> None:
        state.update(frame=event_frame(event.body), number=state["number"] + 1)
        wake, state["wake"] = state["wake"], trio.Event()
        wake.set()

    async def client(stream: trio.SocketStream) -> None:
        await stream.receive_some(4096)
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        seen = state["number"]
        with suppress(trio.BrokenResourceError):
            while True:
                while state["number"] == seen:
                    await state["wake"].wait()
                seen = state["number"]
                frame = state["frame"]
                await stream.send_all(b"%x\r\n%b\r\n" % (len(frame), frame))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(commands, push)
        await trio.serve_tcp(client, port, host="127.0.0.1", backlog=4096)


class Child:
    """What `serve` asks of its supervisor."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None:
        """Nothing waits for it here."""


async def a_storage() -> MemoryStorage:
    disk = Disk()
    storage = MemoryStorage(disk, disk.start("bench"))
    await storage.keys.add(
        ApiKey("k", "bench", KEY[:12], sha256(KEY.encode()).hexdigest(), ("stream:read",), Millis(0), 10**9, 10**9)
    )
    disk.append([an_event(0)])
    return storage


async def ours(port: int) -> None:
    """The product: the real front end on real sockets, over the engine in memory."""
    storage = await a_storage()

    async def listen(host: str, port: int) -> Sequence[trio.SocketListener]:
        return await trio.open_tcp_listeners(port, host=host, backlog=4096)

    missing: Any = None
    world = World(
        wall=time.time,  # noqa: TID251  # a benchmark is its own composition root
        chance=random.Random,
        entropy=bytes,
        resolver=missing,
        connector=missing,
        listen=listen,
        jail=missing,
        open_storage=missing,
        reach=lambda name: None,
        log=lambda event, **fields: None,
    )
    doors = Doors(
        world=world,
        settings=Settings(port=port, key_streams=10_000),
        storage=storage,
        registry=Mailbox("registry", 8),
        matcher=Mailbox("matcher", 8),
        destination=lambda name: None,
        jwks=lambda: b"{}",
        readiness=dict,
        overdue=lambda: 0,
        tree=tuple,
        draining=lambda: False,
    )
    child: Any = Child()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(commands, lambda event: storage.tail.publish([event]))
        await serve(doors, child)


async def bare(port: int) -> None:
    """The limit of a JSON GET: the same answer from a bare Quart-Trio application on Hypercorn."""
    storage = await a_storage()
    app = QuartTrio("bare")

    @app.get("/v1/events/<name>")
    async def one(name: str) -> Response:
        event = await storage.log.get(name)
        assert event is not None
        return Response(event.body, content_type="application/json")

    async def push(event: Stored) -> None:
        raise AssertionError("no stream here")

    config = Config()
    config.bind, config.accesslog, config.errorlog = [f"127.0.0.1:{port}"], None, None
    config.keep_alive_max_requests = 10**9
    async with trio.open_nursery() as nursery:
        nursery.start_soon(commands, push)
        await hypercorn_serve(app, config)  # type: ignore[arg-type]  # Quart's own type of an application


# --- what is asked of them -------------------------------------------------------------------------------------------


class Server:
    """A server process, and the port it listens on."""

    def __init__(self, kind: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [sys.executable, "-m", "bench.stream", kind, str(self.port)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._wait_listening()

    def say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()

    def stat(self) -> tuple[float, int]:
        """Return CPU seconds and resident bytes."""
        assert self._process.stdout is not None
        self.say("stat")
        cpu, memory = self._process.stdout.readline().split()
        return float(cpu), int(memory)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()

    def _wait_listening(self) -> None:
        for _ in range(200):
            try:
                self.connect().close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")


def receive(clients: Sequence[socket.socket], mark: bytes) -> None:
    """Read until every client has seen the mark."""
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ, bytearray())
        waiting = len(clients)
        while waiting:
            for key, _ in selector.select(30) or [(None, None)]:
                assert key is not None, "a client waits for ever"
                data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                assert data, "the server has gone"
                key.data.extend(data)
                if mark in key.data:
                    selector.unregister(key.fileobj)
                    waiting -= 1


def deliveries(kind: str) -> tuple[float, float]:
    """Return CPU microseconds a delivery and resident bytes a client."""
    server = Server(kind)
    request = b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: " + KEY.encode() + b"\r\n\r\n"
    warm = [server.connect() for _ in range(20)]  # what the first requests load is not a client's memory
    for client in warm:
        client.sendall(request)
    receive(warm, b"\r\n\r\n")
    before = server.stat()[1]
    clients = [server.connect() for _ in range(CLIENTS)]
    for client in clients:
        client.sendall(request)
    receive(clients, b"\r\n\r\n" if kind == "raw" else b": replay-from")
    memory = (server.stat()[1] - before) / CLIENTS
    for client in warm:
        client.close()
    began = server.stat()[0]
    for number in range(1, EVENTS + 1):
        server.say("push")
        receive(clients, b"id: " + id_of(Seq(FIRST + number), 7).encode())
    cpu = (server.stat()[0] - began) / (EVENTS * CLIENTS)
    for client in clients:
        client.close()
    server.close()
    return cpu * 1e6, memory


def gets(kind: str) -> float:
    """Return CPU microseconds of an authorised GET of one event."""
    server = Server(kind)
    path = f"/v1/events/{id_of(FIRST, 7)}".encode()
    request = b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nX-API-Key: " + KEY.encode() + b"\r\n\r\n"
    client = server.connect()
    for number in range(REQUESTS):
        if number == REQUESTS // 5:
            began = server.stat()[0]
        if number % 500 == 0:  # a connection serves so many requests at most
            client.close()
            client = server.connect()
        client.sendall(request)
        got = b""
        while b'"title"' not in got:
            data = client.recv(65536)
            assert data, "the server has gone"
            got += data
    cpu = (server.stat()[0] - began) / (REQUESTS * 4 / 5)
    client.close()
    server.close()
    return cpu * 1e6


def row(
    figure: str, goal: str, limit: float, measured: float, unit: str, most: float, *, least: bool = False
) -> dict[str, Any]:
    """Return a row; `most` bounds ours/limit, or with `least` limit/ours from below."""
    ratio = limit / measured if least else measured / limit
    met = ratio >= most if least else ratio <= most
    texts = (f"{limit:,.1f} {unit}", f"{measured:,.1f} {unit}")
    return {"figure": figure, "goal": goal, "limit": texts[0], "ours": texts[1], "ratio": ratio, "met": met}


def rows() -> list[dict[str, Any]]:
    """Measure, the limits and ours in turn, and return the medians."""
    rounds = [(deliveries("raw"), deliveries("ours")) for _ in range(ROUNDS)]
    answers = [(gets("bare"), gets("ours")) for _ in range(ROUNDS)]
    raw_cpu, our_cpu = (statistics.median(each[side][0] for each in rounds) for side in (0, 1))
    raw_memory, our_memory = (statistics.median(each[side][1] for each in rounds) / 1024 for side in (0, 1))
    bare_get, our_get = (statistics.median(each[side] for each in answers) for side in (0, 1))
    name = f"{CLIENTS:,} clients, one 1 KB event at a time"
    return [
        row(f"stream: CPU a delivery, {name}", "<= 2 x raw sockets", raw_cpu, our_cpu, "us", 2.0),
        row("stream: memory a client", "<= 24 KB", raw_memory, our_memory, "KB", 24 / max(raw_memory, 0.1)),
        row(
            "stream: CPU of an authed JSON GET", ">= 75 % of bare Quart-Trio", bare_get, our_get, "us", 0.75, least=True
        ),
    ]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        trio.run({"raw": raw, "ours": ours, "bare": bare}[sys.argv[1]], int(sys.argv[2]))
    else:
        print(json.dumps(rows(), indent=1))
