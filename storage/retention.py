"""The next step of retention: which events go, and how much of their room goes back to the disk. Pure.

Both go in slices that are small enough to pass between two commits.

Age is read off an event's position, which holds the millisecond it was committed in; so a log that lived through a
wrong clock is judged by the clock it had. The pruner asks again after each slice, and stops when nothing is left to do.

A clock that is ahead (a dead battery, a machine resumed elsewhere, a typo) would take the whole log with it. So nothing
goes by a clock that the newest event and the time that has passed contradict, until it has gone on like that for an
hour; and what goes by age in one round is a part of the log only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from storage.records.cursor import Bounds
from storage.records.identity import Millis, Seq, seq_at

LEAST = 1_000
"""Events that stay when it is about bytes: the rest of the storage may weigh more than all of them."""
SLICE = 200
"""Events of one slice: 8 to 30 microseconds each on the writer, so a harvest waits a few milliseconds at most."""

LITTLE = 32 << 20
"""Free bytes that are never worth the work."""
STEP = 256 << 10
"""Bytes that go back at once: 64 pages, 2 ms of the writer's own time and some of the disk's."""


PATIENCE = 3_600.0
"""Seconds for which a clock that jumped ahead must go on steadily before it is believed: time to put it right."""
JUMP = Millis(3_600_000)
"""Milliseconds that the clock may be ahead of the time that has passed."""
IDLE = Millis(86_400_000)
"""Milliseconds that it may be ahead of the newest event when we start: so long nothing may have run, or happened."""
SHARE = 0.05
"""The part of the log that may go by age in one round, if no more ages between two rounds."""


class Trust:
    """Whether the wall clock is believed. newest: of the newest event, None for none. tick: seconds, monotonic."""

    def __init__(self, newest: Millis | None, tick: float) -> None:
        self._known, self._slack = None if newest is None else (newest, tick), IDLE
        self._doubted: tuple[Millis, float] | None = None

    def __repr__(self) -> str:
        return f"<Trust known={self._known} doubted={self._doubted}>"

    def ahead(self, now: Millis, tick: float) -> Millis:
        """Return by how many milliseconds the clock is ahead of what it should show; 0 when it is believed."""
        ahead = 0 if self._known is None else now - _shown(self._known, tick)
        if ahead > self._slack and not self._steady(now, tick):
            return Millis(ahead)
        self._known, self._slack, self._doubted = (now, tick), JUMP, None
        return Millis(0)

    def _steady(self, now: Millis, tick: float) -> bool:
        if self._doubted is None or abs(now - _shown(self._doubted, tick)) > JUMP:
            self._doubted = (now, tick)
        return tick - self._doubted[1] >= PATIENCE


def _shown(known: tuple[Millis, float], tick: float) -> int:
    return known[0] + round(1000 * (tick - known[1]))


def most_aged(keep: Keep, count: int, between: float) -> int:
    """Return how many events may go by age in one round, `between` seconds after the last.

    >>> most_aged(Keep(age=Millis(90 * 86_400_000)), 1_000_000, 600)
    50000
    """
    turned = 0.0 if keep.age is None else 2 * between * 1000 / keep.age
    return max(LEAST, round(count * max(SHARE, turned)))


@dataclass(frozen=True, slots=True)
class Keep:
    """How much is kept: no event older than `age` milliseconds, no more than `events` of them; None sets no bound.

    `weight`: no more bytes of storage, though LEAST events stay whatever else it holds.
    """

    age: Millis | None = None
    events: int | None = None
    weight: int | None = None

    def __post_init__(self) -> None:
        """Refuse nonsense. Raises ValueError."""
        if any(bound is not None and bound < 1 for bound in (self.age, self.events, self.weight)):
            raise ValueError(f"nothing would be kept by {self}")


class FreeSpace(NamedTuple):
    """The bytes that the storage takes, and those of them that are free for new events."""

    whole: int
    free: int

    @property
    def used(self) -> int:
        """The bytes that hold something."""
        return self.whole - self.free


class Slice(NamedTuple):
    """The arguments of `EventLog.retain`: at most `limit` of the oldest before `before`. `aged`: by the clock."""

    before: Seq
    limit: int
    aged: bool = False


def next_slice(keep: Keep, bounds: Bounds, count: int, now: Millis, weight: int = 0) -> Slice | None:
    """Return what to delete next, or None when the log is within its bounds. `count` is how many events it holds.

    `weight`: the bytes that the storage takes now.

    >>> hour = Millis(3_600_000)
    >>> log = Bounds(floor=Seq(0), oldest=seq_at(Millis(1)), newest=seq_at(hour))
    >>> next_slice(Keep(age=hour), log, 10, now=hour) is None
    True
    >>> next_slice(Keep(events=7), log, 10, now=hour).limit
    3
    """
    if count == 0:
        return None
    if keep.age is not None:
        horizon = seq_at(Millis(now - keep.age))
        if bounds.oldest < horizon:
            return Slice(horizon, SLICE, aged=True)
    if keep.events is not None and count > keep.events:
        return Slice(Seq(bounds.newest + 1), min(SLICE, count - keep.events))
    if keep.weight is not None and weight > keep.weight and count > LEAST:
        return Slice(Seq(bounds.newest + 1), min(SLICE, count - LEAST))
    return None


def too_roomy(room: FreeSpace) -> bool:
    """Return whether so much is free that some should go back to the disk; below that, new events will take it."""
    return room.free > max(LITTLE, room.whole // 4)


def next_return(room: FreeSpace) -> int:
    """Return how many bytes go back next, once `too_roomy` has begun it; 0 when enough have.

    It ends below where it begins, so that one day's coming and going does not move pages to and fro.

    >>> next_return(FreeSpace(whole=10 * LITTLE, free=9 * LITTLE)) == STEP
    True
    >>> next_return(FreeSpace(whole=10 * LITTLE, free=LITTLE))
    0
    """
    return max(0, min(STEP, room.free - max(LITTLE, room.whole // 8)))
