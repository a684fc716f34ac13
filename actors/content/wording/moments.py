"""Dates and times as documents write them, to milliseconds."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta
from time import struct_time

from storage.records.identity import Millis

_MONTHS = tuple(
    tuple(names.split())
    for names in (
        "jan ene gen янв", "feb fév fev фев", "mar mär mrt мар", "apr avr abr апр", "may mai maj mag mei мая май",
        "jun juin giu июн", "jul juil lug июл", "aug aoû aou ago авг", "sep set сен", "oct okt ott out окт", "nov ноя",
        "dec dez déc dic des дек",
    )
)  # fmt: skip
_SPOKEN = re.compile(
    r"(\d{1,2})\.?[ -]+([^\W\d]{3,12})\.?,?[ -]+(\d{4})"
    r"(?:,?\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?(?:\s*([+-])(\d\d):?(\d\d))?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799_999
_SECONDS_END = 100_000_000_000
"""A bare number below this counts seconds (until the year 5138), above it milliseconds (since 1973)."""


def moment(text: str) -> Millis | None:
    """Return the moment of an ISO 8601 date or date-time (UTC where it has no offset), None for anything else.

    >>> moment("1970-01-01T01:00:01+01:00")
    1000
    """
    try:
        at = datetime.fromisoformat(text.strip())
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        return within(round((at - _EPOCH).total_seconds() * 1000))
    except (ValueError, OverflowError):
        return None


def spoken_moment(text: str) -> Millis | None:
    """Return the moment of a date as feeds write it: ISO 8601, or RFC 822 with month names of other languages too.

    >>> spoken_moment("gio, 01 gen 1970 01:00:01 +0100")
    1000
    """
    if (at := moment(text)) is not None:
        return at
    found = _SPOKEN.search(text[:100].lower())
    month = next((n for n, names in enumerate(_MONTHS, 1) if found and found[2].startswith(names)), None)
    if found is None or month is None:
        return None
    day, year, hour, minute, second = (int(found[n] or 0) for n in (1, 3, 4, 5, 6))
    try:
        at_utc = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    offset = timedelta(hours=int(found[8]), minutes=int(found[9])) if found[7] else timedelta()
    local = at_utc + offset if found[7] == "-" else at_utc - offset
    return within(round((local - _EPOCH).total_seconds() * 1000))


def moment_of(value: object) -> Millis | None:
    """Return the moment of a JSON value: an ISO text, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LAST:
        return None
    return Millis(round(value * 1000 if value < _SECONDS_END else value))


def moment_of_tuple(parsed: struct_time | None) -> Millis | None:
    """Return the moment of a UTC `struct_time`, None when it is absent or absurd."""
    if parsed is None:
        return None
    try:
        return within(calendar.timegm(parsed) * 1000)
    except (ValueError, OverflowError, TypeError):
        return None


def within(at: int) -> Millis | None:
    """Return the moment if it lies in the years 1970 to 9999, which an event can say."""
    return Millis(at) if 0 <= at <= _LAST else None
