"""The lanes of requests to the registry: memory, storage, network. Each is bounded; none waits for another.

Requests that memory can answer are answered in turn, at once. Those that need storage, a worker or the network get a
task each; a full lane refuses at once instead of holding up the next request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import trio

from actors.errors import Busy
from actors.messages.sources import (
    AddSource,
    CheckNow,
    CountTags,
    DescribeSource,
    DetectUrl,
    ExamineSource,
    ExplainSource,
    ListSources,
    PickFromSource,
    PickFromUrl,
    PreviewSource,
    RegistryMessage,
)

TO_NETWORK: Final = 32
OF_A_HOST: Final = TO_NETWORK // 4
"""A single dead host leaves room for others."""
TO_STORAGE: Final = 256
"""Most of them wait for a lock or a commit: as many as the mailbox holds."""
AGAIN: Final = 10
"""Seconds after which a refused caller may retry."""


class Lane:
    """Active requests of one kind, at most `bound`. Those about one host take at most `OF_A_HOST` places; more of them
    wait for these, up to `bound`.
    """

    __slots__ = ("_bound", "_hosts", "_name", "_turns")

    def __init__(self, name: str, bound: int) -> None:
        self._name, self._bound = name, bound
        self._hosts = Counter[str]()
        self._turns = dict[str, trio.CapacityLimiter]()

    def __repr__(self) -> str:
        return f"<Lane {self._name} {self.under_way}/{self._bound}>"

    @property
    def under_way(self) -> int:
        """Occupied places."""
        return sum(min(count, OF_A_HOST) if host else count for host, count in self._hosts.items())

    def enter(self, host: str = "") -> None:
        """Admit one more request, about a host if it needs one. Raises Busy."""
        waits = bool(host) and self._hosts[host] >= OF_A_HOST
        if self.under_way >= self._bound and not waits:
            raise Busy(f"{self._bound} {self._name} are under way, which is the most at once: ask again later", AGAIN)
        if waits and self._hosts[host] >= OF_A_HOST + self._bound:
            raise Busy(f"{self._hosts[host]} {self._name} wait for {host}: ask again later", AGAIN)
        self._hosts[host] += 1

    @asynccontextmanager
    async def turn(self, host: str = "") -> AsyncIterator[None]:
        """Wait for the turn of an admitted request, and end it with the block."""
        try:
            if host:
                async with self._turns.setdefault(host, trio.CapacityLimiter(OF_A_HOST)):
                    yield
            else:
                yield
        finally:
            self._hosts[host] -= 1
            if not self._hosts[host]:
                del self._hosts[host]
                self._turns.pop(host, None)


class Lanes:
    """The lane of each request."""

    def __init__(self) -> None:
        self.network = Lane("questions that look at a URL (adding, detecting, previewing)", TO_NETWORK)
        self.storage = Lane("changes and other questions about sources", TO_STORAGE)

    def of(self, message: RegistryMessage) -> Lane | None:
        """Return the lane of a request; None if memory can answer it."""
        match message:
            case CheckNow() | CountTags() | DescribeSource() | ExamineSource() | ListSources():
                return None
            case (
                AddSource()
                | DetectUrl()
                | PreviewSource()
                | PickFromUrl()
                | PickFromSource()
                | ExplainSource(look=True)
            ):
                return self.network
            case _:
                return self.storage
