"""Spans of the day: from when to when hours last that are written as a clock shows them. Pure.

A span begins on its weekdays at `from` and lasts until the next `to`, over midnight if that is earlier in the day. Its
ends are what a clock on the wall shows: on the day of a change a span is an hour shorter or longer, and where a reading
comes twice the span takes both in.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from actors.zones import moment, zone_of
from storage.records.destination import WEEKDAYS, QuietHours
from storage.records.identity import Millis

_DAY = timedelta(days=1)


class Span(NamedTuple):
    """From `start` on and before `end`."""

    start: Millis
    end: Millis


def spans(hours: QuietHours, day: date) -> list[Span]:
    """Return the spans that begin on the days around a day, in order: all that can hold at some moment of it."""
    begins, ends, zone = time.fromisoformat(hours.start), time.fromisoformat(hours.end), zone_of(hours.timezone)
    found = []
    for each in (day + days * _DAY for days in (-2, -1, 0, 1, 2)):
        if WEEKDAYS[each.weekday()] in hours.weekdays:
            start = moment(datetime.combine(each, begins), zone)
            end = moment(datetime.combine(each if ends > begins else each + _DAY, ends), zone, last=True)
            found.append(Span(start, end))
    return found
