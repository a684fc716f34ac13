"""How much an alert tells: events a day, as bars and as a sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from storage.records.identity import Millis, day_of
from storage.records.times import rfc3339

DAYS = 7
_DAY = 86_400_000


class Volume(NamedTuple):
    """values, labels: of each of the last days (UTC, by which matches are counted), today at the end. says: the picture
    in a sentence, which names UTC to who has another clock.
    """

    values: Sequence[int]
    labels: Sequence[str]
    total: int
    says: str


def days_until(now: Millis) -> range:
    """Return the last days, today at the end."""
    return range(day_of(now) - DAYS + 1, day_of(now) + 1)


def volume(counts: Mapping[int, int], now: Millis, zone: ZoneInfo) -> Volume:
    """Return the volume of counts by day.

    >>> volume({0: 2}, Millis(86_400_000), ZoneInfo("Asia/Kolkata")).says
    '2 matches in the last 7 days; most on 1 Jan: 2 (days by UTC)'
    """
    days = days_until(now)
    values = [counts.get(day, 0) for day in days]
    labels = [f"{named(day)}: {value}" for day, value in zip(days, values, strict=True)]
    total = sum(values)
    says = f"{many(total, 'match', 'matches')} in the last {DAYS} days"
    if total:
        most = max(values)
        says += f"; most on {named(days[values.index(most)])}: {most}"
    return Volume(values, labels, total, says + by_utc(now, zone))


def by_utc(now: Millis, zone: ZoneInfo) -> str:
    """Return what to add for a reader whose days are others: "" where it is UTC now."""
    return " (days by UTC)" if datetime.fromtimestamp(now / 1000, zone).utcoffset() else ""


def named(day: int) -> str:
    """Return a day for people.

    >>> named(0)
    '1 Jan'
    """
    _, month, number = rfc3339(Millis(day * _DAY))[:10].split("-")
    return f"{int(number)} {_MONTHS[int(month) - 1]}"


def many(count: int, one: str, more: str = "") -> str:
    """Return a count with its noun.

    >>> many(1, "match", "matches"), many(1200, "event")
    ('1 match', '1,200 events')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
