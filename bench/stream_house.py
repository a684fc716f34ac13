"""The servers of the stream's benchmark, each in a separate process controlled by its stdin.

`python -m bench.stream_house KIND PORT`: `raw` (the limit: only Trio's sockets), `ours` (the product's front end over
the in-memory engine), `log FOLDER` (over SQLite), `bare` (Quart-Trio without the product).
"""

from __future__ import annotations

import gc
import os
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import trio
from hypercorn.config import Config
from hypercorn.trio import serve as hypercorn_serve
from quart import Response
from quart_trio import QuartTrio

from actors.app_context import AppContext
from actors.destination_kinds.table import built_in_kinds
from actors.matcher import Lag
from actors.settings import Settings
from actors.world import World
from api.server.server import serve
from api.streams.sse import event_frame
from bench.log_material import DRAFTS, a_harvest, source_id
from sanderling.serve import COLLECT
from storage.records.access import ApiKey
from storage.records.event import Stored
from storage.records.identity import COUNTER_BITS, Millis, Seq, SourceId, id_of
from storage.records.source import Detection, Source, SourceRuntime, SourceState
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from supervision import Mailbox
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.passwords import NoPasswords

URL = "https://news.example/feed.xml"
KEY = "svc_" + "k" * 43
FIRST = Seq(1_800_000_000_000 << COUNTER_BITS)
MOST = 12_000
"""Maximum open streams."""
TICK = 0.02

Push = Callable[[Sequence[Stored]], Awaitable[None]]


def an_event(number: int) -> Stored:
    seq = Seq(FIRST + number)
    fields = {"content": "x" * 700, "id": id_of(seq, 7), "source_id": "s", "source_type": "feed", "title": "T" * 60}
    return Stored(seq, SourceId("s"), 1, msgspec.json.encode(fields, order="sorted"))


def more_files() -> None:
    """Raise the limit of open files to its maximum."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Commands:
    """The benchmark's commands: `push` an event, `flood COUNT RATE`, `stat`. `push` prints its commit time."""

    def __init__(self, push: Push) -> None:
        self._push, self._number, self._lag = push, 0, 0.0

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tick)
            while line := await trio.to_thread.run_sync(sys.stdin.readline):
                word, *numbers = line.split()
                if word == "push":
                    print(time.monotonic(), flush=True)  # noqa: TID251  one clock for both processes
                    await self._some(1)
                elif word == "flood":
                    nursery.start_soon(self._flood, *map(int, numbers))
                else:
                    self._stat()
            os._exit(0)

    async def _some(self, count: int) -> None:
        first, self._number = self._number + 1, self._number + count
        await self._push([an_event(number) for number in range(first, self._number + 1)])

    async def _flood(self, count: int, rate: int) -> None:
        """Push due events together, like the recorder, which commits together what arrived during the last commit."""
        began, end = trio.current_time(), self._number + count
        while self._number < end:
            due = int((trio.current_time() - began) * rate) + 1 - (self._number + count - end)
            await self._some(min(due, end - self._number))
            await trio.sleep_until(began + (self._number + count - end) / rate)

    async def _tick(self) -> None:
        while True:
            due = trio.current_time() + TICK
            await trio.sleep_until(due)
            self._lag = max(self._lag, trio.current_time() - due)

    def _stat(self) -> None:
        """Print CPU seconds, resident bytes, and the largest lag of the loop since the last call, in seconds."""
        used = os.times()
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        print(used.user + used.system, memory, self._lag, flush=True)
        self._lag = 0.0


async def raw(port: int) -> None:
    """The limit: a task per client, an Event, a send."""
    state: dict[str, Any] = {"frame": b"", "number": 0, "wake": trio.Event()}

    async def push(events: Sequence[Stored]) -> None:
        state.update(frame=event_frame(events[0].body), number=state["number"] + 1)
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
        nursery.start_soon(Commands(push).run)
        await trio.serve_tcp(client, port, host="127.0.0.1", backlog=4096)


class Child:
    """The supervisor's side that `serve` needs."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None:
        """Needs no signal."""


async def with_key(storage: Storage) -> None:
    hashed = sha256(KEY.encode()).hexdigest()
    await storage.keys.add(ApiKey("k", "bench", KEY[:12], hashed, ("stream:read",), Millis(0), 10**9, 10**9))


class OneMint:
    """Returns FIRST, once."""

    def raise_floor(self, floor: Seq) -> None:
        assert floor < FIRST

    def mint(self) -> tuple[Seq, str]:
        return FIRST, id_of(FIRST, 7)


async def in_memory() -> InLoopStorage:
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("bench"))
    await with_key(storage)
    first, detection = an_event(0), Detection("feed", "high", "", URL, "application/rss+xml")
    source = Source(source_id(0), URL, URL, "feed", detection, Millis(0), Millis(0))
    await storage.sources.add(source, SourceState(source.id, SourceRuntime()), storage.lease)
    await storage.log.append([a_harvest(0, DRAFTS[0])], storage.lease, OneMint(), lambda *drafted: first.body)
    return storage


async def no_keys() -> bytes:
    return b"{}"


def doors_of(storage: Storage, port: int) -> AppContext:
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
        jail=SimpleNamespace(lacks=str),
        open_storage=missing,
        reach=lambda name: None,
        log=lambda event, **fields: None,
        passwords=NoPasswords(),
    )
    return AppContext(
        world=world,
        settings=Settings(port=port, key_streams=MOST, max_streams=MOST),
        storage=storage,
        registry=Mailbox("registry", 8),
        matcher=Mailbox("matcher", 8),
        destination=lambda name: None,
        jwks=no_keys,
        signer=missing,
        shifts=missing,
        readiness=dict,
        overdue=lambda: 0,
        kinds=built_in_kinds(),
        invite=missing,
        lag=Lag,
        overseer=missing,
        figures=tuple,
        templates=missing,
        draining=lambda: False,
        importer=Mailbox("importer", 8),
        alert_changes=lambda: 0,
    )


async def front(storage: Storage, port: int) -> None:
    """The product: the real front end on real sockets."""
    child: Any = Child()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Commands(storage.tail.publish).run)
        await serve(doors_of(storage, port), child)


async def ours(port: int) -> None:
    await front(await in_memory(), port)


async def log(port: int, folder: str) -> None:
    storage = await open_sqlite(Path(folder), clock=time.time, owner="bench", warn=print)  # noqa: TID251  (a real clock)
    await with_key(storage)
    await front(storage, port)


async def bare(port: int) -> None:
    """The limit of a JSON GET: the same response from a bare Quart-Trio application on Hypercorn."""
    storage = await in_memory()
    app = QuartTrio("bare")

    @app.get("/v1/events/<name>")
    async def one(name: str) -> Response:
        event = await storage.log.get(name)
        assert event is not None
        return Response(event.body, content_type="application/json")

    @app.get("/healthz")
    @app.get("/readyz")
    async def probe() -> Response:
        return Response(b'{"status": "ok"}', content_type="application/json")

    async def push(events: Sequence[Stored]) -> None:
        raise AssertionError("no stream here")

    config = Config()
    config.bind, config.accesslog, config.errorlog = [f"127.0.0.1:{port}"], None, None
    config.keep_alive_max_requests = 10**9
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Commands(push).run)
        await hypercorn_serve(app, config)


if __name__ == "__main__":
    gc.set_threshold(*COLLECT)
    more_files()
    kinds: dict[str, Any] = {"raw": raw, "ours": ours, "bare": bare, "log": log}
    trio.run(partial(kinds[sys.argv[1]], int(sys.argv[2]), *sys.argv[3:]))
