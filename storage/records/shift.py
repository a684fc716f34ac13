"""Shifts: the times in which the service ran by one steady clock. Pure.

A source's tally says which looks are on record; the shifts say where that record is complete. A shift ends when the
service stops in order, when its clock is set, or, without a word, in a crash. Between two of them lies a time in which
nobody looked (after a stop), or one of which nothing is known. A shift knows up to where its looks are stored: what it
looked at after that is lost in a crash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, Literal, NamedTuple

from storage.records.identity import Millis

MOST_SHIFTS: Final = 1_000
"""Shifts that are kept. Beyond that the oldest goes, and the record begins with the next one."""
UNSEEN: Final = 120_000
"""Milliseconds in which a clock may have been set before anybody saw it: twice the time between two checks."""
UNSTORED: Final = 3_900_000
"""Milliseconds before a crash of which looks may not be stored: two sweeps of half an hour, and what they take."""
DEAD: Final = 300_000
"""Milliseconds after which a node that says nothing any more looks at nothing any more either."""
After = Literal["nothing", "stop", "crash", "restore", "clock", "retention"]
"""What was before a shift: no record, an orderly stop, a crash, a backup that was put back, a clock that was set, or a
record that is kept no longer."""
Why = Literal["not_added", "no_record", "retention", "not_stored", "crash", "restore", "clock", "coarse"]
"""Why nothing is known of a time. not_added: there was no such source. not_stored: the disk took nothing for days.
coarse: unknown times, and what lies between them, that are too many to tell apart."""
_WHYS: Final[dict[After, Why]] = {
    "nothing": "no_record",
    "crash": "crash",
    "restore": "restore",
    "clock": "clock",
    "retention": "retention",
}
Part = tuple[Millis, Millis]


class Shift(NamedTuple):
    """One shift. node: "" where the service is alone. saved: up to where all its looks are stored. until: its end, None
    while it runs and after a crash.
    """

    number: int
    node: str
    began: Millis
    saved: Millis
    until: Millis | None
    after: After

    @property
    def reach(self) -> Millis:
        """Up to where it is known to have run."""
        return self.saved if self.until is None else self.until

    @property
    def whole(self) -> Shift:
        """The same, if all that it looked at is on record."""
        return self._replace(saved=self.reach)


class Span(NamedTuple):
    """A time, from its start to before its end, and why nothing is known of it."""

    start: Millis
    end: Millis
    why: Why


class Record(NamedTuple):
    """What shifts say, of all sources. begins: the first moment on record; before: why there is none earlier.

    resting: the times between two shifts of a service that was stopped in order.
    """

    begins: Millis
    before: Why
    unknown: Sequence[Span]
    resting: Sequence[Part]


def following(last: Shift | None, node: str, now: Millis, *, copied: bool) -> Shift:
    """Return the shift that a start of the service begins. last: the newest of this node. copied: the data were put
    back from a copy, and what happened after it is not in them.
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
    """Return a shift as the setting of its clock ended it, and the one after.

    checked: when the clock was last found right; passed: milliseconds since then. Nobody knows when in between it was
    set: what may have been called so before and after belongs to neither.
    """
    lapsed = Millis(checked + passed)
    if now > lapsed:
        return shift._replace(until=max(shift.saved, checked)), Shift(0, shift.node, now, now, None, "clock")
    began = Millis(now - passed)
    return shift._replace(until=max(shift.saved, lapsed)), Shift(0, shift.node, began, began, None, "clock")


def record_of(shifts: Sequence[Shift], now: Millis, running: Collection[int] = ()) -> Record:
    """Return what shifts, in the order of their numbers, say about the time until now.

    running: the numbers of those that go on. Nodes are judged one by one: of what one of them does not know, nobody
    knows.
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
    """Yield what lies between two shifts, unless the first was ended in order."""
    for before, after in pairwise(shifts):
        if after.after == "stop":
            continue
        start, end = min(before.reach, after.began), max(before.reach, after.began)
        if after.after == "clock":
            yield from (Span(*part, "clock") for part in _outside(start, end, shifts))
            continue
        if after.began < before.reach:
            # It was set before the crash, and may have been for as long. What was not stored may have shown more,
            # and looks that were stored with their news lie in there.
            start, end = Millis(start - UNSEEN), Millis(end + UNSTORED)
        yield Span(start, end, _WHYS[after.after])


def _twice(shifts: Sequence[Shift]) -> Iterator[Span]:
    """Yield the times that one node's clock showed twice: it was set back, whether or not something ran then."""
    reach = Millis(0)
    for start, end in sorted(_runs(shifts)):
        if start < min(reach, end):
            yield Span(start, min(reach, end), "clock")
        reach = max(reach, end)


def _runs(shifts: Sequence[Shift]) -> Iterator[Part]:
    """Yield the times in which a clock went on by itself, through shifts and what lay between them."""
    start = shifts[0].began
    for before, after in pairwise(shifts):
        if after.after == "clock" or after.began < before.reach:
            yield start, before.reach
            start = after.began
    yield start, shifts[-1].reach


def _outside(start: Millis, end: Millis, shifts: Sequence[Shift]) -> Iterator[Part]:
    """Yield the parts of a time that none of these shifts had: a clock that is set comes back to its own."""
    for shift in sorted(shifts, key=lambda shift: shift.began):
        if shift.began < end and shift.reach > start:
            if shift.began > start:
                yield start, shift.began
            start = max(start, shift.reach)
    if start < end:
        yield start, end
