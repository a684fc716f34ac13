"""Random moments."""

from __future__ import annotations

import random

from tests.simulation.program import DAY


def moments(dice: random.Random, per_day: float, begins: float, ends: float) -> list[float]:
    """Draw the moments of a Poisson process."""
    drawn, at = [], begins + dice.expovariate(per_day / DAY)
    while at < ends:
        drawn.append(at)
        at += dice.expovariate(per_day / DAY)
    return drawn
