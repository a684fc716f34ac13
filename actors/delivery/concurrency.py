"""Limits on concurrent requests: in all, to one URL, and to one machine; with slots kept free of slow receivers.

Several destinations may have one URL, and several names one machine. Without limits, ten thousand alerts on one URL
would make forty thousand requests to it at once: an instrument of attack.

A receiver that stalls holds its slots for as long as a request may last, so many of them could take all slots. Two
smaller pools within the large one prevent that. Requests to a recently slow URL first take a slot in `_slow`. Requests
to a URL with another request under way take one in `_beside`, or wait for that one's end. So receivers that have just
begun to stall have one slot each and share `_beside`; after their first second, all slow ones together leave a quarter
free.
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
MOST_BESIDE = 100
"""Of these, additional ones to the same URL."""
MOST_TO_A_URL = 4
MOST_TO_A_MACHINE = 20
"""As many as five destinations have under way."""
SLOW = 1.0
"""Seconds of a finished or running request that make its URL slow; a quicker one clears it."""
REMEMBERED = 20_000
"""Known slow URLs; the least recently slow one is forgotten first."""


class ConcurrencyLimiter:
    """Slots for requests. where: the address that a host was last seen at, or the host itself."""

    def __init__(self, where: Callable[[str], str]) -> None:
        self._where = where
        self._all = trio.CapacityLimiter(MOST_REQUESTS)
        self._slow = trio.CapacityLimiter(MOST_SLOW)
        self._beside = trio.CapacityLimiter(MOST_BESIDE)
        self._lanes: dict[str, trio.CapacityLimiter] = {}
        self._inside: Counter[str] = Counter()
        self._ends: dict[str, trio.Event] = {}
        self._under_way: dict[str, list[float]] = {}
        self._known_slow: OrderedDict[str, None] = OrderedDict()

    def __repr__(self) -> str:
        taken = f"{self._all.borrowed_tokens}/{MOST_REQUESTS} taken, {self._slow.borrowed_tokens} by slow ones"
        return f"<ConcurrencyLimiter {taken}, {len(self._lanes)} lanes>"

    @asynccontextmanager
    async def place(self, url: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it. Waiting for a crowded receiver takes no slot from others."""
        to_url, to_machine = url, f"at {self._where(urlsplit(url).hostname or url)}"
        try:
            async with self._lane(to_url, MOST_TO_A_URL), self._lane(to_machine, MOST_TO_A_MACHINE), self._share(url):
                yield
        finally:
            self._close(to_url)
            self._close(to_machine)

    @asynccontextmanager
    async def _share(self, url: str) -> AsyncIterator[None]:
        """Hold a slot among all, after one in each smaller pool that applies."""
        async with AsyncExitStack() as held:
            longest = trio.current_time() - min(self._under_way.get(url, ()), default=trio.current_time())
            if url in self._known_slow or longest > SLOW:
                await held.enter_async_context(self._slow)
            await self._turn(url, held)
            await held.enter_async_context(self._all)
            began = trio.current_time()
            self._under_way.setdefault(url, []).append(began)
            held.callback(self._learn, url, began)
            yield

    async def _turn(self, url: str, held: AsyncExitStack) -> None:
        """Wait to be the only request to a URL, or for a slot as an additional one."""
        while self._inside[url]:
            try:
                self._beside.acquire_nowait()
            except trio.WouldBlock:
                await self._ends.setdefault(url, trio.Event()).wait()
            else:
                held.callback(self._beside.release)
                break
        self._inside[url] += 1
        held.callback(self._leave, url)

    def _leave(self, url: str) -> None:
        self._inside[url] -= 1
        if not self._inside[url]:
            del self._inside[url]
        if (waiting := self._ends.pop(url, None)) is not None:
            waiting.set()

    def _learn(self, url: str, began: float) -> None:
        self._under_way[url].remove(began)
        if not self._under_way[url]:
            del self._under_way[url]
        self._known_slow.pop(url, None)
        if trio.current_time() - began > SLOW:
            self._known_slow[url] = None
            if len(self._known_slow) > REMEMBERED:
                self._known_slow.popitem(last=False)

    def _lane(self, name: str, width: int) -> trio.CapacityLimiter:
        return self._lanes.setdefault(name, trio.CapacityLimiter(width))

    def _close(self, name: str) -> None:
        lane = self._lanes.get(name)
        if lane is not None and not lane.borrowed_tokens and not lane.statistics().tasks_waiting:
            del self._lanes[name]
