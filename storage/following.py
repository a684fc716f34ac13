"""Publishing of commits to readers, in order; nothing else publishes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import trio

from storage.errors import Corrupt, Unavailable
from storage.records.event import EVERYTHING, Filter, Page, Stored
from storage.records.identity import Seq
from storage.tail import Tail

PAGE = 500
MOST_WAITING = 64
"""Most commits in memory while the follower is busy; beyond them it reads the log."""
AGAIN = 1.0
"""Seconds between two attempts while the log is unreadable."""


class _Log(Protocol):
    async def read(self, after: Seq, limit: int, where: Filter) -> Page: ...


class _Commit(NamedTuple):
    after: Seq
    events: Sequence[Stored]


class Follower:
    """Fills a tail from a log. An engine passes in each commit; gaps between commits are read from the log.

    So commits that no caller awaited, and commits with an unknown outcome, are published like any other.
    """

    def __init__(self, tail: Tail, log: _Log) -> None:
        self._tail, self._log = tail, log
        self._commits: deque[_Commit] = deque()
        self._gap = False
        self._woken = trio.Event()

    def __repr__(self) -> str:
        return f"Follower(head={self._tail.head}, waiting={len(self._commits)}, gap={self._gap})"

    def committed(self, after: Seq, events: Sequence[Stored]) -> None:
        """Take a commit's events, oldest first. `after`: the newest position assigned before it. On the loop only."""
        if len(self._commits) < MOST_WAITING:
            self._commits.append(_Commit(after, events))
            self._woken.set()
        else:
            self.unknown()

    def unknown(self) -> None:
        """Read the log, as there may be unseen commits. On the loop only."""
        self._commits.clear()
        self._gap = True
        self._woken.set()

    async def run(self) -> None:
        """Follow until cancelled. While the log is unreadable, publish nothing and retry."""
        self.unknown()
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            try:
                await self._show()
            except (Unavailable, Corrupt):
                self._gap = True
                self._woken.set()
                await trio.sleep(AGAIN)

    async def _show(self) -> None:
        while self._gap or self._commits:
            commit = self._commits.popleft() if self._commits else None
            if self._gap or commit is None or commit.after > self._tail.head:
                self._gap = False  # before the log is read: a later unknown commit is another gap
                await self._read_on()
            else:
                await self._tail.publish([event for event in commit.events if event.seq > self._tail.head])

    async def _read_on(self) -> None:
        while events := (await self._log.read(self._tail.head, PAGE, EVERYTHING)).events:
            await self._tail.publish(events)
