"""Local time: zones, spans of the day, and hours for checks as users write them. Pure.

Clock changes make some local times impossible and others ambiguous. `moment` resolves both: a skipped time means the
moment of the change; a repeated one means its first occurrence, or its last on request.

A span begins on its weekdays at `from` and ends at the next `to`, after midnight if `to` is earlier. Both are local
times: at a clock change a span may be an hour shorter or longer. A local time that occurs twice is inside for both.

In the hours for checks, days come first (`mon,wed`, `mon-fri`, `weekdays`, `weekends`; every day by default), then
start and end in local time, past midnight if the end is earlier, then an IANA time zone (UTC by default).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from storage.records.destination import WEEKDAYS, QuietHours, Weekday
from storage.records.identity import Millis


def zone_of(name: str) -> tzinfo:
    """Return a time zone; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        return UTC


def local_time(at: Millis, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(at / 1000, zone)


def millis_of_local(naive: datetime, zone: tzinfo, *, last: bool = False) -> Millis:
    first, second = (Millis(round(naive.replace(tzinfo=zone, fold=fold).timestamp() * 1000)) for fold in (0, 1))
    if first <= second:
        return second if last else first
    old = local_time(second, zone).utcoffset()
    while first - second > 1:
        middle = Millis((second + first) // 2)
        if local_time(middle, zone).utcoffset() == old:
            second = middle
        else:
            first = middle
    return first


_DAY = timedelta(days=1)


class HourSpan(NamedTuple):
    """The half-open interval [start, end)."""

    start: Millis
    end: Millis


@lru_cache(maxsize=1024)  # a destination asks at each wake-up, all day for the same day
def spans(hours: QuietHours, day: date) -> tuple[HourSpan, ...]:
    """Return, in order, the spans that begin from two days before a day to two days after: all that can cover it."""
    begins, ends, zone = time.fromisoformat(hours.start), time.fromisoformat(hours.end), zone_of(hours.timezone)
    result = []
    for each in (day + days * _DAY for days in (-2, -1, 0, 1, 2)):
        if WEEKDAYS[each.weekday()] in hours.weekdays:
            end = millis_of_local(datetime.combine(each if ends > begins else each + _DAY, ends), zone, last=True)
            result.append(HourSpan(millis_of_local(datetime.combine(each, begins), zone), end))
    return tuple(result)


EXAMPLE: Final = "weekdays 08-18 Europe/Stockholm"
LONGEST_SHUT: Final = 8 * 86_400.0
"""Seconds from one span of a weekly schedule to the next, with a day's margin for clock changes."""
_SETS: Final[dict[str, tuple[Weekday, ...]]] = {"weekdays": WEEKDAYS[:5], "weekends": WEEKDAYS[5:], "daily": WEEKDAYS}
_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS: Final = {name: day for day, names in enumerate(zip(WEEKDAYS, _NAMES, strict=True)) for name in names}
_CLOCK = re.compile(r"([01]?\d|2[0-3])(?::([0-5]\d))?-([01]?\d|2[0-4])(?::([0-5]\d))?")


@lru_cache(maxsize=4096)
def read_hours(text: str) -> QuietHours:
    """Return the span of a day, its days and its zone. Raises ValueError with a sentence.

    >>> read_hours("mon-wed,sun 8-18:30 Europe/Stockholm").weekdays
    ('mon', 'tue', 'wed', 'sun')
    >>> read_hours("22-06").start, read_hours("22-06").end, read_hours("0-24").end
    ('22:00', '06:00', '00:00')
    """
    words = text.split()
    days: tuple[Weekday, ...] = WEEKDAYS
    if words and not words[0][0].isdigit():
        days = _days(words.pop(0).lower())
    clock = _CLOCK.fullmatch(words[0]) if words else None
    if clock is None or len(words) > 2 or (clock[3] == "24" and clock[4] not in (None, "00")):
        raise ValueError(f"write days, hours and a time zone, as in {EXAMPLE}")
    start = time(int(clock[1]), int(clock[2] or 0))
    end = time(int(clock[3]) % 24, int(clock[4] or 0))
    if start == end and clock[3] != "24":
        raise ValueError("the hours begin and end at the same time")
    zone = words[1] if len(words) == 2 else "UTC"
    try:
        ZoneInfo(zone)
    except (LookupError, ValueError, OSError):
        raise ValueError(f"{zone} is no time zone; one is Europe/Stockholm") from None
    return QuietHours(start.isoformat("minutes"), end.isoformat("minutes"), zone, days)


def _days(text: str) -> tuple[Weekday, ...]:
    days: set[str] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if part in _SETS:
            days |= {*_SETS[part]}
        elif first in _DAYS and (not dash or last in _DAYS):
            begin, end = _DAYS[first], _DAYS[last if dash else first]
            days |= {WEEKDAYS[(begin + day) % 7] for day in range((end - begin) % 7 + 1)}
        else:
            raise ValueError(f"{part!r} is no day: mon, tue, wed, thu, fri, sat, sun, weekdays or weekends")
    return tuple(day for day in WEEKDAYS if day in days)


def open_from(hours: QuietHours | None, at: Millis) -> Millis:
    """Return a moment if it is within the hours, else the start of the next span."""
    if hours is None:
        return at
    zone, moment = zone_of(hours.timezone), at
    for _ in range(5):  # a week has at least one span, and each step covers the two days ahead
        if ahead := [max(span.start, at) for span in spans(hours, local_time(moment, zone).date()) if span.end > at]:
            return min(ahead)
        moment = Millis(moment + 2 * 86_400_000)
    return at
