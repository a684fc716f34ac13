"""A source's health, day by day. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from api.dashboard.amounts import by_utc, named
from api.dashboard.language.speaking import decimal, say
from storage.records.health import DAYS
from storage.records.identity import Millis, day_of

LEAST = 2
"""The fewest days to draw."""


class Course(NamedTuple):
    """values (hundredths, 0 for none), labels: per day since the first known one. says: the chart as a sentence."""

    values: Sequence[int]
    labels: Sequence[str]
    says: str


def course(scores: Mapping[int, float], now: Millis, zone: ZoneInfo) -> Course | None:
    """Return a source's worst score per day, or None with too few days.

    >>> course({0: 1.0, 2: 0.25}, Millis(2 * 86_400_000), ZoneInfo("UTC"))
    Course(values=[100, 0, 25], labels=['1 Jan: 1.00', '2 Jan: no look', '3 Jan: 0.25'], \
says='Each day’s worst score since 1 Jan: 0.25 at the lowest, on 3 Jan')
    """
    today = day_of(now)
    first = max(min(scores, default=today), today - DAYS + 1)
    days = range(first, today + 1)
    if len(days) < LEAST:
        return None
    values = [max(1, round(100 * scores[day])) if day in scores else 0 for day in days]
    labels = [f"{named(day)}: {decimal(scores[day], 2) if day in scores else say('no look')}" for day in days]
    worst = min(days, key=lambda day: scores.get(day, 1.0))
    lowest = scores.get(worst, 1.0)
    says = say("Each day’s worst score since %(day)s: %(score)s on all of them", day=named(first), score=decimal(1, 2))
    if lowest < 1:
        says = say(
            "Each day’s worst score since %(day)s: %(score)s at the lowest, on %(worst)s",
            day=named(first),
            score=decimal(lowest, 2),
            worst=named(worst),
        )
    return Course(values, labels, says + by_utc(now, zone))
