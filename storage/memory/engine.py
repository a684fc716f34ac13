"""The in-memory engine, on one screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import trio

from storage.interface import Lease
from storage.memory.alerts import MemoryAlerts
from storage.memory.bins import MemoryBins
from storage.memory.calls import MemoryCalls
from storage.memory.disk import Disk
from storage.memory.keys import MemoryKeys
from storage.memory.log import MemoryLog
from storage.memory.people import MemoryPeople
from storage.memory.sources import MemorySources
from storage.memory.work import MemoryWork
from storage.memory.writer import Writer
from storage.tail import Tail


class MemoryStorage:
    """One life's engine over a disk; see `storage.interface.Storage`.

    `lease` comes from `disk.start(owner)`. `sync` is awaited once a commit, where the fsync would be. `reach` hears the
    points around it: `log/before sync`, `log/after sync`, and the same for states, retention, cursor, claim, settle,
    release and work (everything else).
    """

    def __init__(
        self,
        disk: Disk,
        lease: Lease,
        sync: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
        reach: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._disk = disk
        self._writer = Writer(disk, lease, sync, reach)
        self.lease = lease
        self.tail = Tail(disk.head())
        self.log = MemoryLog(disk, self._writer)
        self.sources = MemorySources(disk, self._writer)
        self.keys = MemoryKeys(disk, self._writer, lease)
        self.alerts = MemoryAlerts(disk, self._writer, lease)
        self.bins = MemoryBins(disk, self._writer, lease)
        self.calls = MemoryCalls(disk, self._writer, lease)
        self.people = MemoryPeople(disk, self._writer, lease)
        self.work = MemoryWork(disk, self._writer)

    def __repr__(self) -> str:
        return f"MemoryStorage({self.lease}, {self._disk})"

    def writer_moved_at(self) -> float:
        """Return when the writer last finished something or was idle, on trio's clock."""
        return self._writer.moved_at()

    def stands(self) -> bool:
        """Return that it does: nobody can take a dictionary away."""
        return True

    def sizes(self) -> Mapping[str, int]:
        """Return nothing: there are no files."""
        return {}

    async def aclose(self) -> None:
        """Finish the commits under way and refuse new ones. Safe to call twice."""
        await self._writer.aclose()
