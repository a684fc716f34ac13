"""How a commit becomes durable in memory: one at a time, in two phases, like the writer thread's transactions.

A job decides on the durable state and returns its result with an `Apply`. That waits in `disk.pending` while the sync
is awaited, is applied as a whole, and only then is there for readers. A crash in between drops it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from storage.errors import Unavailable
from storage.interface import Lease
from storage.memory.disk import Apply, Disk

T = TypeVar("T")

Job = Callable[[], tuple[T, Apply]]
"""Looks at the durable state, changes nothing, and says what to change. Raises what it refuses with."""


class Writer:
    """The only way to write. `sync` stands for the fsync; `reach` names the points around it."""

    def __init__(
        self, disk: Disk, lease: Lease, sync: Callable[[], Awaitable[None]], reach: Callable[[str], None]
    ) -> None:
        self._disk, self._lease, self._sync, self._reach = disk, lease, sync, reach
        self._turn = trio.Lock()
        self._closed = False
        self._moved_at: float | None = None

    async def commit(self, lease: Lease, job: Job[T], *, name: str = "work") -> T:
        """Run a job when its turn comes (first come, first served) and return its result once that is durable.

        Raises what the job raises, Fenced, DiskFull, Unavailable. Cancelled before its turn, it does not happen; during
        the sync, it happens all the same, as with a thread that can't be called back.
        """
        if self._closed:
            raise Unavailable("the storage is closed")
        if not self._turn.locked():
            self._moved_at = trio.current_time()
        async with self._turn:
            self._check(lease)
            result, apply = job()
            self._disk.pending.append(apply)
            try:
                self._reach(f"{name}/before sync")
                await self._sync()
                self._check(lease)
            except trio.Cancelled:
                self._finish(apply)
                raise
            except BaseException:
                self._drop(apply)
                raise
            self._finish(apply)
            self._reach(f"{name}/after sync")
            self._moved_at = trio.current_time()
            if self._disk.silent == "after":
                raise Unavailable("the disk does not answer")
            return result

    def _check(self, lease: Lease) -> None:
        self._disk.check(self._lease)
        self._disk.check(lease)

    def _finish(self, apply: Apply) -> None:
        """Make a pending commit durable, unless a crash has dropped it."""
        if self._drop(apply):
            apply()

    def _drop(self, apply: Apply) -> bool:
        pending = self._disk.pending
        if apply not in pending:
            return False
        pending.remove(apply)
        return True

    def moved_at(self) -> float:
        """Return when a commit last ended; now, when none waits."""
        if self._moved_at is None or not self._turn.locked():
            return trio.current_time()
        return self._moved_at

    async def aclose(self) -> None:
        """Let the commits that wait finish; refuse new ones."""
        self._closed = True
        with trio.move_on_after(30, shield=True):
            async with self._turn:
                pass
