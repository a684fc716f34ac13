"""The cadence: the time of the next check. Pure.

The goal is a small sum of the lateness of all changes plus the price of all checks. Let `r(t)` be the predicted rate of
changes (`change_rate`), `a` the last check, `b` the next and `c` the one after it. Delaying `b` by a moment reports the
changes since `a` that much later, and those between `b` and `c` earlier. The best `b` balances both:

    changes expected from a to b  =  r(b) * (c - b).

For a steady rate this is the well-known `sqrt(2 * price / rate)`. For a varying rate it checks soon after a busy hour
or a burst, and not before one. The wait from `b` to `c` is taken as that of a steady rate `r(b)`. All sources share the
price, which holds their checks to a budget (`look_price`).

Hints of the origin (RFC 9111 max-age, RSS ttl, sy:updatePeriod, skipHours, skipDays) are lower bounds, but nothing
extends a wait beyond the ceiling: tens of minutes, never hours. Every wait has jitter, so that sources that were added
together drift apart.

Literature: Cho and Garcia-Molina 2003 (why not in proportion to the rate), Azar et al. 2018 and Busa-Fekete et al.
2025 (each source separately against one price).
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from actors.sources.schedule.change_rate import HOUR, QUICK, SLOW, Ahead, Rhythm, age_of, ahead
from actors.sources.schedule.look_price import DAY, Price
from storage.records.destination import QuietHours
from storage.records.identity import Millis

START_INTERVAL: Final = 120.0
"""Seconds to the second check of a new source."""
JITTER: Final = 0.05
STRIDE: Final = 0.2
"""The step, relative to the wait so far, for reading the rate ahead."""
LULL: Final = 0.01
"""A burst below this share of the base is over."""


class Limits(Struct, frozen=True):
    """Seconds. `schedule` is a fixed interval that the user chose; it replaces the adaptive one. Unrequested checks
    are only made within `hours`.
    """

    floor: float = 60.0
    ceiling: float = 2700.0
    schedule: float | None = None
    hours: QuietHours | None = None


class Hints(Struct, frozen=True):
    """The origin's hints on its own pace: seconds, hours 0 to 23 and weekdays 0 (Monday) to 6, both UTC."""

    max_age: float = 0.0
    ttl: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


def interval_of(rhythm: Rhythm, now: float, price: Price, limits: Limits, cost: float = 1.0) -> float:
    """Return the seconds from a check at `now` to the next, between floor and ceiling. cost: in plain checks."""
    if limits.schedule is not None:
        return limits.schedule
    worth = price.weigh(rhythm.rate * DAY) * cost
    return balance(ahead(rhythm, now), worth, limits.floor, limits.ceiling)


def balance(rates: Ahead, worth: float, floor: float, ceiling: float) -> float:
    """Return the wait after which the expected changes outweigh those of the following wait."""
    start = rates.since / HOUR - 0.5
    start -= math.floor(start)
    base, quick, slow = rates.base, rates.quick, rates.slow
    age, turns = rates.age, rates.turns
    bursts = quick + slow > LULL * base[1]
    wait, step, expected, outweighs = 0.0, floor, 0.0, -1.0
    while wait < ceiling:
        # Use the rate in the middle of a step for all of it.
        middle = wait + step / 2
        place = start + middle / HOUR
        hour = int(place)
        rate = base[hour] + (base[hour + 1] - base[hour]) * (place - hour)
        if bursts:
            rate += quick * math.exp(-middle / QUICK) + slow * math.exp(-middle / SLOW)
        if turns:
            rate *= turns[age_of(age + middle)]
        expected += rate * step
        wait += step
        before = outweighs
        outweighs = expected - rate * min(ceiling, max(floor, math.sqrt(2 * worth / rate)))
        if outweighs >= 0:
            # Interpolate: where a straight line from the previous step crosses zero.
            return wait if wait <= floor else wait - step * outweighs / (outweighs - before)
        step = min(STRIDE * wait, ceiling - wait)
    return ceiling


def due_after(now: Millis, interval: float, hints: Hints, limits: Limits, draw: float) -> Millis:
    """Return when the next check is due. `draw` is in [0, 1) and becomes the jitter."""
    sway = 1 + JITTER * (2 * draw - 1)
    if limits.schedule is not None:
        return Millis(now + round(limits.schedule * sway * 1000))
    wait = min(limits.ceiling, max(interval, hints.max_age, hints.ttl)) * sway
    # Jitter folds back at either end: chance must break neither politeness nor promise.
    wait = wait if wait >= limits.floor else 2 * limits.floor - wait
    wait = wait if wait <= limits.ceiling else 2 * limits.ceiling - wait
    due = Millis(now + round(wait * 1000))
    if _skipped(due, hints):
        # Check even skipped hours once per ceiling: many feeds have a forgotten skipHours.
        due = Millis(now + round(limits.ceiling * (1 - JITTER * draw) * 1000))
    return due


def _skipped(at: Millis, hints: Hints) -> bool:
    if not hints.skip_hours and not hints.skip_days:
        return False
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.hour in hints.skip_hours or moment.weekday() in hints.skip_days
