"""Coverage: the recorded checks of one source in a period, the gaps, and the shifts of the service. Pure.

Readers must not take "never checked" for "nothing changed". So coverage never claims more checks than were made, nor a
shorter gap than there was; where the record is incomplete, it reports the period as unknown.

Shifts show where the record is complete. A shift ends with an orderly stop, when the clock is set, or unnoticed in a
crash, which loses the checks after its last save.

A source's tally has its checks by hour, about ten bytes an hour, and travels in its lazily saved state. The running
hour comes first, in fixed positions, so a check costs one packing; past hours follow, one chunk per day. Times are
whole seconds. An hour that was counted twice (its clock was set back) has two parts, and no readable times.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice, pairwise
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from storage.records.checks import Verdict
from storage.records.identity import Millis

HOUR: Final = 3600
MOST_DAYS: Final = 8
"""Most days in a tally that is not cleared. After that the oldest is dropped, and the next one counts it as lost."""
ANSWERED: Final = frozenset((Verdict.UNCHANGED, Verdict.CHANGED, Verdict.NOTHING_TO_TELL))
"""Verdicts of successful checks."""
_VERSION: Final = 1
_FRONT: Final = struct.Struct(">BIIB8H5H")
"""Version, mark of the last body, running hour, 1 if it has a check, checks by verdict, new bodies,
first, last, start and length of the longest gap.
"""
_EMPTY: Final = _FRONT.pack(_VERSION, 0, 0, 0, *[0] * 13)
_SUMS: Final = struct.Struct(">13I")
"""Of a day: checks by verdict, new bodies, first, last, length and start of the longest gap."""
_CHUNK: Final = struct.Struct(">HH")  # of a day: its number since 1970 and its size in bytes
_MOST: Final = 0xFFFF
_KINDS: Final = len(Verdict)
_DAY: Final = 24
_new: Final = tuple.__new__  # makes an hour twice as fast as its own constructor
_QUIET: Final = [(count, *[0] * (_KINDS - 1)) for count in range(0x80)]


class Hour(NamedTuple):
    """Checks of one hour. number: since 1970. looks: by verdict. bodies: how many differed from the one before. first,
    last: times of successful checks in seconds since 1970, None if there are none. gap: the longest time between two of
    them, in seconds. gap_from: its start.
    """

    number: int
    looks: tuple[int, ...]
    bodies: int = 0
    first: int | None = None
    last: int | None = None
    gap: int = 0
    gap_from: int = 0

    @property
    def answered(self) -> int:
        return self.looks[0] + self.looks[1] + self.looks[2]


class Day(NamedTuple):
    """A past day. number: since 1970. body: for `hours_of`. sums: of `summed`; a year is 365 rows, not 8,760 hours."""

    number: int
    body: bytes
    sums: bytes = b""


def noted(tally: bytes, at: Millis, verdict: Verdict, body: bytes = b"") -> bytes:
    """Add a check to the tally. body: some bytes that identify the received body; b"" if none or not new."""
    second = at // 1000
    if not _is_ours(tally):
        tally = _EMPTY
    _, mark, hour, used, *numbers = _FRONT.unpack_from(tally)
    rest = tally[_FRONT.size :]
    if second // HOUR != hour or not used:
        if used:
            rest = _put_away(rest, _open_hour(tally))
        hour, numbers = second // HOUR, [0] * 13
    numbers[verdict] = min(_MOST, numbers[verdict] + 1)
    if body:
        new = int.from_bytes(body[:4], "big") or 1
        numbers[8] = min(_MOST, numbers[8] + (new != mark))
        mark = new
    if verdict in ANSWERED:
        offset = second - hour * HOUR
        first, last, gap_from, gap = numbers[9:]
        if numbers[0] + numbers[1] + numbers[2] == 1:
            numbers[9:] = offset, offset, 0, 0
        elif offset - last > gap:
            numbers[9:] = min(first, offset), max(last, offset), last, offset - last
        else:
            numbers[9:] = min(first, offset), max(last, offset), gap_from, gap
    return _FRONT.pack(_VERSION, mark, hour, 1, *numbers) + rest


def hours(tally: bytes) -> Iterator[Hour]:
    for day in days_in(tally):
        yield from hours_of(day)
    yield from running(tally)


def running(tally: bytes) -> Sequence[Hour]:
    hour = _open_hour(tally) if _is_ours(tally) else None
    return () if hour is None else (hour,)


def lost_days(day: Day) -> int:
    """Return how many days before this one were dropped because the tally was not cleared."""
    return day.body[0]


def over(tally: bytes, today: int) -> Sequence[Day]:
    if not has_over(tally, today):
        return ()
    return [day for day in _days(tally) if day.number < today]


def has_over(tally: bytes, today: int) -> bool:
    if len(tally) <= _FRONT.size or tally[0] != _VERSION:
        return False
    number: int = _CHUNK.unpack_from(tally, _FRONT.size)[0]
    return number < today


def without(tally: bytes, days: Sequence[Day]) -> bytes:
    """Remove stored days from the tally, unless they have changed since."""
    gone = {day.number: day.body for day in days}
    if not gone or not _is_ours(tally):
        return tally
    kept = (day for day in _days(tally) if gone.get(day.number) != day.body)
    return tally[: _FRONT.size] + b"".join(map(_chunk, kept))


def days_in(tally: bytes) -> Sequence[Day]:
    return list(_days(tally)) if _is_ours(tally) else ()


def hours_of(day: Day) -> list[Hour]:
    """Return the hours of a day, without a truncated rest. Unchanged checks, the common case, take a fast path."""
    body, at, found = day.body, 1, list[Hour]()
    size, start = len(body), day.number * _DAY
    while at + 2 <= size:
        head, mask, at = body[at], body[at + 1], at + 2
        try:
            if mask == 1 and not head & 0x80 and body[at] < 0x80:
                looks, bodies, at = _QUIET[body[at]], 0, at + 1
            else:
                looks, bodies, at = _counts(body, at, mask, new=head & 0x80 > 0)
        except IndexError:
            return found
        number, answered = start + (head & 0x1F), looks[0] + looks[1] + looks[2]
        times = 0 if not answered else 2 if answered == 1 else 6
        if at + times > size:
            return found
        found.append(_with_times(number, looks, bodies, int.from_bytes(body[at : at + times], "big"), times))
        at += times
    return found


def is_copy(hour: Hour, other: Hour) -> bool:
    """Return whether an hour is an earlier copy, as after a crash: same first check, no more checks."""
    if hour.number != other.number or hour.first not in (None, other.first) or (hour.last or 0) > (other.last or 0):
        return False
    return all(before <= after for before, after in zip(hour.looks, other.looks, strict=True))


def united(there: Day, again: Day) -> Day:
    """Merge two versions of a day, counting each check once. Hours repeated by a clock set back come last."""
    if again.body.startswith(there.body):
        return again
    known, new = hours_of(there), hours_of(again)
    kept = [hour for hour in known if not any(is_copy(hour, grown) and hour != grown for grown in new)]
    more = [hour for hour in new if not any(is_copy(hour, old) for old in kept)]
    if kept == known and not more:
        return there
    return Day(there.number, there.body[:1] + b"".join(map(_packed, (*kept, *more))))


def summed(day: Day) -> bytes:
    parts = hours_of(day)
    whole = parts[0]._replace(number=day.number * _DAY) if parts else Hour(day.number * _DAY, (0,) * _KINDS)
    for hour in parts[1:]:
        whole = _together(whole, hour)
    times = (whole.first or 0, whole.last or 0, whole.gap, whole.gap_from)
    return _SUMS.pack(*whole.looks, whole.bodies, *times)


def _counts(body: bytes, at: int, mask: int, *, new: bool) -> tuple[tuple[int, ...], int, int]:
    """Return checks by verdict, the number of new bodies, and the next offset. Raises IndexError."""
    looks, bodies = [0] * _KINDS, 0
    for verdict in range(_KINDS):
        if mask >> verdict & 1:
            looks[verdict], at = _varint(body, at)
    if new:
        bodies, at = _varint(body, at)
    return tuple(looks), bodies, at


def _with_times(number: int, looks: tuple[int, ...], bodies: int, packed: int, size: int) -> Hour:
    start = number * HOUR
    if size == 6:
        first, last, gap_from = start + (packed >> 36), start + (packed >> 24 & 0xFFF), start + (packed >> 12 & 0xFFF)
        return _new(Hour, (number, looks, bodies, first, last, packed & 0xFFF, gap_from))
    if size:
        return Hour(number, looks, bodies, start + packed, start + packed)
    return Hour(number, looks, bodies)


def _open_hour(tally: bytes) -> Hour | None:
    _, _, number, used, *numbers = _FRONT.unpack_from(tally)
    if not used:
        return None
    hour, start = Hour(number, tuple(numbers[:8]), numbers[8]), number * HOUR
    if not hour.answered:
        return hour
    first, last, gap_from, gap = numbers[9:]
    return hour._replace(first=start + first, last=start + last, gap=gap, gap_from=start + gap_from)


def _put_away(rest: bytes, hour: Hour | None) -> bytes:
    assert hour is not None
    days = list(_chunks(rest))
    number, packed = hour.number // _DAY, _packed(hour)
    place = next((place for place, day in enumerate(days) if day.number == number), None)
    if place is not None:  # not always the last: the clock may have been set back over midnight
        days[place] = Day(number, days[place].body + packed)
    else:
        days.append(Day(number, b"\0" + packed))
    if len(days) > MOST_DAYS:
        gone, after = days.pop(0), days[0]
        lost = min(0xFF, gone.body[0] + max(1, after.number - gone.number))
        days[0] = Day(after.number, bytes((lost,)) + after.body[1:])
    return b"".join(map(_chunk, days))


def _packed(hour: Hour) -> bytes:
    mask = sum(1 << verdict for verdict, count in enumerate(hour.looks) if count)
    parts = [bytes((hour.number % _DAY | (0x80 if hour.bodies else 0), mask))]
    parts += [_of_varint(count) for count in hour.looks if count]
    if hour.bodies:
        parts.append(_of_varint(hour.bodies))
    if hour.first is not None and hour.last is not None:
        start = hour.number * HOUR
        first, last = hour.first - start, hour.last - start
        if hour.answered == 1:
            parts.append(first.to_bytes(2, "big"))
        else:
            gap_from = max(0, hour.gap_from - start)
            parts.append((first << 36 | last << 24 | gap_from << 12 | hour.gap).to_bytes(6, "big"))
    return b"".join(parts)


def _of_varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _varint(body: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while body[at] & 0x80:
        number |= (body[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return number | body[at] << shift, at + 1


def _chunk(day: Day) -> bytes:
    return _CHUNK.pack(day.number, len(day.body)) + day.body


def _days(tally: bytes) -> Iterator[Day]:
    return _chunks(tally[_FRONT.size :])


def _chunks(rest: bytes) -> Iterator[Day]:
    at = 0
    while at + _CHUNK.size < len(rest):
        number, size = _CHUNK.unpack_from(rest, at)
        at += _CHUNK.size
        yield Day(number, rest[at : at + size])
        at += size


def _is_ours(tally: bytes) -> bool:
    return len(tally) >= _FRONT.size and tally[0] == _VERSION


def merged(parts: Sequence[Hour]) -> Mapping[int, Hour]:
    found: dict[int, Hour] = {}
    for hour in parts:
        before = found.get(hour.number)
        found[hour.number] = hour if before is None else _together(before, hour)
    return found


def _together(own: Hour, other: Hour) -> Hour:
    looks = tuple(map(sum, zip(own.looks, other.looks, strict=True)))
    seen = sorted((hour for hour in (own, other) if hour.first is not None), key=lambda hour: hour.first or 0)
    if not seen:
        return Hour(own.number, looks, own.bodies + other.bodies)
    gaps = [(hour.gap, hour.gap_from) for hour in seen]
    lasts = list(accumulate((hour.last or 0 for hour in seen), max))
    gaps += [((after.first or 0) - last, last) for last, after in zip(lasts, seen[1:], strict=False)]
    gap, gap_from = max(gaps)
    return Hour(own.number, looks, own.bodies + other.bodies, seen[0].first, lasts[-1], max(0, gap), gap_from)


MOST_SHIFTS: Final = 1_000
"""Most shifts kept. After that the oldest is dropped, and the record begins with the next one."""
UNSEEN: Final = 120_000
"""Longest time in milliseconds that a clock change may go unnoticed: twice the interval between clock checks."""
UNSTORED: Final = 3_900_000
"""Milliseconds before a crash whose checks may be unsaved: two half-hour sweeps and their duration."""
DEAD: Final = 300_000  # milliseconds of silence after which a node has certainly stopped checking
After = Literal["nothing", "stop", "crash", "restore", "clock", "retention"]
"""The reason for a new shift: no earlier record, an orderly stop, a crash, a restored backup, a clock that was set, or
retention, which deleted the record before it."""
Why = Literal["not_added", "no_record", "retention", "not_stored", "crash", "restore", "clock", "coarse"]
"""Why a period is unknown. not_added: the source did not exist. not_stored: the disk accepted no writes for days.
coarse: several unknown periods, joined with the time between them because there were too many."""
_WHYS: Final[dict[After, Why]] = {
    "nothing": "no_record", "crash": "crash", "restore": "restore", "clock": "clock", "retention": "retention",
}  # fmt: skip
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
    after: After = "nothing" if last is None else "restore" if copied else "crash" if last.until is None else "stop"
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
        unknown += (UnknownPeriod(run.saved, run.until, "crash") for run in own if run.until and run.saved < run.until)
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


MOST_UNKNOWN: Final = 5  # most unknown periods in a receipt, which must stay small; more are joined
_HOUR_MS: Final = 1000 * HOUR
_DAY_MS: Final = 24 * _HOUR_MS


class StoredChecks(NamedTuple):
    """A source's stored record of checks. added: when the source was added. days: past days moved out of the tally."""

    added: Millis
    tally: bytes
    days: Sequence[Day]


class Gap(NamedTuple):
    """The longest known period without a successful check. seconds: its length, rounded up."""

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
        return sum(self.looks[verdict] for verdict in ANSWERED)

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
    held = {day.number: day for day in days_in(kept.tally)}
    for day in kept.days:
        mine = held.get(day.number)
        held[day.number] = day if mine is None else united(day, mine)
    parts = [hour for day in held.values() for hour in hours_of(day)]
    for hour in running(kept.tally):
        if not any(part.number == hour.number and is_copy(hour, part) for part in parts):
            parts.append(hour)
    return merged(parts)


def _own(kept: StoredChecks, record: Record) -> Iterator[UnknownPeriod]:
    """Yield the unknown periods of this source alone, apart from the service's shifts."""
    yield UnknownPeriod(Millis(0), kept.added, "not_added")
    yield UnknownPeriod(Millis(0), record.begins, record.before)
    for day in (*kept.days, *days_in(kept.tally)):
        if lost := lost_days(day):
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
