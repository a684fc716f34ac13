"""One database in the loop that several nodes share, as they share PostgreSQL: for simulations and tests of actors.

Each life has a storage of its own on it. Nobody is fenced off by a later start: what a life writes is compared with
what it began with, and a life that was killed writes no more. A wake-up from another life's commit may get lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import trio

from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.interface.members import LEASE, View
from storage.interface.sharing import SourceChange
from storage.records.identity import Seq
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

    def fence(self, lease: Lease) -> None:
        """Let every life write; see Transaction."""

    def last(self, known: int) -> int:
        """Return the newest position; see Transaction."""
        newest = "SELECT max(coalesce((SELECT max(seq) FROM log), 0), (SELECT value FROM fact WHERE name='floor'))"
        (found,) = self.execute(newest).fetchone()
        return max(known, int(found))


class SharedDisk(Disk):
    """The shared database. `killed` lives write no more; `away` ones get no answer.

    wakes: asked at each wake-up, whether it comes.
    """

    def __init__(self, wakes: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self.connection.executescript(_CHANGES)
        self.killed: set[int] = set()
        self.away: set[int] = set()
        self.members: dict[str, _Member] = {}
        self.view = View(0, ())
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
        if epoch in self.away:
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


@dataclass(slots=True)
class _Member:
    since: float
    until: float
    says: Mapping[str, Any]


class LoopMembers:
    """See `storage.interface.members.Members`: by Trio's clock, which all lives share."""

    def __init__(self, disk: SharedDisk, lease: Lease) -> None:
        self._disk, self._epoch = disk, lease.epoch
        self.me = f"{lease.owner}-{lease.epoch}"

    def __repr__(self) -> str:
        return f"<LoopMembers of {self.me}, {self._disk.view}>"

    async def beat(self, says: Mapping[str, Any]) -> View:
        """Beat; see Members."""
        await trio.lowlevel.checkpoint()
        self._disk.reach(self._epoch)
        now, rows = trio.current_time(), self._disk.members
        mine = rows.get(self.me)
        if mine is None or mine.until < now:
            mine = rows[self.me] = _Member(now, now, says)  # after an outage all are late: nobody judges at once
        mine.until, mine.says = now + LEASE, says
        inside = set(self._disk.view.inside) | {self.me}
        if now - mine.since >= LEASE:
            inside -= {each for each in inside if rows[each].until < now}
        self._change(inside)
        return self._disk.view

    async def leave(self) -> None:
        """Leave; see Members."""
        await trio.lowlevel.checkpoint()
        self._disk.reach(self._epoch)
        self._disk.members.pop(self.me, None)
        self._change(set(self._disk.view.inside) - {self.me})

    async def view(self) -> View:
        """Return the view; see Members."""
        await trio.lowlevel.checkpoint()
        self._disk.reach(self._epoch)
        return self._disk.view

    def _change(self, inside: set[str]) -> None:
        if inside != set(self._disk.view.inside):
            self._disk.view = View(self._disk.view.number + 1, tuple(sorted(inside)))


class LoopSharing:
    """See `storage.interface.sharing.Sharing`."""

    def __init__(self, disk: SharedDisk, lease: Lease, seek: Callable[[], Awaitable[None]]) -> None:
        self._changes = SqlChanges(LoopReaders(disk, seek), vault())
        self.members = LoopMembers(disk, lease)

    async def newest_change(self) -> int:
        """Return the newest change's number; see Sharing."""
        return await self._changes.newest()

    async def changes(self, after: int, limit: int) -> Sequence[SourceChange]:
        """Return what has changed; see Sharing."""
        return await self._changes.after(after, limit)


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
        self.sharing = LoopSharing(disk, lease, look)
        disk.hear(self.log.follower.unknown)

    async def follow(self) -> None:
        """Show readers what anybody has committed; see Storage."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.log.follower.run)
            while True:
                await trio.sleep(EVERY)
                self.log.follower.unknown()
