"""The states of a child, its status, and the notices of state changes, which no broken listener can harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

from supervision.errors import Crash, describe
from supervision.mailbox import MailboxStatistics


class State(StrEnum):
    """starting: not yet ready. backoff: waits for its next life. quarantined: waits long, after too many crashes.
    stopping: was asked to end. ended: has no task.
    """

    STARTING = "starting"
    RUNNING = "running"
    BACKOFF = "backoff"
    QUARANTINED = "quarantined"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class StateChange:
    """A child changed its state, at a moment of Trio's clock. `crash`: its last one, if any."""

    path: str
    old: State
    new: State
    at: float
    restarts: int
    crash: Crash | None

    def __str__(self) -> str:
        why = f" ({self.crash})" if self.crash is not None else ""
        return f"{self.path}: {self.old} -> {self.new}{why}"


N = TypeVar("N")


class ChangeListener(Generic[N]):
    """Calls a listener, if there is one. Its exceptions are counted and kept here, and do not propagate."""

    __slots__ = ("crash", "failures", "listener")

    def __init__(self, listener: Callable[[N], None] | None) -> None:
        self.listener = listener
        self.failures = 0
        self.crash: Crash | None = None

    def notify(self, event: N) -> None:
        """Pass a notice on. Never raises an Exception, since it is called in a child's task, between its lives."""
        if self.listener is None:
            return
        try:
            self.listener(event)
        except Exception as error:
            self.failures += 1
            self.crash = describe(error)


class StepFigures(NamedTuple):
    """The steps of a task, in seconds: time since its last one began, and its slowest (0 if none was slow)."""

    idle: float
    slowest: float


class StepClock(Protocol):
    """The watchdog, which measures the steps of tasks."""

    def of(self, path: str) -> StepFigures | None: ...


@dataclass(frozen=True, slots=True)
class Status:
    """One child, even one that hangs. awaiting: the innermost await outside Trio, "file:line in function"; "" if it has
    no task. steps: None unless a watchdog runs. mailbox: None unless its spec names one.
    """

    path: str
    state: State
    since: float
    restarts: int
    crash: Crash | None
    note: str
    awaiting: str
    mailbox: MailboxStatistics | None
    steps: StepFigures | None
