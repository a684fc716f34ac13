"""The newest events in memory, the wake-up of waiting readers, and the follower, which alone publishes commits here.

Commits are published in order. A reader calls `since(cursor)`: it gets events from memory while it keeps up, and None
once it has fallen behind the ring; then it reads pages from the log. At the end it waits with `wait_past(cursor)`. No
reader has a queue; a slow one has an older cursor. Waiters share an Event in buckets of 200 and are woken one bucket at
a time, so that ten thousand streams never block the loop for long. A parked stream has no task that waits: `publish`
calls it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import trio

from storage.append import Recent
from storage.errors import Corrupt, Unavailable
from storage.records.event import Stored
from storage.records.identity import START, Seq

BUCKET = 200


class TailStatistics(NamedTuple):
    """A tail at one moment."""

    head: Seq
    held: int
    held_bytes: int
    waiting: int


class Parked(Protocol):
    """A reader at the end of the log that has no task."""

    def published(self) -> None:
        """Take new events. Never raises."""


class Tail:
    """A ring of at most `most` events and `most_bytes`, oldest dropped. `head`: the newest position readers may see."""

    def __init__(self, head: Seq = START, *, most: int = 8_192, most_bytes: int = 64 << 20) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._ring: list[Recent] = []
        self._keys: list[Seq] = []
        self._bytes = 0
        self._start = head  # the ring holds everything after this position
        self._head = head
        self._buckets: list[trio.Event] = []
        self._in_last = 0
        self._waiting = 0
        self._parked: dict[Parked, None] = {}

    @property
    def head(self) -> Seq:
        return self._head

    @property
    def awaited(self) -> bool:
        return bool(self._waiting or self._parked)

    def since(self, after: Seq) -> Sequence[Recent] | None:
        """Return the events after a position, oldest first; None if the ring no longer reaches back that far."""
        if after < self._start:
            return None
        if after >= self._head:
            return ()
        return self._ring[bisect_right(self._keys, after) :]

    def forget(self) -> None:
        """Empty the ring: readers behind the head then read the log, which may lack events already shown."""
        self._ring, self._keys, self._bytes, self._start = [], [], 0, self._head

    async def publish(self, events: Sequence[Stored]) -> None:
        """Show events, oldest first, before any checkpoint; wake waiters in buckets, on cancellation at once."""
        if not events:
            return
        assert events[0].seq > self._head, f"published out of order: {events[0].seq} after {self._head}"
        assert events[-1].seq >= events[0].seq, f"published out of order: {events[-1].seq} after {events[0].seq}"
        self._ring.extend(Recent(event) for event in events)
        self._keys.extend(event.seq for event in events)
        self._bytes += sum(len(event.body) for event in events)
        self._head = events[-1].seq
        self._trim()
        buckets, self._buckets, self._in_last = self._buckets, [], 0
        parked = list(reversed(self._parked))
        try:
            while buckets:
                buckets.pop(0).set()
                await trio.lowlevel.checkpoint()
            while parked:
                self._show(parked, BUCKET)
                await trio.lowlevel.checkpoint()
        finally:
            for bucket in buckets:
                bucket.set()
            self._show(parked, len(parked))

    def park(self, reader: Parked) -> None:
        """Call a reader after each publication until `unpark`."""
        self._parked[reader] = None

    def unpark(self, reader: Parked) -> None:
        self._parked.pop(reader, None)

    def _show(self, parked: list[Parked], most: int) -> None:
        for _ in range(min(most, len(parked))):
            if (reader := parked.pop()) in self._parked:  # it may have ended since
                reader.published()

    async def wait_past(self, after: Seq) -> Seq:
        """Wait until an event after `after` is published; return the head. Always a checkpoint."""
        if self._head > after:
            await trio.lowlevel.checkpoint()
        while self._head <= after:
            if not self._buckets or self._in_last >= BUCKET:
                self._buckets.append(trio.Event())
                self._in_last = 0
            self._in_last += 1
            self._waiting += 1
            try:
                await self._buckets[-1].wait()
            finally:
                self._waiting -= 1
        return self._head

    def statistics(self) -> TailStatistics:
        return TailStatistics(self._head, len(self._ring), self._bytes, self._waiting + len(self._parked))

    def _trim(self) -> None:
        drop = max(0, len(self._ring) - self._most)
        held = self._bytes - sum(len(recent.stored.body) for recent in self._ring[:drop])
        while held > self._most_bytes and drop < len(self._ring) - 1:
            held -= len(self._ring[drop].stored.body)
            drop += 1
        # Trimming in lumps keeps the average cost of a publish constant.
        if drop and (drop >= self._most // 8 or held < self._bytes - self._most_bytes // 8):
            self._start = self._keys[drop - 1]
            del self._ring[:drop], self._keys[:drop]
            self._bytes = held


PAGE = 500
MOST_WAITING = 64  # most commits in memory while the follower is busy; beyond them it reads the log
AGAIN = 1.0  # seconds between two attempts while the log is unreadable


class _Log(Protocol):
    async def newer(self, after: Seq, limit: int) -> Sequence[Stored]: ...


class _Commit(NamedTuple):
    after: Seq
    events: Sequence[Stored]


class Follower:
    """Fills a tail from commits; gaps and commits of unknown outcome are read from the log."""

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
        while events := await self._log.newer(self._tail.head, PAGE):
            await self._tail.publish(events)
            if len(events) < PAGE:
                return
