"""The next step of retention: which events to delete, and how much space to return to the disk. Pure.

Both happen in slices small enough to fit between two commits; the pruner asks again after each. An event's position
holds the millisecond of its commit, so age is judged by the clock of that time. A clock that is ahead (a dead battery,
a typo) would delete the whole log. So a clock that contradicts the newest event and the elapsed time deletes nothing
until it has run steadily for an hour, and one round deletes only a part of the log by age.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from storage.records.event import Bounds
from storage.records.identity import Millis, Seq, seq_at

LEAST = 1_000
"""Events that always stay when bytes are limited, since the rest of the storage may weigh more than all of them."""
SLICE = 200  # events in a slice: 8 to 30 microseconds each on the writer, so a harvest waits a few milliseconds at most

LITTLE = 32 << 20  # free bytes that are never worth returning
STEP = 256 << 10  # bytes returned at once: 64 pages, 2 ms of the writer's time and some of the disk's


PATIENCE = 3_600.0
"""Seconds that a clock must run steadily after a jump ahead to be trusted: time for a person to correct it."""
JUMP = Millis(3_600_000)  # milliseconds that the clock may be ahead of the elapsed time
IDLE = Millis(86_400_000)
"""Milliseconds that it may be ahead of the newest event at start: the service may have been down or idle so long."""
SHARE = 0.05  # the share of the log that one round may delete by age, unless more ages between two rounds


class Trust:
    """Decides whether to trust the wall clock. newest: of the newest event, None for none. tick: monotonic seconds."""

    def __init__(self, newest: Millis | None, tick: float) -> None:
        self._known, self._slack = None if newest is None else (newest, tick), IDLE
        self._doubted: tuple[Millis, float] | None = None

    def __repr__(self) -> str:
        return f"<Trust known={self._known} doubted={self._doubted}>"

    def ahead(self, now: Millis, tick: float) -> Millis:
        """Return by how many milliseconds the clock is ahead of its expected time; 0 if it is trusted."""
        ahead = 0 if self._known is None else now - _shown(self._known, tick)
        if ahead > self._slack:
            if self._doubted is None or abs(now - _shown(self._doubted, tick)) > JUMP:
                self._doubted = (now, tick)
            if tick - self._doubted[1] < PATIENCE:
                return Millis(ahead)
        self._known, self._slack, self._doubted = (now, tick), JUMP, None
        return Millis(0)


def _shown(known: tuple[Millis, float], tick: float) -> int:
    return known[0] + round(1000 * (tick - known[1]))


def most_aged(keep: Keep, count: int, between: float) -> int:
    """Return how many events one round may delete by age, `between` seconds after the last.

    >>> most_aged(Keep(age=Millis(90 * 86_400_000)), 1_000_000, 600)
    50000
    """
    turned = 0.0 if keep.age is None else 2 * between * 1000 / keep.age
    return max(LEAST, round(count * max(SHARE, turned)))


@dataclass(frozen=True, slots=True)
class Keep:
    """The log's limits: milliseconds, events, bytes (`weight`, though LEAST events stay); None for no limit."""

    age: Millis | None = None
    events: int | None = None
    weight: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if a limit would keep nothing."""
        if any(bound is not None and bound < 1 for bound in (self.age, self.events, self.weight)):
            raise ValueError(f"{self} would keep nothing")


class FreeSpace(NamedTuple):
    """whole: bytes that the storage takes. free: how many of them new events can use."""

    whole: int
    free: int

    @property
    def used(self) -> int:
        return self.whole - self.free


class Slice(NamedTuple):
    """Arguments of `EventLog.retain`: at most `limit` of the oldest events before `before`. `aged`: due to age."""

    before: Seq
    limit: int
    aged: bool = False


def next_slice(keep: Keep, bounds: Bounds, count: int, now: Millis, weight: int = 0) -> Slice | None:
    """Return what to delete next, None if the log is within its limits. `count`: events in the log.

    `weight`: bytes that the storage takes.

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
    """Return whether to return free bytes to the disk; if fewer are free, new events will use them."""
    return room.free > max(LITTLE, room.whole // 4)


def next_return(room: FreeSpace) -> int:
    """Return how many bytes to return next, once `too_roomy` has started it; 0 if done.

    It stops below the level at which it starts, so that daily fluctuations do not move pages back and forth.

    >>> next_return(FreeSpace(whole=10 * LITTLE, free=9 * LITTLE)) == STEP
    True
    >>> next_return(FreeSpace(whole=10 * LITTLE, free=LITTLE))
    0
    """
    return max(0, min(STEP, room.free - max(LITTLE, room.whole // 8)))
