"""The storm alarm: so many children are in trouble that the cause is probably outside them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST = 20
RAISED_AT = 0.30
OVER_BELOW = 0.15
"""Half of RAISED_AT, so that a share that swings around the threshold raises one alarm, not many."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """At the moment `at`, `troubled` of `total` children are in backoff or quarantine."""

    path: str
    at: float
    troubled: int
    total: int

    def __str__(self) -> str:
        return f"{self.path}: {self.troubled} of {self.total} children are in trouble"


def is_alarming(raised: bool, troubled: int, total: int) -> bool:
    """Return whether the alarm is up; `raised`: it was up before.

    >>> is_alarming(False, 6, 20), is_alarming(False, 6, 19), is_alarming(True, 4, 20), is_alarming(True, 2, 20)
    (True, False, True, False)
    """
    if raised:
        return troubled >= OVER_BELOW * total and troubled > 0
    return total >= FEWEST and troubled >= RAISED_AT * total
