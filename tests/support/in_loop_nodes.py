"""One database in the loop that several nodes share, like PostgreSQL: for simulations and tests of actors.

Each start has its own storage on it. A later start does not fence off earlier ones: each write is compared with the
state that it began with. A killed start can write no more. A wake-up from another start's commit may get lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio
from msgspec.structs import replace

from extras.cluster.members.membership import SharedOwnership, Sharing
from extras.cluster.members.view_change import BREAK, LEASE, due
from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.ownership import Members
from storage.records.identity import Seq
from storage.records.member import LEFT, Member, Says, View
from storage.sql.writing import Transaction
from tests.support.in_loop import Disk, InLoopStorage, vault

EVERY = 1.0
"""Seconds after which a start reads the log even without a wake-up."""
_CHANGES = """
    CREATE TABLE source_change(key INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE);
    CREATE TRIGGER source_came AFTER INSERT ON source_hot BEGIN
        INSERT OR REPLACE INTO source_change SELECT NEW.key, coalesce(max(number), 0) + 1 FROM source_change; END;
    CREATE TRIGGER source_changed AFTER UPDATE ON source_hot BEGIN
        INSERT OR REPLACE INTO source_change SELECT NEW.key, coalesce(max(number), 0) + 1 FROM source_change; END;
    CREATE TRIGGER source_went AFTER DELETE ON source BEGIN
        INSERT OR REPLACE INTO source_change SELECT OLD.key, coalesce(max(number), 0) + 1 FROM source_change; END;
"""


class _SharedTransaction(Transaction):
    """A transaction among several nodes: no fencing, and the newest position is the database's."""

    SHARED = True

    def fence(self, lease: Lease) -> None:
        """Do nothing: every start may write."""

    def last(self, known: int) -> int:
        newest = "SELECT max(coalesce((SELECT max(seq) FROM log), 0), (SELECT value FROM fact WHERE name='floor'))"
        (found,) = self.execute(newest).fetchone()
        return max(known, int(found))


class SharedDisk(Disk):
    """The shared database. killed: starts that can write no more. away: starts that cannot reach the database.

    outage: no start can reach it. views: changes of the members inside, with times. wakes: called at each wake-up;
    False loses it.
    """

    def __init__(self, wakes: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self.connection.executescript(_CHANGES)
        self.killed: set[int] = set()
        self.away: set[int] = set()
        self.members: dict[str, Member] = {}
        self.view_number = 0
        self.drained = self.outage = False
        self.views: list[tuple[float, frozenset[str]]] = []
        self._wakes_somebody = wakes
        self._wakes: list[Callable[[], None]] = []

    def check(self, epoch: int) -> None:
        """Also refuse a start that cannot reach the database; see Disk."""
        self.reach(epoch)
        super().check(self.epoch)

    def reach(self, epoch: int) -> None:
        """Refuse a start that cannot reach the database. Raises Fenced, Unavailable."""
        if epoch in self.killed:
            raise Fenced(f"life {epoch} was killed")
        if self.outage or epoch in self.away:
            raise Unavailable("the database does not answer")

    def transaction(self) -> Transaction:
        """Return the open transaction, which wakes the other starts; see Disk."""
        transaction = _SharedTransaction(self.connection, vault())
        transaction.afterwards.append(lambda committed: self._wake(transaction.newest))
        return transaction

    def hear(self, wake: Callable[[], None]) -> None:
        """Register a wake-up for commits of events."""
        self._wakes.append(wake)

    def _wake(self, newest: Seq) -> None:
        for wake in self._wakes if newest else ():
            if self._wakes_somebody():
                wake()


class LoopMembers(Members):
    """See Members. Uses Trio's clock, shared by all starts. seek: awaited once per call."""

    def __init__(
        self, disk: SharedDisk, lease: Lease, shown: Callable[[], Seq], seek: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(f"{lease.owner}-{lease.epoch}")
        self._disk, self._epoch, self._shown, self._seek = disk, lease.epoch, shown, seek
        self._left = False

    def __repr__(self) -> str:
        return f"<LoopMembers of {self.me}>"

    async def beat(self, says: Says) -> View:
        await self._seek()
        if not self._left:
            now, rows = trio.current_time(), self._disk.members
            before = rows.get(self.me, Member(self.me, since=now, until=now))
            since = now if before.until < now + LEASE - BREAK else before.since
            rows[self.me] = replace(before, since=since, until=now + LEASE, shown=self._shown(), says=says)
            self._change()
        return self._view()

    async def leave(self) -> None:
        self._left = True
        await self._seek()
        if self.me in self._disk.members:
            gone = replace(self._disk.members[self.me], until=LEFT, since=trio.current_time())
            self._disk.members[self.me] = gone
            self._change()

    async def drain(self, *, on: bool) -> None:
        await self._seek()
        self._disk.drained = on

    async def view(self) -> View:
        await self._seek()
        return self._view()

    def _view(self) -> View:
        rows = self._disk.members
        members = tuple(rows[id] for id in sorted(rows))
        return View(self._disk.view_number, trio.current_time(), members, self._disk.drained)

    def _change(self) -> None:
        change, rows = due(self._view(), self.me), self._disk.members
        if change is not None:
            for ids, inside in ((change.comes, True), (change.goes, False)):
                rows.update({id: replace(rows[id], inside=inside) for id in ids})
            for id in change.drops:
                del rows[id]
            self._disk.view_number += 1
            self._disk.views.append((trio.current_time(), frozenset(id for id in rows if rows[id].inside)))


class InLoopNode(InLoopStorage):
    """One node's storage on a shared disk. `lease` comes from `disk.start(owner)` and ends no other lease."""

    def __init__(
        self,
        disk: SharedDisk,
        lease: Lease,
        sync: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
        reach: Callable[[str], None] = lambda name: None,
        seek: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
    ) -> None:
        async def look() -> None:
            await seek()
            disk.reach(lease.epoch)

        super().__init__(disk, lease, sync, reach, look)
        self.members = LoopMembers(disk, lease, lambda: self.tail.head, look)
        self.ownership = SharedOwnership(self.members.me, Sharing(self._readers, self._readers, vault()))
        disk.hear(self.log.follower.unknown)

    async def follow(self) -> None:
        """Publish the commits of all nodes; see Storage."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.log.follower.run)
            while True:
                await trio.sleep(EVERY)
                self.log.follower.unknown()
