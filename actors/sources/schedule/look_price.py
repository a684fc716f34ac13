"""The price of one look, the same for all sources, and the controller that moves it. Pure.

A source looks when waiting any longer would cost more lateness than a look is worth (`cadence`). How much that is, is
one number for all: the *price*, in event-seconds of lateness, for a source with one change a day. When all sources
together plan more looks a second than the budget, the price rises and every one of them waits a little longer, those
that gain least first; when they plan fewer, it falls. Nobody hands out turns.

The controller is an integrator on the logarithm of the price. Looks a second go with `price ** -0.5`, and a source
takes the new price at its next look, a quarter of an hour later on average; `GAIN` is slow enough that this delay
leads to no swinging, and quick enough to be back on budget within a few hours.

`weigh` is the one choice of taste. An event of a source that changes `r` times a day counts `r ** -exponent`: with 0
all events count the same and the mean delay of an event is least; with 1 all sources count the same, busy or quiet.

A look for which a browser shows the page costs `RENDERED` plain ones: it asks for all that the page loads. It must be
worth that much more, and counts for that much of the budget.

A request is never worth less than `COURTESY`: however few sources there are and however much is left of the budget,
nobody's server is asked for nothing. It is what lets a source that never changes back off to the ceiling.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

DAY: Final = 86_400.0
COURTESY: Final = 1.2
"""Event-seconds. A look every 90 s where something changes every hour, every 8 min where it does once a day."""
RENDERED: Final = 100
"""Plain looks that a rendered one costs."""
GAIN: Final = 1 / 2700.0
"""How fast the price follows, 1/s."""
LOWEST, HIGHEST = 0.01, 1e6
"""Beyond these the price has no effect: it does not run away while the budget can't be spent, or can't be met."""
LARGEST_ERROR: Final = 1.0
"""Of the logarithm: sources that are added by the thousand do not throw the price."""


class Price(Struct, frozen=True):
    """The price of a look now, and the exponent of the weight."""

    value: float = COURTESY
    exponent: float = 0.5

    def weigh(self, a_day: float) -> float:
        """Return what a look is worth, in event-seconds, at a source that changes so many times a day.

        >>> [round(Price(10.0, exponent).weigh(4.0)) for exponent in (0.0, 0.5, 1.0)]
        [10, 20, 40]
        """
        return max(COURTESY, self.value * math.pow(a_day, self.exponent))


def cost_of(*, rendered: bool) -> int:
    """Return how many plain looks a look costs."""
    return RENDERED if rendered else 1


def first_guess(sources: float, budget: float, ceiling: float) -> float:
    """Return the price at which so many sources with one change a day each would spend `budget` looks a second."""
    interval = min(ceiling, sources / budget)
    return min(HIGHEST, max(LOWEST, interval * interval / (2 * DAY)))


def moved(value: float, planned: float, budget: float, seconds: float) -> float:
    """Return the price after `seconds` in which all sources together have planned `planned` looks a second.

    >>> moved(4.0, 10.0, 10.0, 60.0), moved(4.0, 20.0, 10.0, 60.0) > 4.0, moved(4.0, 0.0, 10.0, 60.0) < 4.0
    (4.0, True, True)
    """
    ratio = planned / budget  # 0 also when next to nothing is planned
    error = math.log(ratio) if ratio > 0 else -LARGEST_ERROR
    error = min(LARGEST_ERROR, max(-LARGEST_ERROR, error))
    return min(HIGHEST, max(LOWEST, value * math.exp(GAIN * seconds * error)))
