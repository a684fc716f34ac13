"""An empty poll of a published feed: the server's processor time, next to a bare GET of the framework.

The bare server is Quart-Trio on Hypercorn with a view that returns two letters. Also the worker's time for a message
template.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart_trio import QuartTrio

from actors.notification.dialects import TextLimits
from actors.notification.message_template import SAMPLES, WriteRequest, render
from bench.topic import Figure, Row, Topic, size
from sanderling.client.api import Client
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add

POLLS, TURNS = size(90, 5), size(12, 1)
"""Polls of one address in a row, fewer than a stranger's limit; each turn uses another address."""
TEMPLATE = """*{{ title }}*
{% for event in events %}{{ event.title }}: {{ event.summary }}
{{ event.link }}
{% endfor %}"""
WRITTEN = size(300, 10)
TOPIC = Topic(
    "Published feeds and templates",
    "CPU of a server that is polled over one connection, in turns with a bare GET of Quart-Trio; a template in its "
    "worker.",
    ("extras/publish", "api/server", "actors/notification"),
    {
        "poll": Figure("a poll of a published feed that finds nothing (304)", "us", "<= 1.1 x Quart-Trio"),
        "usual": Figure("a message by a user's template, CPU in the worker, median", "ms"),
        "slow": Figure("a message by a user's template, p99", "ms", "<= 50 ms"),
    },
)


def rows() -> Iterator[Row]:
    bare, ours = trio.run(_polled)
    yield Row("poll", 1e6 * ours, 1e6 * bare)
    usual, slow = _written()
    yield Row("usual", usual)
    yield Row("slow", slow)


async def _polled() -> tuple[float, float]:
    """Return the processor seconds per request: of the bare framework, and of ours."""
    bare, ours = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        data, origin = Path(folder, "data"), Origin()
        key = a_key(data)
        async with trio.open_nursery() as nursery:
            await nursery.start(origin.serve)
            async with a_service(data) as service, Client(service.url, key) as client:
                source = await add(client, f"http://{origin.place}/feed", backfill=1)
                shown = {"title": "News", "source_ids": [source["id"]]}
                made = await client.ask("POST", "/v1/publications", json=shown)
                feed = urlsplit(made.json()["feeds"]["atom"])
                command = [sys.executable, "-m", "bench.published"]
                with subprocess.Popen(command, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220  # nothing else runs
                    assert other.stdout is not None
                    port = int(other.stdout.readline())
                    for turn in range(TURNS):
                        bare.append(_cost(other.pid, port, "/", turn))
                        ours.append(_cost(service.process.pid, feed.port or 0, feed.path, turn))
                    other.kill()
            nursery.cancel_scope.cancel()
    return statistics.median(bare), statistics.median(ours)


def _cost(pid: int, port: int, path: str, turn: int) -> float:
    """Request a path repeatedly; return the server's processor seconds per request."""
    with socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.1.{turn + 1}", 0)) as line:
        status, headers = _ask(line, path, {})
        tag = headers.get("etag", "")
        wanted = 304 if tag else 200
        before = _processor(pid)
        for _ in range(POLLS):
            status, _ = _ask(line, path, {"If-None-Match": tag} if tag else {"Accept": "*/*"})
            assert status == wanted, status
        return (_processor(pid) - before) / POLLS


def _ask(line: socket.socket, path: str, more: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    """Send a GET; return status and headers."""
    headers = "".join(f"{name}: {value}\r\n" for name, value in more.items())
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += line.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    told = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
    status = int(first.split()[1])
    left = 0 if status == 304 else int(told.get("content-length", "0")) - len(body)
    while left > 0:
        left -= len(line.recv(65536))
    return status, told


def _processor(pid: int) -> float:
    """Return a process's processor time in seconds, exact to the nanosecond."""
    return time.clock_gettime(_clock_of(pid))


def _clock_of(pid: int) -> int:
    """Return the id of a process's CPU clock (clock_getcpuclockid(3): ~pid << 3 | 2)."""
    return (~pid << 3) | 2


def _written() -> tuple[float, float]:
    """Return the median and the 99th percentile in milliseconds."""
    took = []
    for number in range(WRITTEN):
        asked = WriteRequest(TEMPLATE, "", SAMPLES[number % len(SAMPLES)], TextLimits(dialect="markdown", text=4000))
        began = time.process_time()
        render(asked)
        took.append(1000 * (time.process_time() - began))
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


async def _bare() -> None:
    """Serve two letters on a free port, and print the port."""
    app = QuartTrio("bare", static_folder=None)

    @app.get("/")
    async def two_letters() -> str:
        return "ok"

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(listener.socket.getsockname()[1], flush=True)
    config = Config()
    config.bind = [f"fd://{os.dup(listener.socket.fileno())}"]
    config.errorlog = None
    await serve(app, config, shutdown_trigger=trio.sleep_forever)


if __name__ == "__main__":
    trio.run(_bare)
