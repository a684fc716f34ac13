"""The budgets of all sources: checks a second and the price of one, and pages of items.

A source is checked when waiting longer would cost more lateness than a check is worth (`cadence`). That worth is one
number for all: the *price*, in event-seconds of lateness, for a source with one change a day. If all sources together
plan more checks a second than the budget, the price rises and every source waits a little longer, those that gain least
first; if they plan fewer, it falls. There is no central queue.

The controller is an integrator on the logarithm of the price. Checks a second scale with `price ** -0.5`, and a source
takes the new price at its next check, a quarter of an hour later on average. `GAIN` is slow enough to avoid oscillation
despite this delay, and quick enough to be back on budget within a few hours; `CheckRate` shows users the time until
then.

`weigh` is the one choice of taste. An event of a source that changes `r` times a day counts `r ** -exponent`: with 0
all events count the same and the mean delay of an event is least; with 1 all sources count the same, busy or quiet. A
check with a browser costs `RENDERED` plain ones. A request is never worth less than `COURTESY`: a source that never
changes backs off to the ceiling, however large the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

SLACK = 1.1  # a tenth over the budget is fine: checks are uneven
LEAST = 0.5  # checks a second that are never too many: a handful in half a minute


@dataclass(frozen=True, slots=True)
class CheckRate:
    """Checks a second in the last half minute; passed: seconds above the budget so far."""

    rate: float = 0.0
    budget: float = 0.0
    passed: float = 0.0

    def text(self) -> str:
        """Return a sentence for people; empty while the budget is kept.

        >>> CheckRate(40.0, 10.0, 240.0).text()
        '40.0 checks per second exceed the budget of 10 (looks_per_second), for 4 min.'
        """
        if not self.passed:
            return ""
        long = f"{self.passed / 60:.0f} min" if self.passed >= 60 else f"{self.passed:.0f} s"
        return (
            f"{self.rate:,.1f} checks per second exceed the budget of {self.budget:g} (looks_per_second), for {long}."
        )


class BudgetMonitor:
    """Compares finished checks with the budget. `now`: seconds of a monotonic clock."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._last: tuple[float, float] | None = None
        self._since: float | None = None

    def update(self, checks: float, now: float) -> CheckRate:
        last, self._last = self._last, (checks, now)
        if last is None or now <= last[1]:
            return CheckRate(0.0, self._budget)
        rate = max(0.0, (checks - last[0]) / (now - last[1]))
        if rate <= max(LEAST, self._budget * SLACK):
            self._since = None
            return CheckRate(rate, self._budget)
        self._since = last[1] if self._since is None else self._since
        return CheckRate(rate, self._budget, now - self._since)


DAY: Final = 86_400.0
COURTESY: Final = 1.2
"""Event-seconds. A check every 90 s for a source with a change an hour, every 8 min for one a day."""
RENDERED: Final = 100  # plain checks that a rendered one costs
GAIN: Final = 1 / 2700.0  # how fast the price follows, 1/s
LOWEST, HIGHEST = 0.01, 1e6
"""Bounds beyond which the price has no effect, so that it can't run away from an unreachable budget."""
LARGEST_ERROR: Final = 1.0  # of the logarithm: adding sources by the thousand does not upset the price


class Price(Struct, frozen=True):
    """The current price of a check, and the exponent of the weight."""

    value: float = COURTESY
    exponent: float = 0.5

    def weigh(self, a_day: float) -> float:
        """Return the worth of a check, in event-seconds, of a source with this many changes a day.

        >>> [round(Price(10.0, exponent).weigh(4.0)) for exponent in (0.0, 0.5, 1.0)]
        [10, 20, 40]
        """
        return max(COURTESY, self.value * math.pow(a_day, self.exponent))


def cost_of(*, rendered: bool) -> int:
    return RENDERED if rendered else 1


def first_guess(sources: float, budget: float, ceiling: float) -> float:
    """Return the price that makes this many sources, with one change a day each, spend `budget` checks a second."""
    interval = min(ceiling, sources / budget)
    return min(HIGHEST, max(LOWEST, interval * interval / (2 * DAY)))


def adjusted_price(value: float, planned: float, budget: float, seconds: float) -> float:
    """Return the price after `seconds` during which all sources together planned `planned` checks a second.

    >>> [round(adjusted_price(4.0, planned, 10.0, 60.0), 2) for planned in (10.0, 20.0, 0.0)]
    [4.0, 4.06, 3.91]
    """
    ratio = planned / budget  # 0 also when next to nothing is planned
    error = math.log(ratio) if ratio > 0 else -LARGEST_ERROR
    error = min(LARGEST_ERROR, max(-LARGEST_ERROR, error))
    return min(HIGHEST, max(LOWEST, value * math.exp(GAIN * seconds * error)))


HOUR = 3600.0
BURST = 0.1  # share of an hour's pages that may be fetched at once after a quiet time


class ItemPageBudget:
    """`per_hour` pages an hour. `now`: seconds of a monotonic clock."""

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._capacity = max(1.0, BURST * per_hour)
        self._tokens = self._capacity
        self._updated_at: float | None = None

    def take(self, now: float) -> float:
        """Take one page and return 0; or take none and return the seconds until there is one."""
        if self._updated_at is not None:
            self._tokens = min(self._capacity, self._tokens + (now - self._updated_at) * self._per_hour / HOUR)
        self._updated_at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) * HOUR / self._per_hour
