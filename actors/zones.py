"""Time zones, and what a clock on the wall says of a moment. Pure.

A change of the clocks makes some readings impossible and others ambiguous. `moment` resolves both: a reading that is
left out is the moment at which the clocks go forward; one that comes twice is its first time, or its last if so asked.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from storage.records.identity import Millis


def zone_of(name: str) -> tzinfo:
    """Return a time zone; UTC for one that this machine does not know, though another once did."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        return UTC


def reading(at: Millis, zone: tzinfo) -> datetime:
    """Return what the clock on the wall says at a moment."""
    return datetime.fromtimestamp(at / 1000, zone)


def moment(naive: datetime, zone: tzinfo, *, last: bool = False) -> Millis:
    """Return when the clock on the wall says this; see the preface."""
    first, second = (_millis(naive.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if first <= second:
        return second if last else first
    return _forward(second, first, zone)


def _forward(before: Millis, after: Millis, zone: tzinfo) -> Millis:
    """Return the moment between two at which the clocks go forward, found by halving."""
    old = reading(before, zone).utcoffset()
    while after - before > 1:
        middle = Millis((before + after) // 2)
        if reading(middle, zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def _millis(aware: datetime) -> Millis:
    return Millis(round(aware.timestamp() * 1000))
