"""Destinations on in-memory storage, with scripted receivers, on the virtual clock."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import trio

from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.table import built_in_kinds
from actors.egress.address import HostAliases
from actors.egress.failures import PostMethod, PostResult
from actors.egress.url import Url
from actors.messages.workers import Record
from actors.observer import NO_OBSERVER, Metrics
from actors.signatures import new_signing_key
from storage.append import events_of
from storage.records.destination import Match
from storage.records.event import Stored
from storage.records.identity import Millis
from storage.sql.storage import Storage
from supervision import ChildSpec, DynamicSupervisor, MailboxFull, Supervisor
from tests.actors.matcher.rig import Mint, a_destination, an_alert, stamp
from tests.support.build import NOW, a_harvest, a_source, a_source_id, a_state
from tests.support.in_loop import Disk, InLoopStorage


class Arrival(NamedTuple):
    """A request as the receiver got it."""

    at: float
    host: str
    headers: dict[str, str]
    body: bytes


Receiver = Callable[[Arrival], Awaitable[PostResult]]


def answers(*statuses: int, retry_after: float | None = None, takes: float = 0.01) -> Receiver:
    """Answer with these statuses in turn; repeat the last."""
    left = list(statuses)

    async def receive(arrival: Arrival) -> PostResult:
        status = left.pop(0) if len(left) > 1 else left[0]
        await trio.sleep(takes)
        return PostResult(status, round(takes * 1000), b"" if status < 300 else b"<no>", retry_after)

    return receive


class Rig:
    """storage: in place of that of `disk`."""

    def __init__(self, disk: Disk | None = None, storage: Storage | None = None) -> None:
        self.disk = Disk() if disk is None else disk
        self.storage = InLoopStorage(self.disk, self.disk.start("test")) if storage is None else storage
        self.mint = Mint()
        self.arrivals: list[Arrival] = []
        self.plainly: list[str] = []
        self.receivers: dict[str, Receiver] = {}
        self.under_way = self.most_under_way = 0
        self.logged: list[str] = []
        self.records: list[Record] = []
        self.aliases = HostAliases()
        self.recorder_full = False
        self.at_point: Callable[[str], None] = lambda name: None
        world: Any = SimpleNamespace(
            now=lambda: Millis(NOW + round(trio.current_time() * 1000)),
            chance=random.Random,
            reach=self._reach,
            metrics=Metrics(),
            observer=NO_OBSERVER,
            log=lambda name, **fields: self.logged.append(name),
        )
        self.world = world
        self.destinations = DynamicSupervisor("destinations", chance=random.Random(1))
        self.registry = DeliveryRegistry(
            world=world,
            storage=self.storage,
            egress=SimpleNamespace(
                deliver=self, deliver_plain=SimpleNamespace(post=self._post_plain), last_address=self.aliases.address_of
            ),
            kinds=built_in_kinds(),
            destinations=self.destinations,
            record=self._record,
            base_url="https://sanderling.test",
        )

    def _record(self, message: Record) -> None:
        if self.recorder_full:
            raise MailboxFull("full")
        self.records.append(message)

    async def commit_records(self) -> Sequence[Stored]:
        """Do the recorder's work: commit all queued records."""
        harvests = [message.harvest for message in self.records]
        self.records.clear()
        return events_of(await self.storage.log.append(harvests, self.storage.lease, self.mint, stamp))

    def _reach(self, name: str) -> None:
        self.at_point(name)

    async def _post_plain(self, url: Url, headers: Mapping[str, str], body: bytes) -> PostResult:
        self.plainly.append(url.host)
        return await self.post(url, headers, body)

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        arrival = Arrival(trio.current_time(), url.host, dict(headers), body)
        self.arrivals.append(arrival)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self.receivers.get(url.host, answers(200))(arrival)
        finally:
            self.under_way -= 1

    async def prepare(self, *hooks: str, **changes: Any) -> None:
        """Store source 1, an alert, and a destination for each name."""
        await self.storage.sources.add(a_source(), a_state(a_source_id()), self.storage.lease)
        await self.storage.keys.add_signing(new_signing_key(bytes(32), NOW))
        await self.storage.alerts.put(an_alert())
        for hook in hooks:
            await self.storage.alerts.put_destination(a_destination(hook, **changes))

    async def match(self, hook: str, *titles: str, nudge: bool = True) -> Sequence[Stored]:
        """Commit events and put them into a destination's outbox."""
        harvest = a_harvest(a_source_id(), *titles)
        events = events_of(await self.storage.log.append([harvest], self.storage.lease, self.mint, stamp))
        rows = [Match(hook, event.seq, self.world.now()) for event in events]
        at = await self.storage.outbox.cursor("matcher")
        await self.storage.outbox.advance("matcher", at, events[-1].seq, rows, self.storage.lease)
        if nudge:
            self.registry.nudge(hook)
        return events

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tree = Supervisor(
            "test",
            [
                ChildSpec("destinations", self.destinations.run, ready_within=5),
                ChildSpec("deliveries", self.registry.run, ready_within=5),
            ],
            chance=random.Random(2),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tree.run)
            await trio.sleep(0.001)
            yield
            nursery.cancel_scope.cancel()

    def ids(self, host: str | None = None) -> list[str]:
        return [each.headers["webhook-id"] for each in self.arrivals if host in (None, each.host)]

    async def results(self, hook: str = "hook") -> list[str]:
        return [each.result for each in reversed(await self.storage.outbox.attempts(hook, 1000))]
