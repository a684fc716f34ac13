"""Follows other nodes' changes of sources, of ownership and of the outbox.

Each node keeps all sources in memory, so that it can answer for all, and runs only its own actors. Every second it
reads the others' changes in commit order. Each change of ownership starts actors here and stops others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import trio
from msgspec.structs import replace

from actors.delivery.registry import DeliveryRegistry
from actors.errors import Conflict, NotFound
from actors.messages.workers import SaveStates
from actors.ordering import KeyedLocks
from actors.sources.index import SourceIndex, from_storage
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.registry.tag_defaults import TagDefaultsService
from actors.world import World
from storage.errors import STANDSTILL, StateMoved
from storage.ownership import NOBODY
from storage.records.identity import Millis, SourceId
from storage.records.source import SourceState, WatchedSource
from storage.secrets.vault import Vault
from storage.sql.storage import Storage
from storage.sql.stores.outbox import Claim
from storage.sql.stores.sources import watched_of
from storage.sql.transaction import Lookups, Readers, every_row, next_turn
from supervision import Child

EVERY = 1.0
"""Seconds between readings of changes."""
AT_ONCE = 500
STOPPED_AT_ONCE = 50


_NEWEST = """SELECT (SELECT coalesce(max(number), 0) FROM source_change),
    (SELECT value FROM fact WHERE name='tag_defaults')"""
_AFTER = """SELECT c.number, k.id, s.body, s.sealed, h.body, h.version, h.jar FROM source_change c
    JOIN source_key k ON k.key=c.key LEFT JOIN source s ON s.key=c.key LEFT JOIN source_hot h ON h.key=c.key
    WHERE c.number>? ORDER BY c.number LIMIT ?"""


class SourceChange(NamedTuple):
    """A source as it is now, without its base; None if deleted. `number`: of its last change."""

    number: int
    source: SourceId
    watched: WatchedSource | None


class NewestChange(NamedTuple):
    """change: number of the newest change of a source or state, 0 for none. tags: changes of tags' defaults."""

    change: int
    tags: int


class Sharing:
    """Changes by other nodes. Numbers of changes rise in the order of commits."""

    def __init__(self, readers: Readers, lookups: Lookups, vault: Vault) -> None:
        self._readers, self._lookups, self._vault = readers, lookups, vault

    async def newest(self) -> NewestChange:
        """Return the newest numbers in one query; each node asks every second."""
        change, tags = await self._lookups.one(_NEWEST)
        return NewestChange(int(change), int(tags))

    async def changes(self, after: int, limit: int) -> Sequence[SourceChange]:
        return [self._change(row) for row in await every_row(self._readers, _AFTER, after, limit)]

    def _change(self, row: Any) -> SourceChange:
        number, source, body, sealed, hot, version, jar = row
        watched = None if body is None else watched_of((body, sealed, hot, b"", version, jar), self._vault)
        return SourceChange(number, SourceId(source), watched)


class OtherNodes:
    """The follower of changes. `locks` are those that edits here hold."""

    def __init__(
        self, sharing: Sharing, ports: Ports, table: SourceIndex, locks: KeyedLocks, inheriting: TagDefaultsService
    ) -> None:
        self._ports, self._sharing, self._table, self._locks = ports, sharing, table, locks
        self._inheriting = inheriting
        self._reading = trio.Lock()

    def __repr__(self) -> str:
        return f"<OtherNodes up to change {self._table.revision}>"

    async def begin(self) -> None:
        """Note where the changes are that come after what is loaded next. Raises StorageError."""
        self._table.revision = (await self._sharing.newest()).change

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_views)
            while True:
                try:
                    await self.catch_up()
                except STANDSTILL as error:
                    self._ports.world.log("registry.behind", level="debug", error=str(error))
                await trio.sleep_until(next_turn(EVERY))

    async def catch_up(self) -> None:
        """Apply all changes stored so far. Raises StorageError."""
        async with self._reading:
            newest = await self._sharing.newest()
            await self._inheriting.follow(newest.tags)
            known = self._table.revision
            while newest.change > known and (changes := await self._sharing.changes(known, AT_ONCE)):
                for change in changes:
                    await self._take(change)
                    self._table.revision = known = change.number

    async def learn(self, source: SourceId) -> None:
        """Read a source that another node may have just added. Raises StorageError."""
        if self._table.look_up(source) is None:
            stored = await self._ports.storage.sources.get(source)
            if stored is not None:
                await self._renew(stored)

    async def check(self, source: SourceId) -> Millis:
        """Request a check from the node that watches a source, by making it due. Raises as `SourceService.check`."""
        async with self._locks.hold(self._table.get(source).source.url):
            live, storage = self._table.get(source), self._ports.storage
            if not live.source.enabled:
                raise Conflict(f"source {source} is paused: resume it first")
            now, version = self._table.check_politeness(live), new_version(self._ports.world)
            while True:
                stored = await storage.sources.get(source)
                if stored is None:
                    raise NotFound(f"there is no source {source}")
                due = SourceState(source, replace(stored.hot, next_look_at=now), None, stored.version, version)
                with suppress(StateMoved):  # another node has edited or checked it
                    await storage.sources.update(stored.source, storage.lease, version, due, before=stored.source)
                    live.requested_at = now
                    return now

    async def _follow_views(self) -> None:
        view = NOBODY.number
        while True:
            view = await self._ports.storage.ownership.wait_moved(view)
            try:
                await self.catch_up()
            except STANDSTILL as error:
                # Unknown changes are refused at the first commit, and read then.
                self._ports.world.log("registry.behind", error=str(error))
            taken, passed = await self._take_over()
            for start in range(0, len(passed), STOPPED_AT_ONCE):
                async with trio.open_nursery() as nursery:
                    for live in passed[start : start + STOPPED_AT_ONCE]:
                        nursery.start_soon(self._pass_on, live)
            if taken or passed:
                self._ports.world.log("registry.shared_anew", view=view, taken=taken, passed=len(passed))

    async def _take_over(self) -> tuple[int, Sequence[LiveSource]]:
        """Start the actors of newly owned sources; return how many, and the sources of others that still run here."""
        idle: list[LiveSource] = []
        passed: list[LiveSource] = []
        for part in self._table.slices():
            idle += [live for live in part if self._table.is_idle(live)]
            passed += [live for live in part if self._table.is_running(live) and not self._watches(live)]
            await trio.lowlevel.checkpoint()
        await self._table.start_all(idle)
        return len(idle), passed

    def _watches(self, live: LiveSource) -> bool:
        return self._ports.storage.ownership.watches(live.source)

    async def _pass_on(self, live: LiveSource) -> None:
        """Stop the actor of a source that now belongs to another node, and save its state."""
        async with self._locks.hold(live.source.url):
            live = self._table.look_up(live.source.id) or live
            if self._watches(live):
                return
            await self._table.stop(live)
            if live.needs_save:
                await self._ports.recorder.send(SaveStates((self._table.take_unsaved(live),)))
            passed = LiveSource(live.source, live.hot, live.version)
            passed.cookies = live.cookies
            self._table.put(passed)

    async def _take(self, change: SourceChange) -> None:
        known = self._table.look_up(change.source)
        if change.watched is None or change.watched.source.deleted_at is not None:
            if known is not None:
                await self._drop(known)
        elif known is None or not self._same(known, change.watched):
            await self._renew(change.watched)
        else:
            known.cookies.merge(change.watched.hot.cookies)  # of the same headers, as the record is the same

    def _same(self, known: LiveSource, stored: WatchedSource) -> bool:
        """Return whether nothing is to apply: the own actor knows more of its state than storage does."""
        if known.source != stored.source:
            return False
        if not self._table.is_running(known):
            return known.hot == stored.hot and known.version == stored.version
        now, due = self._ports.world.now(), stored.hot.next_look_at
        sooner = due is not None and due <= now < (known.hot.next_look_at or 0)
        return known.version == stored.version or not sooner  # else a check was requested

    async def _drop(self, known: LiveSource) -> None:
        async with self._locks.hold(known.source.url):
            if self._table.look_up(known.source.id) is not None:
                await self._table.stop(known)
                self._table.drop(known.source.id)

    async def _renew(self, read: WatchedSource) -> None:
        """Apply the stored source under the lock, where this node has no write of it in progress."""
        async with self._locks.hold(read.source.url):
            stored = await self._ports.storage.sources.get(read.source.id)
            if stored is None:
                return  # another change reports that
            known = self._table.look_up(stored.source.id)
            if known is not None:
                if self._same(known, stored):
                    return
                await self._table.stop(known)
            live = from_storage(known, stored)
            self._table.put(live)
            if known is not None and live.source.headers_for and live.source.headers != known.source.headers:
                await self._table.hurry_borrowers(live)


ROWS_EVERY, QUIET_EVERY = 0.5, 1.0
"""Seconds between checks for rows that another node has put into the outbox: while events come, and otherwise."""
STRAYS_EVERY = 30.0
"""Seconds between checks for rows that no actor delivers."""


class SharedDeliveries:
    """The actor beside this node's registry of destinations."""

    def __init__(self, world: World, storage: Storage, registry: DeliveryRegistry) -> None:
        self._world, self._storage, self._registry = world, storage, registry

    async def run(self, child: Child) -> None:
        child.ready()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_views)
            nursery.start_soon(self._look_for_rows)
            nursery.start_soon(self._put_back_strays)

    async def _follow_views(self) -> None:
        view = NOBODY.number
        while True:
            view = await self._storage.ownership.wait_moved(view)
            with suppress(*STANDSTILL):  # else the next reading of alerts does it
                await self._registry.refresh()

    async def _look_for_rows(self) -> None:
        """Wake actors that have new rows from another node's matcher, which does not notify this node."""
        tail = self._storage.tail
        while True:
            with trio.move_on_at(next_turn(QUIET_EVERY)):
                if not self._registry.ids():
                    await trio.sleep_forever()  # wait for no event: see `Watch`
                await tail.wait_past(tail.head)
                await trio.sleep_until(next_turn(ROWS_EVERY))
            with suppress(*STANDSTILL):  # the next turn asks again
                for id in await self._storage.outbox.due(self._world.now()):
                    self._registry.nudge(id)

    async def _put_back_strays(self) -> None:
        """Release rows claimed by a former owner; one claimed at two checks is not under way."""
        before: frozenset[Claim] = frozenset()
        while True:
            await trio.sleep(STRAYS_EVERY)
            with suppress(*STANDSTILL):  # likewise
                found: list[Claim] = []
                mine = self._registry.ids()
                for start in range(0, len(mine), AT_ONCE):
                    part = mine[start : start + AT_ONCE]
                    found += await self._storage.outbox.claims_of_others(part, self._storage.lease)
                if still := sorted(before.intersection(found)):
                    rows = await self._storage.outbox.put_back(still, self._storage.lease)
                    self._world.log("delivery.strays", level="warning", rows=rows)
                    for id in {claim.destination for claim in still}:
                        self._registry.nudge(id)
                before = frozenset(found)
