"""The states of a child, and the notices of their changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from supervision.errors import Crash


class State(StrEnum):
    """Where a child is in its life.

    starting: running, but not yet ready. running. backoff: waits for its next life. quarantined: waits long,
    after too many crashes. stopping: was asked to end. ended: has no task any more.
    """

    STARTING = "starting"
    RUNNING = "running"
    BACKOFF = "backoff"
    QUARANTINED = "quarantined"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Change:
    """A child went from one state to another, at a moment of Trio's clock; `crash` is its last one, if any."""

    path: str
    old: State
    new: State
    at: float
    restarts: int
    crash: Crash | None

    def __str__(self) -> str:
        why = f" ({self.crash})" if self.crash is not None else ""
        return f"{self.path}: {self.old} -> {self.new}{why}"


@dataclass(frozen=True, slots=True)
class End:
    """A child has ended for good. `crash` is how its last life ended, None for a return or a stop without a fault."""

    path: str
    at: float
    restarts: int
    crash: Crash | None
    stopped: bool
    """Whether it was asked to stop, rather than having ended by itself."""
