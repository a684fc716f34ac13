"""The real service under load: /healthz during searches in long texts, memory with unread responses."""

from __future__ import annotations

import random
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import trio
from msgspec.structs import replace

from bench.log_material import a_draft, seeded
from bench.topic import Figure, Row, Topic, size
from storage.records.event import Draft
from tests.e2e.service import Service, a_key, a_service

EVENTS, SIZE = size(1_000, 20), 64 << 10
CALLERS, UNREAD = 8, size(40, 4)
SECONDS, WATCHED = size(20.0, 1.0), size(100, 10)
TOPIC = Topic(
    "A service under pressure",
    "A real service with 1,000 events of 64 KB of Chinese; the limit of `/healthz` is the same service at rest.",
    ("api", "storage/sqlite"),
    {
        "healthz": Figure("/healthz beside 8 searches, longest", "ms", "<= 200 ms"),
        "unread": Figure("memory that 40 unread answers of 1 MiB take", "MiB", "<= 64 MiB"),
    },
)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "data"
        chance = random.Random(1)
        seeded(folder, sources=1, events=EVENTS, drafts=[_in_chinese(chance) for _ in range(min(EVENTS, 50))])
        key = a_key(folder)
        rest, beside, answers = trio.run(partial(_served, folder, _beside, key))
        yield Row("healthz", beside, rest, f"{answers} searches meanwhile")
        grown, refused = trio.run(partial(_served, folder, _unread, key))
        yield Row("unread", grown, note=f"{refused} refused")


def _in_chinese(chance: random.Random) -> Draft:
    text = "".join(chr(chance.randrange(0x4E00, 0x9000)) for _ in range(SIZE // 3))
    return replace(a_draft(chance, 900), content=text)


async def _served(folder: Path, measure: Callable[..., Any], key: str) -> Any:
    async with a_service(folder) as service:
        return await measure(service, key)


async def _beside(service: Service, key: str) -> tuple[float, float, int]:
    answers = 0
    headers = {"Authorization": f"Bearer {key}"}

    async def search(client: httpx.AsyncClient) -> None:
        nonlocal answers
        after = ""
        while True:
            query = {"keyword": "qqqqz", "limit": "1000"} | ({"cursor": after} if after else {})
            found = await client.get("/v1/events", params=query)
            answers += 1
            after = found.json().get("next_cursor") or ""

    async with (
        httpx.AsyncClient(base_url=service.url, timeout=120) as stranger,
        httpx.AsyncClient(base_url=service.url, headers=headers, timeout=120) as client,
    ):
        rest = max([await _asked(stranger) for _ in range(20)])
        with trio.move_on_after(SECONDS):
            async with trio.open_nursery() as nursery:
                for _ in range(CALLERS):
                    nursery.start_soon(search, client)
                longest = 0.0
                while True:
                    longest = max(longest, await _asked(stranger))
                    await trio.sleep(0.15)  # a stranger may ask ten times a second
    return rest, longest, answers


async def _asked(client: httpx.AsyncClient) -> float:
    began = time.perf_counter()
    (await client.get("/healthz")).raise_for_status()
    return 1000 * (time.perf_counter() - began)


async def _unread(service: Service, key: str) -> tuple[float, int]:
    """Return the process's growth in MiB, and the number of refused requests."""
    url = httpx.URL(service.url)
    before = _resident(service.process.pid)
    head = f"GET /v1/events?limit=1000 HTTP/1.1\r\nHost: {url.host}\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    most, refused = before, 0
    streams = []
    for _ in range(UNREAD):
        bare = trio.socket.socket()
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        await bare.connect((url.host, url.port))
        streams.append(trio.SocketStream(bare))
        await streams[-1].send_all(head)
    for _ in range(WATCHED):
        await trio.sleep(0.1)
        most = max(most, _resident(service.process.pid))
    for stream in streams:
        refused += (await stream.receive_some(12)).endswith(b"503")
    return (most - before) / 1024, refused


def _resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
