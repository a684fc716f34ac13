"""The actor that beats for this node: it keeps it a member, and parks it when it can't.

With each beat it learns whether all nodes are drained, and the others' usage of rate limits. A node that could not
beat for a second less than a lease makes no checks: others may consider it gone and take over its sources. Once it
beats again it continues, or finds that it was removed, and rejoins.

Follows other nodes' changes of sources, of ownership and of the outbox. Each node keeps all sources in memory, so that
it can answer for all, and runs only its own actors. Every second it reads the others' changes in commit order. Each
change of ownership starts actors here and stops others.

A node's share of the work: rendezvous hashing over the current members. And rate limits over all nodes. The owner of a
key is the member with the highest hash of member and key: pure, equal at all nodes, and when one of n members leaves
only its own 1/n moves. Each beat has the counts of recent clients at this node, from when they were first recorded.
The others charge the difference to their own buckets. So a client may exceed its rate by its requests to other nodes
within a beat.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

import trio
from msgspec.structs import replace

from actors.delivery.registry import DeliveryRegistry
from actors.errors import Conflict, NotFound
from actors.messages.workers import SaveStates
from actors.sources.index import SourceIndex, from_storage
from actors.sources.ordering import KeyedLocks
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.registry.service import TagDefaultsService
from actors.sources.schedule.pause import PauseSwitch
from actors.world import World
from extras.cluster.members.view_change import LEASE
from storage.errors import STANDSTILL, StateMoved
from storage.ownership import NOBODY, C, Members, Ownership
from storage.records.identity import Millis, SourceId, millis_of, rfc3339
from storage.records.member import Failover, Says, View
from storage.records.source import Source, SourceState, WatchedSource
from storage.secrets import Vault
from storage.sql.storage import Storage
from storage.sql.stores.outbox import Claim
from storage.sql.stores.sources import watched_of
from storage.sql.writing import Lookups, Readers, every_row, next_turn
from supervision import Child

TOLD = 256  # most counts in a beat, of the most recent clients
KEPT = 60.0  # seconds until an inactive client is dropped


class Usage:
    """The usage of all nodes. Clients are sent as hashes."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._heard: dict[str, Mapping[str, int]] = {}
        self._owed: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<Usage told={len(self._taken)} owed={len(self._owed)}>"

    def admitted_elsewhere(self, who: str) -> int:
        return self._owed.pop(_name(who), 0) if self._owed else 0

    def count_admitted(self, who: str, now: float) -> None:
        name = _name(who)
        self._taken[name] = (self._taken.get(name, (0, 0.0))[0] + 1, now)
        self._taken.move_to_end(name)
        if len(self._taken) > TOLD:
            self._taken.popitem(last=False)

    def told(self, now: float) -> Mapping[str, int]:
        while self._taken and next(iter(self._taken.values()))[1] < now - KEPT:
            self._taken.popitem(last=False)
        return {name: count for name, (count, _) in self._taken.items()}

    def hear(self, view: View, me: str) -> None:
        """Take the other nodes' counts. Counts from before this node knew a member are not charged."""
        before, self._heard = self._heard, {}
        for member in view.members:
            if member.id == me or not member.inside:
                continue
            taken = self._heard[member.id] = member.says.taken
            known = before.get(member.id)
            if known is None:
                continue
            for name, count in taken.items():
                was = known.get(name, 0)
                more = count - was if count >= was else count  # a dropped count restarts
                if more:
                    self._owed[name] = self._owed.get(name, 0) + more
        while len(self._owed) > len(view.members) * TOLD:
            del self._owed[next(iter(self._owed))]


def _name(who: str) -> str:
    return blake2b(who.encode(), digest_size=8).hexdigest()


SHARDS = 1024


@lru_cache(1 << 17)
def shard_of(url: str) -> int:
    """Return the shard of a watched URL, by host: a single node then fetches from each host.

    >>> shard_of("https://www.news.example/feed") == shard_of("http://news.example:8080/other")
    True
    """
    return crc32((urlsplit(url).hostname or "").removeprefix("www.").encode()) % SHARDS


def owner(working: Sequence[str], key: str) -> str:
    """Return the member that owns a key, "" without members."""
    return max(working, key=partial(_weight, key), default="")


def _weight(key: str, member: str) -> bytes:
    return blake2b(f"{member}\0{key}".encode(), digest_size=8).digest()


class SharedOwnership(Ownership):
    """One node's share. usage: of rate limits. sharing: others' changes. cut_off: set by the actor, see `isolation`."""

    shared = True

    def __init__(self, me: str, sharing: Sharing | None = None) -> None:
        self.me, self.usage, self.sharing = me, Usage(), sharing
        self.cut_off: Callable[[], str] = str
        self._working = self.view.working()
        self._shards = bytes(SHARDS)
        self._moved = trio.Event()

    def __repr__(self) -> str:
        return f"<SharedOwnership of {self.me}, {self.view}>"

    def take(self, view: View) -> None:
        """Use another view from now on. An older one changes nothing."""
        if view.number < self.view.number:
            return
        moved, self.view = view.number > self.view.number, view  # members' status is newer at any number
        if moved:
            self._working = view.working()
            self._shards = bytes(owner(self._working, f"shard/{shard}") == self.me for shard in range(SHARDS))
            self._moved.set()
            self._moved = trio.Event()

    def follower(self, *of: Any) -> OtherNodes | None:
        return None if self.sharing is None else OtherNodes(self.sharing, *of)

    def owns(self, key: str) -> bool:
        return owner(self._working, key) == self.me

    def watches(self, source: Source) -> bool:
        """Go by the source's host, so that only one node fetches from it; see Ownership."""
        if source.practice is not None:
            return self.owns(f"source/{source.id}")
        return self._shards[shard_of(source.watch_url)] == 1

    async def wait_moved(self, known: int) -> int:
        while self.view.number == known:
            await self._moved.wait()
        return self.view.number

    def while_owned(self, key: str, run: Callable[[C], Awaitable[None]]) -> Callable[[C], Awaitable[None]]:
        async def run_if_mine(given: C) -> None:
            while True:
                while not self.owns(key):
                    await self._moved.wait()
                await self.during(key, partial(run, given))

        return run_if_mine

    async def during(self, key: str, run: Callable[[], Awaitable[None]], *, owned: bool = True) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when, key, not owned, nursery.cancel_scope)
            if self.owns(key) is owned:
                await run()
            nursery.cancel_scope.cancel()

    async def _cancel_when(self, key: str, owned: bool, scope: trio.CancelScope) -> None:
        while self.owns(key) is not owned:
            await self._moved.wait()
        scope.cancel()

    def isolation(self) -> str:
        return self.cut_off()

    def admitted_elsewhere(self, who: str) -> int:
        return self.usage.admitted_elsewhere(who)

    def count_admitted(self, who: str, now: float) -> None:
        self.usage.count_admitted(who, now)


EVERY = 1.0  # seconds between beats, a fifth more or less
PARKED_AFTER = LEASE - 1
LEAVE_WITHIN = 3.0  # seconds that leaving may take; after that the others wait for the lease to end


class Membership:
    """The member's actor. `says` is sent to the others with each beat; `gate` permits checks."""

    def __init__(
        self, world: World, members: Members, ownership: SharedOwnership, *, says: Callable[[], Says], gate: PauseSwitch
    ) -> None:
        self._world, self._members, self._ownership = world, members, ownership
        self._says, self._gate = says, gate
        ownership.cut_off = self.isolation
        self._drained = False
        self._failover: Failover | None = None
        self._chance: random.Random = world.chance("members/beats")
        self._beaten_at: float | None = None
        self._parked = self._failing = False

    def __repr__(self) -> str:
        return f"<Membership of {self._members.me}{', parked' if self._parked else ''}>"

    def isolation(self) -> str:
        """Return how long the database has not answered, as a sentence; empty while healthy."""
        if self._beaten_at is None:
            return "it has not joined the other nodes yet"
        if not (self._failing or self._parked):
            return ""
        silent = trio.current_time() - self._beaten_at
        return f"the database has not answered for {silent:.0f} s" + (": no checks run" if self._parked else "")

    async def run(self, child: Child) -> None:
        """Beat until stopped, then leave: the others take over at once."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_silence)
            await self._beat()
            child.ready()
            while not child.stopping.is_set():
                with trio.move_on_after(EVERY * self._chance.uniform(0.8, 1.2)):
                    await child.stopping.wait()
                    break
                await self._beat()
            nursery.cancel_scope.cancel()
        # No task beats any more: a late beat would readmit this node for a whole lease.
        with trio.move_on_after(LEAVE_WITHIN, shield=True):
            try:
                await self._members.leave()
            except STANDSTILL as error:
                self._world.log("members.leave_failed", level="warning", error=str(error))

    async def _beat(self) -> None:
        asked = trio.current_time()  # the lease begins before the answer arrives
        try:
            view = await self._members.beat(self._told())
        except STANDSTILL as error:
            self._world.log("members.beat_failed", level="debug" if self._failing else "warning", error=str(error))
            self._failing = True
            return
        self._failing = False
        before = self._ownership.view.number
        self._beaten_at = asked
        self._stand(parked=False)
        if view.drained is not self._drained:
            self._drained = view.drained
            (self._gate.close if view.drained else self._gate.open)()
        self._ownership.usage.hear(view, self._members.me)
        self._ownership.take(view)
        self._see_failover()
        if self._ownership.view.number != before:
            self._world.log("members.view", number=view.number, inside=", ".join(view.inside()))
            if not view.working():
                says = "every node that is inside has the role web"
                self._world.log("members.nobody_watches", level="warning", says=says)

    def _told(self) -> Says:
        says = replace(self._says(), taken=dict(self._ownership.usage.told(trio.current_time())))
        gone = self._failover
        return says if gone is None or not gone.lost else replace(says, ends=gone.ends, shown=gone.shown)

    def _see_failover(self) -> None:
        found = self._members.failover
        if found is None or found == self._failover:
            return
        self._failover = found
        if found.lost:
            begins, ends = rfc3339(millis_of(found.ends)), rfc3339(millis_of(found.shown))
            self._world.log("members.events_missing", level="error", after=begins, until=ends)
        else:
            self._world.log("members.failed_over", level="warning")

    async def _watch_silence(self) -> None:
        while True:
            if self._beaten_at is None:
                await trio.sleep(PARKED_AFTER)
            elif trio.current_time() >= (parks := self._beaten_at + PARKED_AFTER):
                self._stand(parked=True)
                await trio.sleep(EVERY)
            else:
                await trio.sleep_until(parks)

    def _stand(self, *, parked: bool) -> None:
        if parked is not self._parked:
            self._parked = parked
            self._gate.park(parked)
            self._world.log("members.parked" if parked else "members.goes_on", level="warning")


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
STRAYS_EVERY = 30.0  # seconds between checks for rows that no actor delivers


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
