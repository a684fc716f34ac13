"""The order of work on many things: in sequence for one name, in parallel for different names, hosts in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import zip_longest
from typing import TypeVar

import trio


class KeyedLocks:
    """A lock for each name in use. Unused names take no memory."""

    def __init__(self) -> None:
        self._locks: dict[str, trio.Lock] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
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


T = TypeVar("T")


def in_turns(items: Iterable[T], host_of: Callable[[T], str]) -> Iterator[T]:
    """Yield the first item of each host, then the second of each: a single host is slow, many are quick.

    >>> "".join(in_turns("aaabbc", str))
    'abcaba'
    """
    by_host: dict[str, list[T]] = {}
    for item in items:
        by_host.setdefault(host_of(item), []).append(item)
    for row in zip_longest(*by_host.values()):
        yield from (item for item in row if item is not None)
