"""The lanes of questions to the registry: memory, storage, the network. Each has a bound, and none waits for
another.

What memory answers is answered in turn, at once. What needs storage or a worker has a task of its own, and so has what
needs the network; a lane that is full refuses at once instead of keeping the next question waiting.
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
"""One host that never answers leaves room for others."""
TO_STORAGE: Final = 256
"""Most of them wait for a lock or for a commit: as many as the mailbox holds."""
AGAIN: Final = 10
"""Seconds after which somebody who was refused may ask again."""


class Lane:
    """Questions of one kind under way, at most `bound`. Those about one host take `OF_A_HOST` places; more of them wait
    for these, as many as the lane has places.
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
        """Places that are taken."""
        return sum(min(count, OF_A_HOST) if host else count for host, count in self._hosts.items())

    def enter(self, host: str = "") -> None:
        """Begin with one more question, about a host if it needs one. Raises Busy."""
        waits = bool(host) and self._hosts[host] >= OF_A_HOST
        if self.under_way >= self._bound and not waits:
            raise Busy(f"{self._bound} {self._name} are under way, which is the most at once: ask again later", AGAIN)
        if waits and self._hosts[host] >= OF_A_HOST + self._bound:
            raise Busy(f"{self._hosts[host]} {self._name} wait for {host}: ask again later", AGAIN)
        self._hosts[host] += 1

    @asynccontextmanager
    async def turn(self, host: str = "") -> AsyncIterator[None]:
        """Wait for the turn of a question that has entered, and end it with the block."""
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
    """The lane of each question."""

    def __init__(self) -> None:
        self.network = Lane("questions that look at a URL (adding, detecting, previewing)", TO_NETWORK)
        self.storage = Lane("changes and other questions about sources", TO_STORAGE)

    def of(self, message: RegistryMessage) -> Lane | None:
        """Return the lane of a question; None for what memory answers."""
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
