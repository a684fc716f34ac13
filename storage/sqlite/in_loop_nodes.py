"""One database in the loop that several nodes share, as they share PostgreSQL: for simulations and tests of actors.

Each life has a storage of its own on it. Nobody is fenced off by a later start: what a life writes is compared with
what it began with, and a life that was killed writes no more. A wake-up from another life's commit may get lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio
from msgspec.structs import replace

from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.records.identity import Seq
from storage.records.member import BREAK, LEASE, LEFT, Failover, Member, Says, View
from storage.sql.stores.changes import SqlChanges
from storage.sql.transaction import Transaction
from storage.sqlite.in_loop import Disk, InLoopStorage, LoopReaders, vault

EVERY = 1.0
"""Seconds after which a life reads the log, whatever it was woken by."""
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
    """See Transaction. Nobody is alone here: no start fences another off, and the newest position is the database's."""

    SHARED = True

    def fence(self, lease: Lease) -> None:
        """Let every life write; see Transaction."""

    def last(self, known: int) -> int:
        """Return the newest position; see Transaction."""
        newest = "SELECT max(coalesce((SELECT max(seq) FROM log), 0), (SELECT value FROM fact WHERE name='floor'))"
        (found,) = self.execute(newest).fetchone()
        return max(known, int(found))


class SharedDisk(Disk):
    """The shared database. `killed` lives write no more; `away` ones get no answer.

    outage: nobody gets one. views: since when who was inside. wakes: asked at each wake-up, whether it comes.
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
        """Refuse a life's write that can't be; see Disk."""
        self.reach(epoch)
        super().check(self.epoch)

    def reach(self, epoch: int) -> None:
        """Refuse a life that can't reach the database. Raises Fenced, Unavailable."""
        if epoch in self.killed:
            raise Fenced(f"life {epoch} was killed")
        if self.outage or epoch in self.away:
            raise Unavailable("the database does not answer")

    def transaction(self) -> Transaction:
        """Return the open transaction; see Disk."""
        transaction = _SharedTransaction(self.connection, vault())
        transaction.afterwards.append(lambda committed: self._wake(transaction.newest))
        return transaction

    def hear(self, wake: Callable[[], None]) -> None:
        """Have somebody woken at commits of events."""
        self._wakes.append(wake)

    def _wake(self, newest: Seq) -> None:
        for wake in self._wakes if newest else ():
            if self._wakes_somebody():
                wake()


class LoopMembers:
    """See `storage.interface.members.Members`: by Trio's clock, which all lives share. seek: awaited once a visit."""

    def __init__(
        self, disk: SharedDisk, lease: Lease, shown: Callable[[], Seq], seek: Callable[[], Awaitable[None]]
    ) -> None:
        self._disk, self._epoch, self._shown, self._seek = disk, lease.epoch, shown, seek
        self._me = f"{lease.owner}-{lease.epoch}"
        self._left = False

    def __repr__(self) -> str:
        return f"<LoopMembers of {self._me}>"

    @property
    def me(self) -> str:
        """The id of this start."""
        return self._me

    async def beat(self, says: Says) -> View:
        """Beat; see Members."""
        await self._seek()
        if not self._left:
            now, rows = trio.current_time(), self._disk.members
            before = rows.get(self._me, Member(self._me, since=now, until=now))
            since = now if before.until < now + LEASE - BREAK else before.since
            rows[self._me] = replace(before, since=since, until=now + LEASE, shown=self._shown(), says=says)
            self._change()
        return self._view()

    async def leave(self) -> None:
        """Leave; see Members."""
        self._left = True
        await self._seek()
        if self._me in self._disk.members:
            gone = replace(self._disk.members[self._me], until=LEFT, since=trio.current_time())
            self._disk.members[self._me] = gone
            self._change()

    @property
    def failover(self) -> Failover | None:
        """Return None: one database in the loop has no standby."""
        return None

    async def drain(self, *, on: bool) -> None:
        """Have no looks made; see Members."""
        await self._seek()
        self._disk.drained = on

    async def view(self) -> View:
        """Return the view; see Members."""
        await self._seek()
        return self._view()

    def _view(self) -> View:
        rows = self._disk.members
        members = tuple(rows[id] for id in sorted(rows))
        return View(self._disk.view_number, trio.current_time(), members, self._disk.drained)

    def _change(self) -> None:
        change, rows = self._view().due(self._me), self._disk.members
        if change is not None:
            for ids, inside in ((change.comes, True), (change.goes, False)):
                rows.update({id: replace(rows[id], inside=inside) for id in ids})
            for id in change.drops:
                del rows[id]
            self._disk.view_number += 1
            self._disk.views.append((trio.current_time(), frozenset(id for id in rows if rows[id].inside)))


class InLoopNode(InLoopStorage):
    """One node's storage on a shared disk. `lease` comes from `disk.start(owner)`, and ends no other life's."""

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
        self.sharing = SqlChanges(LoopReaders(disk, look), vault())
        disk.hear(self.log.follower.unknown)

    async def follow(self) -> None:
        """Show readers what anybody has committed; see Storage."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.log.follower.run)
            while True:
                await trio.sleep(EVERY)
                self.log.follower.unknown()
