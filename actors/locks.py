"""Locks by name: work on one thing runs in sequence, work on different things in parallel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import trio


class KeyedLocks:
    """A lock for each name in use. Unused names take no memory."""

    def __init__(self) -> None:
        self._locks: dict[str, trio.Lock] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
        """Hold the lock of a name, first come first served."""
        lock = self._locks.setdefault(name, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked() and lock.statistics().tasks_waiting == 0:
                self._locks.pop(name, None)

    @asynccontextmanager
    async def hold_all(self, names: Iterable[str]) -> AsyncIterator[None]:
        """Hold several locks, always taken in sorted order, so two callers can't deadlock."""
        async with AsyncExitStack() as held:
            for name in sorted(set(names)):
                await held.enter_async_context(self.hold(name))
            yield

    def __len__(self) -> int:
        return len(self._locks)
