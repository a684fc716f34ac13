"""The wait before the next life: exponential, capped, with equal jitter. Pure.

The wait is drawn from the upper half of the step, `uniform(0.5, 1) * min(ceiling, first * 2^(streak-1))`: enough spread
that children which died together do not restart together, and never so short that the step is pointless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_MOST_DOUBLINGS = 64
"""With more doublings every ceiling is reached; this many stay far from the largest float."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """A rule for waits, in seconds. A child that lived `reset_after` seconds starts again at the first step."""

    first: float = 1.0
    ceiling: float = 60.0
    reset_after: float = 120.0

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.ceiling < math.inf:
            raise ValueError(f"backoff needs 0 <= first <= ceiling < inf, not {self.first:g} and {self.ceiling:g}")
        if not self.reset_after > 0:
            raise ValueError(f"backoff needs reset_after > 0, not {self.reset_after:g}")


def next_streak(rule: Backoff, streak: int, lived: float) -> int:
    """Return the number of consecutive failures, including this one, after a life of `lived` seconds.

    >>> next_streak(Backoff(), 4, lived=3.0), next_streak(Backoff(), 4, lived=120.0)
    (5, 1)
    """
    return 1 if lived >= rule.reset_after else streak + 1


def wait_before(rule: Backoff, streak: int, draw: float) -> float:
    """Return the seconds to wait after the `streak`-th consecutive failure; `draw` is uniform in [0, 1).

    >>> [wait_before(Backoff(), streak, 0.0) for streak in (1, 2, 3, 99)]
    [0.5, 1.0, 2.0, 30.0]
    """
    step: float = min(rule.ceiling, rule.first * 2.0 ** min(streak - 1, _MOST_DOUBLINGS))
    return (0.5 + 0.5 * draw) * step
