"""The volume of an alert: events per day, as bars and as a sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from api.dashboard.amounts import by_utc, named
from api.dashboard.language.speaking import say, say_many
from storage.records.identity import Millis, day_of

DAYS = 7
_DAY = 86_400_000


class Volume(NamedTuple):
    """values, labels: one per day (UTC, as matches are counted), today last. says: the chart as a sentence; it names
    UTC for readers in other zones.
    """

    values: Sequence[int]
    labels: Sequence[str]
    total: int
    says: str


def days_until(now: Millis) -> range:
    """Return the last days, today last."""
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
    most = max(values)
    says = say("no matches in the last %(days)s days", days=DAYS)
    if total:
        says = say_many(
            "%(count)s match in the last %(days)s days; most on %(day)s: %(most)s",
            "%(count)s matches in the last %(days)s days; most on %(day)s: %(most)s",
            total,
            days=DAYS,
            day=named(days[values.index(most)]),
            most=most,
        )
    return Volume(values, labels, total, says + by_utc(now, zone))
