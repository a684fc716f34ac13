"""The cadence: when to look next. Pure.

The sum to be kept small is the lateness of all changes plus the price of all looks. Let `r(t)` be the predicted rate
of changes (`rhythm`), `a` the last look, `b` the next and `c` the one after it. Moving `b` by a moment makes what has
come since `a` that much later, and what comes between `b` and `c` earlier: the best `b` is where both balance,

    changes expected from a to b  =  r(b) * (c - b).

For a steady rate this is the well known `sqrt(2 * price / rate)`, whatever the rate; where the rate moves it looks
soon after a busy hour or a burst, and not in front of one. The wait from `b` to `c` is taken as that of a steady rate
`r(b)`. The price is shared by all sources and holds their looks to a budget (`price`).

Hints of the origin (RFC 9111 max-age, RSS ttl, sy:updatePeriod, skipHours, skipDays) are lower bounds, but none of
them, nor anything else here, asks for more than the ceiling: tens of minutes, never hours. Every wake-up has jitter,
so that sources that were added together drift apart.

Literature: Cho and Garcia-Molina 2003 (why not in proportion to the rate), Azar et al. 2018 and Busa-Fekete et al.
2025 (each source on its own against one price).
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
"""Seconds to the second look at a source of which nothing is known."""
JITTER: Final = 0.05
STRIDE: Final = 0.2
"""The rate ahead is read at steps of this part of the wait so far."""
LULL: Final = 0.01
"""A burst that has sunk to this part of the base is over."""


class Limits(Struct, frozen=True):
    """Seconds. `schedule` is a fixed interval that the user asked for; it replaces the adaptive one. No look that
    nobody asks for is made outside of `hours`.
    """

    floor: float = 60.0
    ceiling: float = 2700.0
    schedule: float | None = None
    hours: QuietHours | None = None


class Hints(Struct, frozen=True):
    """What the origin says about its own pace: seconds, hours 0 to 23 and weekdays 0 (Monday) to 6, both UTC."""

    max_age: float = 0.0
    ttl: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


def interval_of(rhythm: Rhythm, now: float, price: Price, limits: Limits, cost: float = 1.0) -> float:
    """Return the seconds from a look at `now` to the next, between floor and ceiling. cost: of one, in plain looks."""
    if limits.schedule is not None:
        return limits.schedule
    worth = price.weigh(rhythm.rate * DAY) * cost
    return balance(ahead(rhythm, now), worth, limits.floor, limits.ceiling)


def balance(rates: Ahead, worth: float, floor: float, ceiling: float) -> float:
    """Return the wait after which what is expected to have come outweighs what the wait after it will bring."""
    start = rates.since / HOUR - 0.5
    start -= math.floor(start)
    base, quick, slow = rates.base, rates.quick, rates.slow
    age, turns = rates.age, rates.turns
    bursts = quick + slow > LULL * base[1]
    wait, step, expected, outweighs = 0.0, floor, 0.0, -1.0
    while wait < ceiling:
        # The rate in the middle of a step stands for all of it.
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
            # In between: where a straight line from the step before crosses zero.
            return wait if wait <= floor else wait - step * outweighs / (outweighs - before)
        step = min(STRIDE * wait, ceiling - wait)
    return ceiling


def due_after(now: Millis, interval: float, hints: Hints, limits: Limits, draw: float) -> Millis:
    """Return when the next look is due. `draw` is in [0, 1) and becomes the jitter."""
    sway = 1 + JITTER * (2 * draw - 1)
    if limits.schedule is not None:
        return Millis(now + round(limits.schedule * sway * 1000))
    wait = min(limits.ceiling, max(interval, hints.max_age, hints.ttl)) * sway
    # At either end the jitter folds back: politeness and promise are not to be broken by chance.
    wait = wait if wait >= limits.floor else 2 * limits.floor - wait
    wait = wait if wait <= limits.ceiling else 2 * limits.ceiling - wait
    due = Millis(now + round(wait * 1000))
    if _skipped(due, hints):
        # Even a skipped hour is looked at once per ceiling: many feeds carry a skipHours nobody remembers.
        due = Millis(now + round(limits.ceiling * (1 - JITTER * draw) * 1000))
    return due


def _skipped(at: Millis, hints: Hints) -> bool:
    if not hints.skip_hours and not hints.skip_days:
        return False
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.hour in hints.skip_hours or moment.weekday() in hints.skip_days
