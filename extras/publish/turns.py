"""A queue that serves domains and addresses in turn, so that one with a thousand items delays the others by one.

Start-time fair queueing (Goyal, Vin and Cheng, 1996) with items of equal size: an item gets the round after its keys'
last one, and lower rounds go first. Of several keys, the busiest counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, Literal, TypeVar

import trio

from actors.app_context import AppContext
from api.ratelimit import neighbourhood
from supervision import Mailbox

T = TypeVar("T")
WISHES = 1_000
"""Subscription requests that may wait in the mailbox."""
SPARE = 1_000
"""Keys of past rounds to keep before a sweep."""


@dataclass(frozen=True, slots=True)
class Intent:
    """topic: the feed's URL, with the rest. lease: seconds. secret: None without one. client: network address."""

    mode: Literal["subscribe", "unsubscribe"]
    topic: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    lease: int
    secret: str | None
    client: str

    def __repr__(self) -> str:
        """Show the request without its URLs, which are credentials, and its secret."""
        return f"Intent({self.mode!r}, {self.publication!r}, {self.ending!r})"


def mailbox_of(context: AppContext) -> Mailbox[Intent]:
    return context.mailboxes.setdefault("hub", Mailbox("hub", WISHES))


class RoundQueue(Generic[T]):
    """The queue. It holds `most` items; when full, it drops the one in the last round."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, int, T, tuple[str, ...]]] = []
        self._rounds: dict[str, int] = {}
        self._round, self._number = 0, count()
        self._filled = trio.Semaphore(0)

    def __len__(self) -> int:
        return len(self._heap)

    def put_nowait(self, thing: T, keys: tuple[str, ...]) -> None:
        place = max(self._round, *(self._rounds.get(key, -1) + 1 for key in keys))
        heappush(self._heap, (place, next(self._number), thing, keys))
        self._rounds.update(dict.fromkeys(keys, place))
        if len(self._heap) > self._most:
            self._heap.remove(max(self._heap))
            heapify(self._heap)
        else:
            self._filled.release()

    async def get(self) -> tuple[T, tuple[str, ...]]:
        """Wait for the next item and return it with its keys. If cancelled, nothing is taken."""
        await self._filled.acquire()
        self._round, _, thing, keys = heappop(self._heap)
        if len(self._rounds) > 2 * len(self._heap) + SPARE:
            self._rounds = {key: place for key, place in self._rounds.items() if place >= self._round}
        return thing, keys


def domain_of(host: str) -> str:
    """Return the domain that a host's owner probably registered, or the network of an address.

    Without a list of public suffixes: two labels, or three below short second-level labels of countries.

    >>> [domain_of(host) for host in ("a.b.example.org", "in.example.co.uk", "93.184.216.34", "2001:db8::7")]
    ['example.org', 'example.co.uk', '93.184.216.34', '2001:db8::']
    """
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit():
        return neighbourhood(host)
    return ".".join(labels[-3 if len(labels[-1]) == 2 and len(labels[-2:][0]) <= 3 else -2 :])
