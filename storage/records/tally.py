"""The tally of a source: its checks by hour, about ten bytes an hour. Pure.

It travels in the source's lazily saved state, like the trail. The running hour comes first, in fixed positions, so a
check costs one packing; past hours follow, one chunk per day. Past days move to their own table, from which coverage
receipts are made (`coverage`). An hour holds the number of checks by verdict and, for successful ones, the first, the
last and the longest gap.

Times are whole seconds, so a gap is accurate to one second. An hour that was counted twice (its clock was set back) is
stored in two parts, and readers must not trust its times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from storage.records.identity import Millis
from storage.records.trail import Verdict

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
_CHUNK: Final = struct.Struct(">HH")
"""Of a day: its number since 1970 and its size in bytes."""
_MOST: Final = 0xFFFF
_KINDS: Final = len(Verdict)
_DAY: Final = 24
_new: Final = tuple.__new__
"""Makes an hour in half the time of its own constructor."""
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


def is_copy(one: Hour, other: Hour) -> bool:
    """Return whether an hour is an earlier copy, as after a crash: same first check, no more checks."""
    if one.number != other.number or one.first not in (None, other.first) or (one.last or 0) > (other.last or 0):
        return False
    return all(before <= after for before, after in zip(one.looks, other.looks, strict=True))


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


def _together(one: Hour, other: Hour) -> Hour:
    looks = tuple(map(sum, zip(one.looks, other.looks, strict=True)))
    seen = sorted((hour for hour in (one, other) if hour.first is not None), key=lambda hour: hour.first or 0)
    if not seen:
        return Hour(one.number, looks, one.bodies + other.bodies)
    gaps = [(hour.gap, hour.gap_from) for hour in seen]
    lasts = list(accumulate((hour.last or 0 for hour in seen), max))
    gaps += [((after.first or 0) - last, last) for last, after in zip(lasts, seen[1:], strict=False)]
    gap, gap_from = max(gaps)
    return Hour(one.number, looks, one.bodies + other.bodies, seen[0].first, lasts[-1], max(0, gap), gap_from)
