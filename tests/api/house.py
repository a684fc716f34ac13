"""The real application behind Hypercorn's protocol code, on memory streams and with a fake registry."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpcore
import httpx
import msgspec
import trio
from trio.testing import memory_stream_pair

from actors.app_context import AppContext
from actors.catalogue import Catalogue
from actors.coverage import Shifts
from actors.destination_kinds.contract import Answer
from actors.destination_kinds.kind import Consent, Service
from actors.destination_kinds.messengers.messenger import built_in as messengers
from actors.destination_kinds.table import NO_MAIL, kinds_of
from actors.matcher import Lag
from actors.messages.sources import RegistryMessage
from actors.messages.workers import AlertsChanged, DestinationMessage, ImportMessage, MatcherMessage
from actors.recorder.actor import build
from actors.setting_table import with_values
from actors.settings import Settings
from actors.signatures import Signer, new_signing_key
from actors.sources.importer import Importer
from actors.sources.schedule.budgets import CheckRate
from actors.templates.instantiation import Templates
from actors.templates.template import Template, built_in
from actors.world import ResolveFailed, World
from api.route import PUBLIC, SCOPES
from api.server.server import serve
from storage.append import events_of
from storage.records.access import ApiKey
from storage.records.destination import Destination
from storage.records.event import Draft, Heartbeat, Stored
from storage.records.identity import COUNTER_BITS, SERVICE, Millis, Seq, SourceId, id_of, millis_of, rfc3339
from storage.records.source import Harvest, SourceRuntime, SourceState
from supervision import Mailbox
from tests.api.fake_registry import FakeRegistry
from tests.support.build import NOW, a_draft, a_source, a_source_id
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.overseeing import an_overseer
from tests.support.passwords import PlainPasswords

BASE_URL = "http://sanderling.test"
ALL = tuple(sorted(SCOPES - {PUBLIC}))
StreamPair = Callable[[], tuple[trio.abc.Stream, trio.abc.Stream]]


class MemoryListener(trio.abc.Listener[trio.abc.Stream]):
    """A listener with a `connect` for its clients."""

    def __init__(self, pair: StreamPair = memory_stream_pair) -> None:
        self.pair = pair
        self._send, self._receive = trio.open_memory_channel[Any](100)
        self.errors: list[OSError] = []
        self.closed = False

    async def accept(self) -> trio.abc.Stream:
        if self.errors:
            raise self.errors.pop(0)
        return await self._receive.receive()

    async def connect(self) -> trio.abc.Stream:
        ours, theirs = self.pair()
        await self._send.send(theirs)
        return ours

    async def aclose(self) -> None:
        self.closed = True
        await trio.lowlevel.checkpoint()


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, listener: MemoryListener) -> None:
        self._listener = listener

    async def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._listener.connect())

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return bytes(await self._stream.receive_some(max_bytes))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            if buffer:
                await self._stream.send_all(buffer)
        except trio.BrokenResourceError as error:
            raise httpcore.WriteError from error  # the client then reads the early answer

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return None


class Mint:
    def __init__(self) -> None:
        self._last = Seq(NOW << COUNTER_BITS)

    def raise_floor(self, floor: Seq) -> None:
        self._last = Seq(max(self._last, floor))

    def mint(self) -> tuple[Seq, str]:
        self._last = Seq(self._last + 1)
        return self._last, id_of(self._last, 42)


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    """Return an event as the recorder writes it, without the signature."""
    return msgspec.json.encode(build(event_id, source, draft, BASE_URL, millis_of(seq)))


class FakeMatcher:
    """Acknowledge and count changes of alerts. gate: holds the acknowledgement. asked: set by the first request."""

    def __init__(self) -> None:
        self.mailbox: Mailbox[MatcherMessage] = Mailbox("matcher", 8)
        self.changes = 0
        self.silent = False
        self.asked, self.gate = trio.Event(), trio.Event()
        self.gate.set()

    async def run(self) -> None:
        while True:
            message = await self.mailbox.receive()
            assert isinstance(message, AlertsChanged)
            self.changes += 1
            self.asked.set()
            await self.gate.wait()
            if not self.silent:
                message.reply.answer(None)


class RunningImporter:
    def __init__(self, world: World, registry: Mailbox[RegistryMessage]) -> None:
        self.mailbox: Mailbox[ImportMessage] = Mailbox("importer", 16)
        self.actor = Importer(world, registry, self.mailbox)


class FakeResolver:
    """An unknown name gets a public address; `nowhere.test` does not resolve."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[str, ...]] = {}

    async def resolve(self, host: str) -> tuple[str, ...]:
        await trio.lowlevel.checkpoint()
        if host == "nowhere.test":
            raise ResolveFailed("no such name", local=False)
        return self.names.get(host, ("93.184.216.34",))


class FakeChild:
    """The part of a supervised child that `serve` needs."""

    def __init__(self) -> None:
        self.stopping = trio.Event()
        self.is_ready = trio.Event()

    def ready(self) -> None:
        self.is_ready.set()


async def invited(consent: Consent, destination: Destination, about: str) -> Answer:
    """Deliver every message."""
    return Answer(250, 1)


LATER = Millis(1 << 60)
"""A time after every alert: alerts include sources that turn private then only by name."""


@dataclass
class House:
    """A running front end with its storage and fakes."""

    context: AppContext
    storage: InLoopStorage
    registry: FakeRegistry
    listener: MemoryListener
    child: FakeChild
    matcher: FakeMatcher = field(default_factory=FakeMatcher)
    resolver: FakeResolver = field(default_factory=FakeResolver)
    destinations: dict[str, Mailbox[DestinationMessage]] = field(default_factory=dict)
    logs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    readiness: dict[str, str] = field(default_factory=dict)
    overdue: int = 0
    lag: Lag = field(default_factory=Lag)
    spent: CheckRate = field(default_factory=CheckRate)
    draining: bool = False
    mint: Mint = field(default_factory=Mint)
    importer: RunningImporter = field(init=False)
    private: set[str] = field(default_factory=set)
    private_since: Millis = LATER
    _keys: int = 0

    async def key(self, *scopes: str, rate: int = 600_000, burst: int = 10_000) -> str:
        """Store a new key and return its text."""
        self._keys += 1
        text = "svc_" + f"{self._keys:043d}"
        hashed = sha256(text.encode()).hexdigest()
        record = ApiKey(f"key{self._keys}", "test", text[:12], hashed, scopes or ALL, NOW, rate, burst)
        there = {
            key.sha256 for key in await self.storage.keys.all()
        }  # a previous house on the same storage may have added it
        if hashed not in there:
            await self.storage.keys.add(record)
        return text

    async def revoke(self, text: str) -> None:
        assert await self.storage.keys.revoke(f"key{int(text[4:])}")

    async def client(self, *scopes: str, **more: Any) -> httpx.AsyncClient:
        """Return an httpx client with a new key."""
        key = await self.key(*scopes, **more)
        return self.stranger(Authorization=f"Bearer {key}")

    def stranger(self, **headers: str) -> httpx.AsyncClient:
        """Return an httpx client without a key."""
        transport = httpx.AsyncHTTPTransport(verify=False)  # loading certificates takes 10 ms a client
        # Hours pass between two requests, and a memory stream does not report that the other side has closed it.
        transport._pool = httpcore.AsyncConnectionPool(
            max_keepalive_connections=0, network_backend=_Backend(self.listener)
        )
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=headers, timeout=None)

    async def publish(self, *drafts: Draft | str, source: int = 1) -> list[Stored]:
        """Commit events of a source and publish them to readers."""
        source_id = a_source_id(source)
        if source_id not in self.storage.disk.sources():
            state = SourceState(source_id, SourceRuntime())
            await self.storage.sources.add(a_source(source), state, self.storage.lease)
        made = tuple(draft if isinstance(draft, Draft) else a_draft(draft) for draft in drafts)
        harvest = Harvest(source_id, made, SourceState(source_id, SourceRuntime()))
        events = events_of(await self.storage.log.append([harvest], self.storage.lease, self.mint, stamp))
        await self.storage.tail.publish(events)
        return list(events)

    async def beat(self) -> Stored:
        """Commit a heartbeat and publish it to readers."""
        moment = rfc3339(NOW)
        says = Heartbeat(1, 60, moment, None, None, moment, 0, moment, 0, 0, 0)
        draft = a_draft(
            "Heartbeat", alert_type="heartbeat", source_type="html", tags=("kind:heartbeat",), heartbeat=says
        )
        harvest = Harvest(SERVICE, (draft,), None)
        (event,) = events_of(await self.storage.log.append([harvest], self.storage.lease, self.mint, stamp))
        await self.storage.tail.publish([event])
        return event

    async def raw(self, request: bytes) -> trio.abc.Stream:
        stream = await self.listener.connect()
        await stream.send_all(request)
        return stream


def ids(events: Iterable[Stored]) -> list[str]:
    return [msgspec.json.decode(event.body)["id"] for event in events]


def make_house(
    pair: StreamPair = memory_stream_pair, catalogue: Catalogue[Template] | None = None, **settings: Any
) -> House:
    """Build all parts without starting any."""
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("test"))
    registry, listener, child, resolver = FakeRegistry(), MemoryListener(pair), FakeChild(), FakeResolver()
    logs: list[tuple[str, dict[str, Any]]] = []

    async def listen(host: str, port: int) -> list[MemoryListener]:
        return [house.listener]

    world = World(
        wall=_wall(),
        chance=random.Random,
        entropy=random.Random("entropy").randbytes,
        resolver=resolver,
        connector=None,  # type: ignore[arg-type]
        listen=listen,
        jail=InlineJail(),
        open_storage=None,  # type: ignore[arg-type]
        reach=lambda name: None,
        log=lambda event, **fields: logs.append((event, fields)),
        passwords=PlainPasswords(),
    )
    house = House(None, storage, registry, listener, child, resolver=resolver, logs=logs)  # type: ignore[arg-type]
    house.importer = RunningImporter(world, registry.mailbox)
    registry.storage = storage
    house.context = AppContext(
        world=world,
        settings=with_values(Settings(), **{"base_url": BASE_URL, **settings}),
        storage=storage,
        registry=registry.mailbox,
        matcher=house.matcher.mailbox,
        destination=house.destinations.get,
        spent=lambda: house.spent,
        jwks=_no_keys,
        signer=_a_signer,
        shifts=Shifts(world, storage),
        readiness=lambda: house.readiness,
        overdue=lambda: house.overdue,
        kinds=kinds_of(messengers(), NO_MAIL, Service(world, storage, Settings())),
        invite=invited,
        lag=lambda: house.lag,
        overseer=an_overseer(world, registry.views),
        figures=tuple,
        templates=Templates(world, "https://clinicaltrials.gov", storage, registry.mailbox, catalogue or built_in()),
        draining=lambda: house.draining,
        importer=house.importer.mailbox,
        alert_changes=lambda: house.matcher.changes,
        private_since=lambda source: house.private_since if source in house.private else None,
        source_changes=lambda: len(house.private),
    )
    return house


def _wall() -> Callable[[], float]:
    """Return a clock that reads `NOW` now, or at its first use if Trio is not running yet."""
    # Trio's clock starts at a random point within eleven days.
    begun = [trio.current_time()] if trio.lowlevel.in_trio_run() else []

    def wall() -> float:
        if not begun:
            begun.append(trio.current_time())
        return NOW / 1000 + trio.current_time() - begun[0]

    return wall


async def _a_signer() -> Signer:
    return Signer(new_signing_key(bytes(32), Millis(0)))


async def _no_keys() -> bytes:
    return b'{"keys":[]}'


@asynccontextmanager
async def running(house: House) -> AsyncIterator[House]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(house.matcher.run)
        nursery.start_soon(house.importer.actor.run, FakeChild())
        nursery.start_soon(serve, house.context, house.child)
        await house.child.is_ready.wait()
        yield house
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def on_loopback(**settings: Any) -> AsyncIterator[tuple[House, int]]:
    house = make_house(**settings)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    house.listener = listener  # type: ignore[assignment]  # a real listener
    async with running(house):
        yield house, listener.socket.getsockname()[1]
