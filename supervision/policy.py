"""The decision after an exit, by a return or a crash: another life after a wait, quarantine, or giving up. Pure.

Another life costs one restart. After more than `most` of them within `period` seconds, the child is quarantined (if
there are many independent children), or its supervisor gives up (if there are few and they depend on each other).
Giving up in the first case would let one bad child stop all the others.

The wait is drawn from the upper half of the step, `uniform(0.5, 1) * min(ceiling, first * 2^(streak-1))`: enough spread
that children which died together do not restart together, and never so short that the step is pointless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from supervision.errors import InvalidSpec

_MOST_DOUBLINGS = 64  # with more doublings every ceiling is reached; this many stay far from the largest float


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


def next_streak(rule: Backoff, streak: int, lifetime: float) -> int:
    """Return the number of consecutive failures, including this one, after a life of `lifetime` seconds.

    >>> next_streak(Backoff(), 4, lifetime=3.0), next_streak(Backoff(), 4, lifetime=120.0)
    (5, 1)
    """
    return 1 if lifetime >= rule.reset_after else streak + 1


def wait_before(rule: Backoff, streak: int, draw: float) -> float:
    """Return the seconds to wait after the `streak`-th consecutive failure; `draw` is uniform in [0, 1).

    >>> [wait_before(Backoff(), streak, 0.0) for streak in (1, 2, 3, 99)]
    [0.5, 1.0, 2.0, 30.0]
    """
    step: float = min(rule.ceiling, rule.first * 2.0 ** min(streak - 1, _MOST_DOUBLINGS))
    return (0.5 + 0.5 * draw) * step


QUARANTINE_JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` restarts within any `period` seconds. quarantine: its seconds, None to escalate instead."""

    most: int
    period: float
    quarantine: float | None = None

    def __post_init__(self) -> None:
        if self.most < 0 or not 0 < self.period < math.inf:
            raise InvalidSpec(f"a limit needs most >= 0 within a finite time, not {self.most} in {self.period:g} s")
        if self.quarantine is not None and not 0 < self.quarantine < math.inf:
            raise InvalidSpec(f"a quarantine is positive and finite, not {self.quarantine:g} s")


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a life: by an exception or a return, when, and after how many seconds."""

    crashed: bool
    at: float
    lifetime: float


@dataclass(frozen=True, slots=True)
class Restart:
    """Another life after `wait` seconds. streak, recent: keep for the next decision."""

    wait: float
    streak: int
    recent: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Another life, after a long wait and on probation: an early crash leads straight back here."""

    wait: float
    streak: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The supervisor ends with this reason, a sentence."""

    reason: str


Decision = Restart | Quarantine | GiveUp


def decide(
    exit: Exit,
    *,
    backoff: Backoff,
    limit: Limit,
    streak: int,
    recent: tuple[float, ...],
    draw: float,
    probation: bool = False,
) -> Decision:
    """Decide between another life, quarantine and giving up. streak: consecutive failures before this one. recent:
    times of earlier restarts, oldest first, of the child or of its whole supervisor. draw: uniform in [0, 1).
    probation: this was the first life after a quarantine.
    """
    streak = next_streak(backoff, streak, exit.lifetime)
    recent = (*(at for at in recent if exit.at - at <= limit.period), exit.at)
    is_relapse = probation and exit.lifetime < backoff.reset_after
    if len(recent) <= limit.most and not is_relapse:
        return Restart(wait_before(backoff, streak, draw), streak, recent)
    if limit.quarantine is not None:
        return Quarantine(limit.quarantine * (1 + QUARANTINE_JITTER * (2 * draw - 1)), streak)
    return GiveUp(f"needs more than {limit.most} restarts in {limit.period:g} s")


LEAST_CHILDREN = 20
ALARM_SHARE = 0.30
ALL_CLEAR_SHARE = 0.15  # half of RAISED_AT, so that a share that swings around the threshold raises one alarm, not many


@dataclass(frozen=True, slots=True)
class Alarm:
    """At the moment `at`, so many of the children are in backoff or quarantine that the cause is probably outside."""

    path: str
    at: float
    troubled: int
    total: int

    def __str__(self) -> str:
        return f"{self.path}: {self.troubled} of {self.total} children are in trouble"


def is_alarming(was_raised: bool, troubled: int, total: int) -> bool:
    """Return whether the alarm is up; `was_raised`: it was up before.

    >>> is_alarming(False, 6, 20), is_alarming(False, 6, 19), is_alarming(True, 4, 20), is_alarming(True, 2, 20)
    (True, False, True, False)
    """
    if was_raised:
        return troubled >= ALL_CLEAR_SHARE * total and troubled > 0
    return total >= LEAST_CHILDREN and troubled >= ALARM_SHARE * total
