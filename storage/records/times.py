"""RFC 3339 text to and from milliseconds, and intervals such as `10m`. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from storage.records.identity import Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LAST = Millis(253_402_300_799_999)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def rfc3339(at: Millis) -> str:
    """Return RFC 3339 UTC with `Z` and milliseconds; times outside the years 1970 to 9999 are clamped.

    >>> rfc3339(Millis(1_500))
    '1970-01-01T00:00:01.500Z'
    """
    moment = _EPOCH + timedelta(milliseconds=min(max(0, at), _LAST))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def spoken(at: Millis) -> str:
    """Return a moment to the minute, for prose.

    >>> spoken(Millis(1_780_000_000_000))
    '28 May 2026 20:26 UTC'
    """
    moment = _EPOCH + timedelta(milliseconds=min(max(0, at), _LAST))
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment:%Y %H:%M} UTC"


def parse_rfc3339(text: str) -> Millis:
    """Parse an RFC 3339 date-time with an offset. Raises ValueError otherwise.

    >>> parse_rfc3339('1970-01-01T01:00:01.5+01:00')
    1500
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"no offset in {text[:40]!r}: write 2026-11-21T10:00:00Z")
    return Millis(round((moment - _EPOCH) / timedelta(milliseconds=1)))


def seconds_of(interval: str) -> int:
    """Return the seconds of an interval: a whole number and a unit of s, m, h or d.

    >>> seconds_of("10m")
    600
    """
    return int(interval[:-1]) * _UNITS[interval[-1]]


def interval_text(seconds: int) -> str:
    """Write seconds in the largest unit that divides them.

    >>> interval_text(600), interval_text(90)
    ('10m', '90s')
    """
    unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"
