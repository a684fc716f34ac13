"""Limits on concurrent requests: in all, to one URL, and to one machine; with slots kept free of slow receivers.

Several destinations may have one URL, and several names one machine. Without limits, ten thousand alerts on one URL
would make forty thousand requests to it at once: an instrument of attack.

A receiver that stalls holds its slots for as long as a request may last, so many of them could take all slots. Two
smaller pools within the large one prevent that. Requests to a recently slow URL first take a slot in `_slow`. Requests
to a URL with another request under way take one in `_additional`, or wait for that one's end. So receivers that have
just begun to stall have one slot each and share `_additional`; after their first second, all slow ones together leave a
quarter free.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import trio

MOST_REQUESTS = 200
"""Concurrent deliveries over all destinations."""
MOST_SLOW = 150
"""Of these, to slow URLs."""
MOST_ADDITIONAL = 100
"""Of these, additional ones to the same URL."""
MOST_PER_URL = 4
MOST_PER_HOST = 20
"""As many as five destinations have under way."""
SLOW = 1.0
"""Seconds of a finished or running request that make its URL slow; a quicker one clears it."""
REMEMBERED = 20_000
"""Known slow URLs; the least recently slow one is forgotten first."""


class ConcurrencyLimiter:
    """Slots for requests. address_of: the address that a host was last seen at, or the host itself."""

    def __init__(self, address_of: Callable[[str], str]) -> None:
        self._address_of = address_of
        self._all = trio.CapacityLimiter(MOST_REQUESTS)
        self._slow = trio.CapacityLimiter(MOST_SLOW)
        self._additional = trio.CapacityLimiter(MOST_ADDITIONAL)
        self._lanes: dict[str, trio.CapacityLimiter] = {}
        self._admitted: Counter[str] = Counter()
        self._freed: dict[str, trio.Event] = {}
        self._under_way: dict[str, list[float]] = {}
        self._known_slow: OrderedDict[str, None] = OrderedDict()

    def __repr__(self) -> str:
        taken = f"{self._all.borrowed_tokens}/{MOST_REQUESTS} taken, {self._slow.borrowed_tokens} by slow ones"
        return f"<ConcurrencyLimiter {taken}, {len(self._lanes)} lanes>"

    @asynccontextmanager
    async def slot(self, url: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it. Waiting for a crowded receiver takes no slot from others."""
        to_url, to_host = url, f"at {self._address_of(urlsplit(url).hostname or url)}"
        try:
            async with self._lane(to_url, MOST_PER_URL), self._lane(to_host, MOST_PER_HOST), self._pool_slots(url):
                yield
        finally:
            self._close(to_url)
            self._close(to_host)

    @asynccontextmanager
    async def _pool_slots(self, url: str) -> AsyncIterator[None]:
        """Hold a slot among all, after one in each smaller pool that applies."""
        async with AsyncExitStack() as stack:
            oldest = trio.current_time() - min(self._under_way.get(url, ()), default=trio.current_time())
            if url in self._known_slow or oldest > SLOW:
                await stack.enter_async_context(self._slow)
            await self._wait_admission(url, stack)
            await stack.enter_async_context(self._all)
            started_at = trio.current_time()
            self._under_way.setdefault(url, []).append(started_at)
            stack.callback(self._record_duration, url, started_at)
            yield

    async def _wait_admission(self, url: str, stack: AsyncExitStack) -> None:
        """Wait to be the only request to a URL, or for a slot as an additional one."""
        while self._admitted[url]:
            try:
                self._additional.acquire_nowait()
            except trio.WouldBlock:
                await self._freed.setdefault(url, trio.Event()).wait()
            else:
                stack.callback(self._additional.release)
                break
        self._admitted[url] += 1
        stack.callback(self._release, url)

    def _release(self, url: str) -> None:
        self._admitted[url] -= 1
        if not self._admitted[url]:
            del self._admitted[url]
        if (freed := self._freed.pop(url, None)) is not None:
            freed.set()

    def _record_duration(self, url: str, started_at: float) -> None:
        self._under_way[url].remove(started_at)
        if not self._under_way[url]:
            del self._under_way[url]
        self._known_slow.pop(url, None)
        if trio.current_time() - started_at > SLOW:
            self._known_slow[url] = None
            if len(self._known_slow) > REMEMBERED:
                self._known_slow.popitem(last=False)

    def _lane(self, name: str, width: int) -> trio.CapacityLimiter:
        return self._lanes.setdefault(name, trio.CapacityLimiter(width))

    def _close(self, name: str) -> None:
        lane = self._lanes.get(name)
        if lane is not None and not lane.borrowed_tokens and not lane.statistics().tasks_waiting:
            del self._lanes[name]
