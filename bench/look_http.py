"""The cost of an unchanged check: a conditional GET with response 304 through the guarded client, next to bare httpx.

Both use the same server on loopback, in a separate thread so that only the client's processor time counts.
"""

from __future__ import annotations

import gc
import random
import socket
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import trio

from actors.egress.http import FetchRequest
from actors.egress.traffic import build_egress
from actors.egress.transport import SystemResolver, TcpConnector
from actors.egress.url import parse_url
from actors.settings import Settings
from actors.world import World
from bench.topic import Figure, Row, Topic, size
from tests.support.passwords import NoPasswords

ROUNDS, LOOKS = size(7, 1), size(400, 10)
TOPIC = Topic(
    "An unchanged feed",
    "Processor time of a conditional GET that a server on loopback answers with 304, in turns with bare httpx.",
    ("actors/egress",),
    {"request": Figure("CPU of the request", "us", "<= 1.5 x bare httpx")},
)
_ANSWER = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nCache-Control: max-age=300\r\nServer: bench\r\n\r\n'


def rows() -> Iterator[Row]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        bare, ours = trio.run(_measure, server.getsockname()[1])
    yield Row("request", ours, bare)


def _serve(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(client,), daemon=True).start()


def _answer(client: socket.socket) -> None:
    with client:
        while client.recv(4096):  # a request is one small segment
            client.sendall(_ANSWER)


async def _measure(port: int) -> tuple[float, float]:
    """Return the medians of alternating rounds, so that disturbances affect both."""
    address = f"http://127.0.0.1:{port}/feed"
    egress = build_egress(_world(), Settings(allow_networks=("127.0.0.0/8",)))
    url = parse_url(address)

    async def guarded() -> None:
        wish = FetchRequest(url, etag='"v1"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT")
        found = await egress.http.get(wish)
        assert found.status == 304

    headers = {"If-None-Match": '"v1"', "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}
    async with httpx.AsyncClient() as client:

        async def bare() -> None:
            response = await client.get(address, headers=headers)
            assert response.status_code == 304

        figures: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for look, kept in zip((bare, guarded), figures, strict=True):
                kept.append(await _cost(look))
    await egress.aclose()
    return statistics.median(figures[0]), statistics.median(figures[1])


async def _cost(look: Callable[[], Awaitable[None]]) -> float:
    await look()
    gc.collect()
    start = time.thread_time()
    for _ in range(LOOKS):
        await look()
    return (time.thread_time() - start) / LOOKS * 1e6


def _world() -> World:
    def missing(*_: object) -> Any:
        raise AssertionError("not part of this measurement")

    return World(
        wall=time.time,  # noqa: TID251  # a bench is a front door of its own
        chance=random.Random,
        entropy=missing,
        resolver=SystemResolver(),
        connector=TcpConnector(),
        listen=missing,
        jail=None,  # type: ignore[arg-type]  # not part of this measurement
        open_storage=missing,
        reach=lambda name: None,
        log=lambda *a, **k: None,
        passwords=NoPasswords(),
    )
