"""A queue that serves domains and addresses in turn, so that one with a thousand things in it delays the others by one.

Start-time fair queueing (Goyal, Vin and Cheng, 1996) with every thing of one size: a thing takes the round after the
last one of its keys, and lower rounds go first. With several keys the busiest one counts.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

import trio

from api.ratelimit import neighbourhood

T = TypeVar("T")
SPARE = 1_000
"""Keys whose round has passed that may be remembered before they are swept out."""


class Turns(Generic[T]):
    """The queue. It holds `most` things; one more drops the thing of the last round."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, int, T, tuple[str, ...]]] = []
        self._rounds: dict[str, int] = {}
        self._round, self._number = 0, count()
        self._filled = trio.Semaphore(0)

    def __len__(self) -> int:
        return len(self._heap)

    def put_nowait(self, thing: T, keys: tuple[str, ...]) -> None:
        """Queue a thing under its keys, of which there is one at least."""
        place = max(self._round, *(self._rounds.get(key, -1) + 1 for key in keys))
        heappush(self._heap, (place, next(self._number), thing, keys))
        self._rounds.update(dict.fromkeys(keys, place))
        if len(self._heap) > self._most:
            self._heap.remove(max(self._heap))
            heapify(self._heap)
        else:
            self._filled.release()

    async def get(self) -> tuple[T, tuple[str, ...]]:
        """Wait for the next thing and return it with its keys. Cancelled, it takes nothing."""
        await self._filled.acquire()
        self._round, _, thing, keys = heappop(self._heap)
        if len(self._rounds) > 2 * len(self._heap) + SPARE:
            self._rounds = {key: place for key, place in self._rounds.items() if place >= self._round}
        return thing, keys


def domain_of(host: str) -> str:
    """Return the domain that a host's owner has most likely registered, or a network for an address.

    Without a list of public suffixes: two labels, and three below a country's short ones.

    >>> [domain_of(host) for host in ("a.b.example.org", "in.example.co.uk", "93.184.216.34", "2001:db8::7")]
    ['example.org', 'example.co.uk', '93.184.216.34', '2001:db8::']
    """
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit():
        return neighbourhood(host)
    return ".".join(labels[-3 if len(labels[-1]) == 2 and len(labels[-2:][0]) <= 3 else -2 :])
