"""The decision after an exit: another life after a wait, quarantine, giving up, or the end. Pure.

    exit of a child      permanent   transient   temporary
    returned             again       end         end
    crashed              again       again       end

"Again" costs one restart. After more than `most` of them within `period` seconds, the child is quarantined (if there
are many independent children), or its supervisor gives up (if there are few and they depend on each other). Giving up
in the first case would let one bad child stop all the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from supervision.backoff import Backoff, next_streak, wait_before
from supervision.errors import InvalidSpec


class Restart(Enum):
    """When a child gets another life: after any exit, only after an exception, or never."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    TEMPORARY = "temporary"


AGAIN: dict[tuple[bool, Restart], bool] = {
    # (crashed, kind) -> another life?
    (False, Restart.PERMANENT): True,
    (False, Restart.TRANSIENT): False,
    (False, Restart.TEMPORARY): False,
    (True, Restart.PERMANENT): True,
    (True, Restart.TRANSIENT): True,
    (True, Restart.TEMPORARY): False,
}
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
    lived: float


@dataclass(frozen=True, slots=True)
class Again:
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


@dataclass(frozen=True, slots=True)
class NoMore:
    """This was the child's last life."""


NO_MORE = NoMore()
Decision = Again | Quarantine | GiveUp | NoMore


def decide(
    restart: Restart,
    exit: Exit,
    *,
    backoff: Backoff,
    limit: Limit,
    streak: int,
    recent: tuple[float, ...],
    draw: float,
    probation: bool = False,
) -> Decision:
    """Decide between another life, quarantine, giving up and the end.

    streak: consecutive failures before this one. recent: times of earlier restarts, oldest first, of the child or of
    its whole supervisor, depending on the limit. draw: uniform in [0, 1). probation: this was the first life after a
    quarantine.
    """
    if not AGAIN[exit.crashed, restart]:
        return NO_MORE
    streak = next_streak(backoff, streak, exit.lived)
    recent = (*(at for at in recent if exit.at - at <= limit.period), exit.at)
    relapse = probation and exit.lived < backoff.reset_after
    if len(recent) <= limit.most and not relapse:
        return Again(wait_before(backoff, streak, draw), streak, recent)
    if limit.quarantine is not None:
        return Quarantine(limit.quarantine * (1 + QUARANTINE_JITTER * (2 * draw - 1)), streak)
    return GiveUp(f"needs more than {limit.most} restarts in {limit.period:g} s")
