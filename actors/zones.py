"""Time zones, and local times of a moment. Pure.

Clock changes make some local times impossible and others ambiguous. `moment` resolves both: a skipped time means the
moment of the change; a repeated one means its first occurrence, or its last on request.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from storage.records.identity import Millis


def zone_of(name: str) -> tzinfo:
    """Return a time zone; UTC for one that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        return UTC


def reading(at: Millis, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(at / 1000, zone)


def moment(naive: datetime, zone: tzinfo, *, last: bool = False) -> Millis:
    """Return the moment of a local time; see the preface."""
    first, second = (_millis(naive.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if first <= second:
        return second if last else first
    return _forward(second, first, zone)


def _forward(before: Millis, after: Millis, zone: tzinfo) -> Millis:
    """Return the moment between two when the clocks go forward, by bisection."""
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
