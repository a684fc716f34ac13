"""The newest events in memory, and the wake-up of waiting readers.

The follower publishes commits here, in order. A reader calls `since(cursor)`: it gets events from memory while it keeps
up, and None once it has fallen behind the ring; then it reads pages from the log. At the end it waits with
`wait_past(cursor)`. No reader has a queue; a slow one has an older cursor. Waiters share an Event in buckets of 200 and
are woken one bucket at a time, so that ten thousand streams never block the loop for long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import trio

from storage.recent import Recent
from storage.records.event import Stored
from storage.records.identity import START, Seq

BUCKET = 200


class TailStatistics(NamedTuple):
    """A tail at one moment."""

    head: Seq
    held: int
    held_bytes: int
    waiting: int


class Tail:
    """A bounded ring of the newest events, where live readers wait.

    The ring holds at most `most` events and `most_bytes` of bodies; the oldest are dropped. `head` is the newest
    position that a reader may see.
    """

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

    @property
    def head(self) -> Seq:
        return self._head

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
        """Show committed events to readers, oldest first, and wake waiting ones a bucket at a time.

        The events are visible before the first checkpoint. If cancelled, the remaining waiters are woken at once.
        """
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
        try:
            while buckets:
                buckets.pop(0).set()
                await trio.lowlevel.checkpoint()
        finally:
            for bucket in buckets:
                bucket.set()

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
        return TailStatistics(self._head, len(self._ring), self._bytes, self._waiting)

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
