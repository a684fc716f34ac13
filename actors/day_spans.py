"""Spans of the day in local time. Pure.

A span begins on its weekdays at `from` and ends at the next `to`, after midnight if `to` is earlier. Both are local
times: at a clock change a span may be an hour shorter or longer. A local time that occurs twice is inside for both.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from actors.zones import moment, zone_of
from storage.records.destination import WEEKDAYS, QuietHours
from storage.records.identity import Millis

_DAY = timedelta(days=1)


class Span(NamedTuple):
    """The half-open interval [start, end)."""

    start: Millis
    end: Millis


def spans(hours: QuietHours, day: date) -> list[Span]:
    """Return, in order, the spans that begin from two days before a day to two days after: all that can cover it."""
    begins, ends, zone = time.fromisoformat(hours.start), time.fromisoformat(hours.end), zone_of(hours.timezone)
    found = []
    for each in (day + days * _DAY for days in (-2, -1, 0, 1, 2)):
        if WEEKDAYS[each.weekday()] in hours.weekdays:
            start = moment(datetime.combine(each, begins), zone)
            end = moment(datetime.combine(each if ends > begins else each + _DAY, ends), zone, last=True)
            found.append(Span(start, end))
    return found
