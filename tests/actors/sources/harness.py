"""Real sources on an in-memory network, jail and disk."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import trio
from trio.testing import wait_all_tasks_blocked

from actors.egress.traffic import build_egress
from actors.messages.requests import NewSource
from actors.messages.sources import AddSource, CheckNow, RegistryMessage
from actors.messages.views import AddedSource
from actors.messages.workers import RecorderMessage
from actors.recorder.actor import Recorder, SigningKeys
from actors.setting_table import with_values
from actors.settings import Settings
from actors.signatures import new_signing_key
from actors.sources.admission import Admission
from actors.sources.ports import Ports
from actors.sources.registry.actor import Registry
from storage.records.event import EVERYTHING
from storage.records.identity import START, SourceId
from supervision import ChildSpec, DynamicSupervisor, Mailbox, Strategy, Supervisor
from tests.support.build import BASE_URL, NOW
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, web
from tests.support.scripted_browser import ScriptedBrowser

KEY = new_signing_key(bytes(32), NOW)
SITE, ADDRESS = "site.example", "93.184.216.34"


def rss(*titles: str, **channel: str) -> bytes:
    """Return an RSS document, first item first; a title `a|b` makes entry `a` with text `b`."""
    extra = "".join(f"<{name}>{value}</{name}>" for name, value in channel.items())
    items = "".join(
        f"<item><guid isPermaLink='false'>{name}</guid><title>{name}</title><link>https://{SITE}/{name}</link>"
        f"<description>{text or 'text of ' + name}</description></item>"
        for name, _, text in (title.partition("|") for title in titles)
    )
    return f"<rss version='2.0'><channel><title>T</title>{extra}{items}</channel></rss>".encode()


def page(*paragraphs: str, clock: str = "12:00:01") -> bytes:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        f"<html><head><title>Page</title></head><body><main><h1>Page</h1>{body}</main><footer>{clock}</footer>".encode()
    )


class Origin:
    """A site: bodies by path, requests received, and a status to fail with."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.headers: dict[str, Mapping[str, str]] = {}
        self.status: int | None = None
        self.asked: list[ReceivedRequest] = []

    def looks(self, path: str) -> list[ReceivedRequest]:
        return [asked for asked in self.asked if asked.target == path]

    def __call__(self, asked: ReceivedRequest) -> Answer:
        if self.status is not None and asked.target != "/robots.txt":
            return Answer(self.status, b"no")
        body = self.bodies.get(asked.target)
        if body is None:
            return Answer(404, b"")
        etag = f'"{hash_of(body)}"'
        headers = {"etag": etag, **self.headers.get(asked.target, {})}
        if asked.headers.get("if-none-match") == etag:
            return Answer(304, b"", headers)
        return Answer(200, body, headers)


def hash_of(body: bytes) -> str:
    return f"{zlib.crc32(body)}-{len(body)}"


class Watching:
    """The running service, with the parts that tests touch."""

    def __init__(
        self, network: MemoryNetwork, disk: Disk, settings: Settings, browser: ScriptedBrowser | None = None
    ) -> None:
        self.network, self.disk = network, disk
        self.points: list[str] = []
        self.jail = InlineJail()
        self.browser = browser
        self.logged: list[tuple[str, dict[str, Any]]] = []
        self.ahead = 0.0
        """Seconds that the clock has been moved."""
        self.world = replace(
            a_world(network, jail=self.jail, reach=self.points.append, log=self._log, browser=browser),
            wall=lambda: NOW / 1000 + self.ahead + trio.current_time(),
        )
        self.storage = InLoopStorage(disk, disk.start("test"))
        self.recorder_box: Mailbox[RecorderMessage] = Mailbox("recorder", 64)
        self.registry_box: Mailbox[RegistryMessage] = Mailbox("registry", 64)
        chance = self.world.chance
        recorder = Recorder(
            world=self.world,
            storage=self.storage,
            signing=SigningKeys(self.storage, [KEY]),
            base_url=BASE_URL,
            mailbox=self.recorder_box,
            chance=chance("ids"),
        )
        self.sources = DynamicSupervisor("sources", chance=chance("sources"))
        self.ports = Ports(
            self.world,
            settings,
            self.storage,
            build_egress(self.world, settings),
            self.recorder_box,
            Admission(self.storage.alerts),
            trio.CapacityLimiter(settings.looks_at_once),
        )
        self.registry = Registry(self.ports, self.sources, self.registry_box)
        specs = [
            ChildSpec("log", recorder.run, ready_within=10, mailbox=self.recorder_box),
            ChildSpec("sources", self.sources.run, ready_within=10),
            ChildSpec("registry", self.registry.run, ready_within=60, mailbox=self.registry_box),
        ]
        self.supervisor = Supervisor("test", specs, strategy=Strategy.REST_FOR_ONE, chance=chance("root"))

    def _log(self, name: str, **fields: Any) -> None:
        self.logged.append((name, fields))

    async def add(self, url: str, *, mark: tuple[str, ...] = (), **wish: Any) -> AddedSource:
        return await self.registry_box.ask(lambda reply: AddSource(NewSource(url, **wish), reply, mark, reads=True))

    async def check(self, source: SourceId) -> None:
        await self.registry_box.ask(lambda reply: CheckNow(source, reply))

    def place(self, source: SourceId) -> int:
        return self.registry.table.describe(source).queue_position

    def events_from(self, position: int) -> list[dict[str, Any]]:
        """Return the events from the `position`-th of the log on."""
        return [msgspec.json.decode(event.body) for event in self.disk.events()[position:]]

    async def events(self) -> list[dict[str, Any]]:
        found = await self.storage.log.read(START, 500, EVERYTHING)
        return [msgspec.json.decode(event.body) for event in found.events]

    async def titles(self) -> list[str]:
        return [event["title"] for event in await self.events()]

    async def alerts(self) -> list[dict[str, Any]]:
        """Return the notices of sources and the service."""
        return [event for event in await self.events() if "alert_type" in event]

    async def news(self) -> list[str]:
        """Return all titles but those of notices."""
        return [event["title"] for event in await self.events() if "alert_type" not in event]


@asynccontextmanager
async def watching(
    origin: Origin | None = None,
    *,
    disk: Disk | None = None,
    browser: ScriptedBrowser | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[Watching, Origin]]:
    origin = origin or Origin()
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        network.add(SITE, ADDRESS, web(origin, origin.asked))
        network.servers[ADDRESS, 443] = network.servers[ADDRESS, 80]
        running = Watching(network, disk or Disk(), with_values(Settings(), **settings), browser)
        nursery.start_soon(running.supervisor.run)
        await wait_all_tasks_blocked()
        yield running, origin
        running.supervisor.stop()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
