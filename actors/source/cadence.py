"""When to look next. Pure.

Additive-increase, multiplicative-decrease on the interval: a look that found something halves it, one that did not
stretches it. Hints of the origin (RFC 9111 max-age, RSS ttl, sy:updatePeriod, skipHours, skipDays) are lower bounds,
but none of them, nor anything else here, asks for more than the ceiling: tens of minutes, never hours. Every wake-up
has jitter, so that sources that were added together drift apart.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from storage.records.identity import Millis

START_INTERVAL = 120.0
QUICKEN = 0.5
STRETCH = 1.25
JITTER = 0.05


class Limits(Struct, frozen=True):
    """Seconds. `schedule` is a fixed interval that the user asked for; it replaces the adaptive one."""

    floor: float = 60.0
    ceiling: float = 2700.0
    schedule: float | None = None


class Hints(Struct, frozen=True):
    """What the origin says about its own pace: seconds, hours 0 to 23 and weekdays 0 (Monday) to 6, both UTC."""

    max_age: float = 0.0
    ttl: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


def next_interval(interval: float, changed: bool, limits: Limits) -> float:
    """Return the interval after a look, in seconds between floor and ceiling.

    >>> next_interval(300.0, True, Limits()), next_interval(300.0, False, Limits())
    (150.0, 375.0)
    """
    if limits.schedule is not None:
        return limits.schedule
    return min(limits.ceiling, max(limits.floor, interval * (QUICKEN if changed else STRETCH)))


def due_after(now: Millis, interval: float, hints: Hints, limits: Limits, draw: float) -> Millis:
    """Return when the next look is due. `draw` is in [0, 1) and becomes the jitter."""
    wait = interval
    if limits.schedule is None:
        wait = min(limits.ceiling, max(interval, hints.max_age, hints.ttl))
    wait *= 1 + JITTER * (2 * draw - 1)
    due = Millis(now + round(wait * 1000))
    if limits.schedule is None and _skipped(due, hints):
        # Even a skipped hour is looked at once per ceiling: many feeds carry a skipHours nobody remembers.
        due = Millis(now + round(limits.ceiling * (1 - JITTER * draw) * 1000))
    return due


def _skipped(at: Millis, hints: Hints) -> bool:
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.hour in hints.skip_hours or moment.weekday() in hints.skip_days
