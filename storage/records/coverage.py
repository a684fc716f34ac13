"""Coverage: the recorded checks of one source in a period, the gaps, and the shifts of the service. Pure.

Readers must not take "never checked" for "nothing changed". So coverage never claims more checks than were made, nor a
shorter gap than there was; where the record is incomplete, it reports the period as unknown.

A source's tally records checks; shifts show where that record is complete. A shift ends with an orderly stop, when the
clock is set, or unnoticed in a crash. The time until the next shift has no checks (after a stop) or is unknown. A shift
also stores up to when its checks are saved: a crash loses later ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, islice, pairwise
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from storage.records import tally
from storage.records.identity import Millis
from storage.records.tally import HOUR, Day, Hour

MOST_SHIFTS: Final = 1_000
"""Most shifts kept. After that the oldest is dropped, and the record begins with the next one."""
UNSEEN: Final = 120_000
"""Longest time in milliseconds that a clock change may go unnoticed: twice the interval between clock checks."""
UNSTORED: Final = 3_900_000
"""Milliseconds before a crash whose checks may be unsaved: two half-hour sweeps and their duration."""
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
    """node: "" for a single service. saved: all checks up to then are stored. until: None while it runs, or crashed."""

    number: int
    node: str
    began: Millis
    saved: Millis
    until: Millis | None
    after: After

    @property
    def reach(self) -> Millis:
        return self.saved if self.until is None else self.until

    @property
    def whole(self) -> Shift:
        return self._replace(saved=self.reach)


class UnknownPeriod(NamedTuple):
    """An unknown period, [start, end), and the reason."""

    start: Millis
    end: Millis
    why: Why


class Record(NamedTuple):
    """The shifts' record. begins: its first moment. before: why. resting: periods between an orderly stop and start."""

    begins: Millis
    before: Why
    unknown: Sequence[UnknownPeriod]
    resting: Sequence[Part]


def following(last: Shift | None, node: str, now: Millis, *, copied: bool) -> Shift:
    """Return a start's shift. last: this node's newest shift. copied: events after a restored copy are missing."""
    after: After = "stop"
    if last is None:
        after = "nothing"
    elif copied:
        after = "restore"
    elif last.until is None:
        after = "crash"
    return Shift(0, node, now, now, None, after)


def stepped(shift: Shift, checked: Millis, passed: int, now: Millis) -> tuple[Shift, Shift]:
    """Return a shift as ended by a clock change, and its successor. checked: when the clock was last known good.
    passed: milliseconds since then. The change may have happened at any time in between, so times that may carry either
    reading belong to neither shift.
    """
    lapsed = Millis(checked + passed)
    if now > lapsed:
        return shift._replace(until=max(shift.saved, checked)), Shift(0, shift.node, now, now, None, "clock")
    began = Millis(now - passed)
    return shift._replace(until=max(shift.saved, lapsed)), Shift(0, shift.node, began, began, None, "clock")


def record_of(shifts: Sequence[Shift], now: Millis, running: Collection[int] = ()) -> Record:
    """Compute the record from shifts in order of number; `running` ones go on. Unknown for one node is unknown."""
    if not shifts:
        return Record(now, "no_record", (), ())
    first = min(shifts, key=lambda shift: shift.began)
    unknown: list[UnknownPeriod] = []
    resting: list[Part] = []
    by_node = sorted(shifts, key=lambda shift: (shift.node, shift.number))
    for node, each in groupby(by_node, key=lambda shift: shift.node):
        own = list(each)
        unknown += (UnknownPeriod(one.saved, one.until, "crash") for one in own if one.until and one.saved < one.until)
        unknown += _between(own)
        unknown += _twice(own)
        last = own[-1]
        if last.until is None and last.number not in running:
            unknown.append(UnknownPeriod(last.saved, Millis(last.saved + DEAD) if node else now, "crash"))
        if not node:
            stops = ((before.reach, after.began) for before, after in pairwise(own) if after.after == "stop")
            resting += (part for start, end in stops for part in _outside(start, end, _spans(shifts)))
    return Record(first.began, _WHYS.get(first.after, "no_record"), unknown, resting)


def _between(shifts: Sequence[Shift]) -> Iterator[UnknownPeriod]:
    """Yield the periods between two shifts, except after an orderly stop."""
    for before, after in pairwise(shifts):
        if after.after == "stop":
            continue
        start, end = min(before.reach, after.began), max(before.reach, after.began)
        if after.after == "clock":
            yield from (UnknownPeriod(*part, "clock") for part in _outside(start, end, _spans(shifts)))
            continue
        if after.began < before.reach:
            # The clock was set back before the crash, perhaps by as much. Unsaved checks may have shown later times,
            # and checks that were saved with their changes fall into this period.
            start, end = Millis(start - UNSEEN), Millis(end + UNSTORED)
        yield UnknownPeriod(start, end, _WHYS[after.after])


def _twice(shifts: Sequence[Shift]) -> Iterator[UnknownPeriod]:
    """Yield the periods that one node's clock showed twice because it was set back, whether or not a shift ran."""
    reach = Millis(0)
    for start, end in sorted(_runs(shifts)):
        if start < min(reach, end):
            yield UnknownPeriod(start, min(reach, end), "clock")
        reach = max(reach, end)


def _runs(shifts: Sequence[Shift]) -> Iterator[Part]:
    """Yield the periods of an undisturbed clock, across shifts and the time between them."""
    start = shifts[0].began
    for before, after in pairwise(shifts):
        if after.after == "clock" or after.began < before.reach:
            yield start, before.reach
            start = after.began
    yield start, shifts[-1].reach


def _spans(shifts: Sequence[Shift]) -> Sequence[Part]:
    """Return the periods of shifts, which may overlap: a clock that was set may return to an earlier shift's times."""
    return [(shift.began, shift.reach) for shift in shifts]


def _outside(start: Millis, end: Millis, spans: Sequence[Part]) -> Iterator[Part]:
    for begins, ends in sorted(spans):
        if begins < end and ends > start:
            if begins > start:
                yield start, begins
            start = max(start, ends)
    if start < end:
        yield start, end


MOST_UNKNOWN: Final = 5
"""Most unknown periods in a receipt, which must stay small; more are joined."""
_HOUR_MS: Final = 1000 * HOUR
_DAY_MS: Final = 24 * _HOUR_MS


class StoredChecks(NamedTuple):
    """A source's stored record of checks. added: when the source was added. days: past days moved out of the tally."""

    added: Millis
    tally: bytes
    days: Sequence[Day]


class Gap(NamedTuple):
    """The longest known period without a successful check."""

    start: Millis
    end: Millis

    @property
    def seconds(self) -> int:
        return max(0, -((self.start - self.end) // 1000))


class Coverage(NamedTuple):
    """looks: checks by verdict. bodies: that differed. first, last: successes. gap: None if all unknown. resting: ms"""

    start: Millis
    end: Millis
    looks: tuple[int, ...]
    bodies: int
    first: Millis | None
    last: Millis | None
    gap: Gap | None
    unknown: Sequence[UnknownPeriod]
    resting: int

    @property
    def answered(self) -> int:
        return sum(self.looks[verdict] for verdict in tally.ANSWERED)

    @property
    def unknown_ms(self) -> int:
        return sum(span.end - span.start for span in self.unknown)


def window(start: Millis, end: Millis, now: Millis) -> tuple[Millis, Millis]:
    """Extend a period to whole hours, the unit of counting: at least one, ending at `now` at most."""
    begins = Millis(start // _HOUR_MS * _HOUR_MS)
    whole = Millis(max(-(-end // _HOUR_MS), begins // _HOUR_MS + 1) * _HOUR_MS)
    return begins, min(whole, now)


def days_of(start: Millis, end: Millis) -> tuple[int, int]:
    """Return the first and last day of a period, in days since 1970."""
    return start // _DAY_MS, end // _DAY_MS


def cover(start: Millis, end: Millis, kept: StoredChecks, record: Record) -> Coverage:
    holes = [*_own(kept, record), *record.unknown]
    hours = _hours(kept)
    asked = [hours[number] for number in sorted(hours) if start <= number * _HOUR_MS < end]
    # A check after `end` was counted before the clock was set back. Its hour mixes both and cannot be divided.
    mixed = [hour for hour in asked if hour.last is not None and 1000 * hour.last > end]
    shown = [hour for hour in asked if hour not in mixed] if mixed else asked
    doubted = [UnknownPeriod(Millis(hour.number * _HOUR_MS), end, "clock") for hour in mixed]
    unknown = _painted(start, end, [*holes, *doubted])
    looks = tuple(map(sum, zip(*(hour.looks for hour in shown), strict=True))) or (0,) * 8
    seen = [hour for hour in shown if hour.first is not None]
    gaps = [gap for known in _outside(start, end, [span[:2] for span in unknown]) for gap in _gaps(*known, seen)]
    rests = (min(end, stop) - max(start, begun) for begun, stop in record.resting)
    since, till = max(gaps, key=lambda gap: gap[1] - gap[0], default=(0, -1))
    return Coverage(
        start=start,
        end=end,
        looks=looks,
        bodies=sum(hour.bodies for hour in shown),
        first=Millis(1000 * (seen[0].first or 0)) if seen else None,
        last=Millis(1000 * (seen[-1].last or 0)) if seen else None,
        gap=None if till < since else Gap(Millis(since), Millis(till)),
        unknown=unknown,
        resting=sum(max(0, rest) for rest in rests),
    )


def _hours(kept: StoredChecks) -> Mapping[int, Hour]:
    """Count each check once: a day moved out may still be in the tally, perhaps as an earlier copy."""
    held = {day.number: day for day in tally.days_in(kept.tally)}
    for day in kept.days:
        mine = held.get(day.number)
        held[day.number] = day if mine is None else tally.united(day, mine)
    parts = [hour for day in held.values() for hour in tally.hours_of(day)]
    for hour in tally.running(kept.tally):
        if not any(part.number == hour.number and tally.is_copy(hour, part) for part in parts):
            parts.append(hour)
    return tally.merged(parts)


def _own(kept: StoredChecks, record: Record) -> Iterator[UnknownPeriod]:
    """Yield the unknown periods of this source alone, apart from the service's shifts."""
    yield UnknownPeriod(Millis(0), kept.added, "not_added")
    yield UnknownPeriod(Millis(0), record.begins, record.before)
    for day in (*kept.days, *tally.days_in(kept.tally)):
        if lost := tally.lost_days(day):
            yield UnknownPeriod(Millis((day.number - lost) * _DAY_MS), Millis(day.number * _DAY_MS), "not_stored")


def _painted(start: Millis, end: Millis, spans: Sequence[UnknownPeriod]) -> Sequence[UnknownPeriod]:
    """Return the unknown periods in order, clipped to the window, without overlap, at most `MOST_UNKNOWN`."""
    found: list[UnknownPeriod] = []
    at = start
    for span in sorted(spans):
        begins, ends = max(at, span.start), min(end, span.end)
        if begins < ends:
            if found and found[-1].end == begins and found[-1].why == span.why:
                begins = found.pop().start
            found.append(UnknownPeriod(begins, ends, span.why))
            at = ends
    while len(found) > MOST_UNKNOWN:
        pairs = range(len(found) - 1)
        near = min(pairs, key=lambda number: found[number + 1].start - found[number].end)
        found[near : near + 2] = [UnknownPeriod(found[near].start, found[near + 1].end, "coarse")]
    return found


def _gaps(start: int, end: int, seen: Sequence[Hour]) -> Iterator[tuple[int, int]]:
    """Yield gaps between successes, each longer than all before. An hour records only its longest gap."""
    before, longest = start, -1
    for hour in islice(seen, bisect_left(seen, start // _HOUR_MS, key=attrgetter("number")), None):
        first, last, gap = 1000 * (hour.first or 0), 1000 * (hour.last or 0), 1000 * hour.gap
        if last + 1000 <= start:
            continue
        if first >= end:
            break
        if first - before > longest:
            longest = first - before
            yield before, first
        if gap > longest:
            longest = min(gap, end - start)
            begins = max(start, min(1000 * hour.gap_from, end - longest))
            yield begins, begins + longest
        if last > before:
            before = min(last, end)
    if end - before > longest:
        yield before, end
