"""Shifts: runs of the service, each with one steady clock. Pure.

A source's tally records checks; shifts show where that record is complete. A shift ends with an orderly stop, when the
clock is set, or unnoticed in a crash. The time until the next shift has no checks (after a stop) or is unknown. A shift
also stores up to when its checks are saved: a crash loses later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, Literal, NamedTuple

from storage.records.identity import Millis

MOST_SHIFTS: Final = 1_000
"""Most shifts kept. After that the oldest is dropped, and the record begins with the next one."""
UNSEEN: Final = 120_000
"""Milliseconds for which a change of the clock may go unnoticed: twice the interval between clock checks."""
UNSTORED: Final = 3_900_000
"""Milliseconds before a crash for which checks may be unsaved: two half-hour sweeps and their duration."""
DEAD: Final = 300_000
"""Milliseconds of silence after which a node has certainly stopped checking."""
After = Literal["nothing", "stop", "crash", "restore", "clock", "retention"]
"""The reason for a new shift: no earlier record, an orderly stop, a crash, a restored backup, a clock that was set, or
retention, which deleted the record before it."""
Why = Literal["not_added", "no_record", "retention", "not_stored", "crash", "restore", "clock", "coarse"]
"""Why a period is unknown. not_added: the source did not exist. not_stored: the disk accepted no writes for days.
coarse: several unknown periods, joined with the time between them because there were too many."""
_WHYS: Final[dict[After, Why]] = {
    "nothing": "no_record",
    "crash": "crash",
    "restore": "restore",
    "clock": "clock",
    "retention": "retention",
}
Part = tuple[Millis, Millis]


class Shift(NamedTuple):
    """One shift. node: "" for a single service. saved: all checks up to then are stored. until: its end, None while it
    runs and after a crash.
    """

    number: int
    node: str
    began: Millis
    saved: Millis
    until: Millis | None
    after: After

    @property
    def reach(self) -> Millis:
        """Up to when it certainly ran."""
        return self.saved if self.until is None else self.until

    @property
    def whole(self) -> Shift:
        """The same shift with all of its checks stored."""
        return self._replace(saved=self.reach)


class Span(NamedTuple):
    """An unknown period, [start, end), and the reason."""

    start: Millis
    end: Millis
    why: Why


class Record(NamedTuple):
    """The shifts' record, valid for all sources. begins: the first moment on record. before: why there is none earlier.

    resting: the periods between an orderly stop and the next start.
    """

    begins: Millis
    before: Why
    unknown: Sequence[Span]
    resting: Sequence[Part]


def following(last: Shift | None, node: str, now: Millis, *, copied: bool) -> Shift:
    """Return the shift that a start of the service begins. last: the newest shift of this node. copied: the data were
    restored from a copy, so events after the copy are missing.
    """
    after: After = "stop"
    if last is None:
        after = "nothing"
    elif copied:
        after = "restore"
    elif last.until is None:
        after = "crash"
    return Shift(0, node, now, now, None, after)


def stepped(shift: Shift, checked: Millis, passed: int, now: Millis) -> tuple[Shift, Shift]:
    """Return a shift as ended by a clock change, and its successor.

    checked: when the clock was last known good. passed: milliseconds since then. The change may have happened at any
    time in between, so times that may carry either reading belong to neither shift.
    """
    lapsed = Millis(checked + passed)
    if now > lapsed:
        return shift._replace(until=max(shift.saved, checked)), Shift(0, shift.node, now, now, None, "clock")
    began = Millis(now - passed)
    return shift._replace(until=max(shift.saved, lapsed)), Shift(0, shift.node, began, began, None, "clock")


def record_of(shifts: Sequence[Shift], now: Millis, running: Collection[int] = ()) -> Record:
    """Compute the record up to now from shifts in order of number.

    running: numbers of shifts that still run. Nodes are judged one by one; a period unknown for one node is unknown.
    """
    if not shifts:
        return Record(now, "no_record", (), ())
    first = min(shifts, key=lambda shift: shift.began)
    unknown: list[Span] = []
    resting: list[Part] = []
    by_node = sorted(shifts, key=lambda shift: (shift.node, shift.number))
    for node, each in groupby(by_node, key=lambda shift: shift.node):
        own = list(each)
        unknown += (Span(one.saved, one.until, "crash") for one in own if one.until and one.saved < one.until)
        unknown += _between(own)
        unknown += _twice(own)
        last = own[-1]
        if last.until is None and last.number not in running:
            unknown.append(Span(last.saved, Millis(last.saved + DEAD) if node else now, "crash"))
        if not node:
            stops = ((before.reach, after.began) for before, after in pairwise(own) if after.after == "stop")
            resting += (part for start, end in stops for part in _outside(start, end, shifts))
    return Record(first.began, _WHYS.get(first.after, "no_record"), unknown, resting)


def _between(shifts: Sequence[Shift]) -> Iterator[Span]:
    """Yield the periods between two shifts, except after an orderly stop."""
    for before, after in pairwise(shifts):
        if after.after == "stop":
            continue
        start, end = min(before.reach, after.began), max(before.reach, after.began)
        if after.after == "clock":
            yield from (Span(*part, "clock") for part in _outside(start, end, shifts))
            continue
        if after.began < before.reach:
            # The clock was set back before the crash, perhaps by as much. Unsaved checks may have shown later times,
            # and checks that were saved with their changes fall into this period.
            start, end = Millis(start - UNSEEN), Millis(end + UNSTORED)
        yield Span(start, end, _WHYS[after.after])


def _twice(shifts: Sequence[Shift]) -> Iterator[Span]:
    """Yield the periods that one node's clock showed twice because it was set back, whether or not a shift ran."""
    reach = Millis(0)
    for start, end in sorted(_runs(shifts)):
        if start < min(reach, end):
            yield Span(start, min(reach, end), "clock")
        reach = max(reach, end)


def _runs(shifts: Sequence[Shift]) -> Iterator[Part]:
    """Yield the periods in which a clock ran undisturbed, across shifts and the time between them."""
    start = shifts[0].began
    for before, after in pairwise(shifts):
        if after.after == "clock" or after.began < before.reach:
            yield start, before.reach
            start = after.began
    yield start, shifts[-1].reach


def _outside(start: Millis, end: Millis, shifts: Sequence[Shift]) -> Iterator[Part]:
    """Yield the parts of a period outside these shifts: a clock that was set may return to an earlier shift's times."""
    for shift in sorted(shifts, key=lambda shift: shift.began):
        if shift.began < end and shift.reach > start:
            if shift.began > start:
                yield start, shift.began
            start = max(start, shift.reach)
    if start < end:
        yield start, end
