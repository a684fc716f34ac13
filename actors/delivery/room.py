"""Room for requests: so many at once in all, to one URL, and to one machine.

Several destinations may have one URL, and several names one machine: without this, ten thousand alerts on one URL would
make forty thousand requests to it at once, and the service an instrument of attack.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio

MOST_REQUESTS = 200
"""Deliveries under way at once, over all destinations."""
MOST_TO_A_URL = 4
MOST_TO_A_MACHINE = 20
"""As many as five destinations have under way."""


class Room:
    """Places for requests. where: the address that a host was last seen at, or the host itself."""

    def __init__(self, where: Callable[[str], str]) -> None:
        self._where = where
        self._all = trio.CapacityLimiter(MOST_REQUESTS)
        self._lanes: dict[str, trio.CapacityLimiter] = {}

    def __repr__(self) -> str:
        return f"<Room {self._all.borrowed_tokens}/{MOST_REQUESTS} taken, {len(self._lanes)} lanes>"

    @asynccontextmanager
    async def place(self, url: str) -> AsyncIterator[None]:
        """Wait for a place and hold it. Who waits for a crowded receiver takes no place from the others."""
        to_url, to_machine = url, f"at {self._where(urlsplit(url).hostname or url)}"
        try:
            async with self._lane(to_url, MOST_TO_A_URL), self._lane(to_machine, MOST_TO_A_MACHINE), self._all:
                yield
        finally:
            self._close(to_url)
            self._close(to_machine)

    def _lane(self, name: str, width: int) -> trio.CapacityLimiter:
        return self._lanes.setdefault(name, trio.CapacityLimiter(width))

    def _close(self, name: str) -> None:
        """Forget a lane that nobody is in or waits for."""
        lane = self._lanes.get(name)
        if lane is not None and not lane.borrowed_tokens and not lane.statistics().tasks_waiting:
            del self._lanes[name]
