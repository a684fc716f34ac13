"""The common part of the supervisors: their place in a tree, and the status of a child, from the supervisors' records
and the tasks themselves, without asking any child.

The states of a child, and the notices of their changes, which no broken listener can harm.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import trio

from supervision.errors import Crash, NoSuchChild, Stopping, describe
from supervision.mailbox import MailboxStatistics
from supervision.policy import Exit

if TYPE_CHECKING:
    from supervision.child import Child


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


class Tree:
    """A supervisor as its children, and the supervisor above it, see it."""

    def __init__(
        self, name: str, chance: random.Random, on_change: Callable[[StateChange], None] | None, steps: StepClock | None
    ) -> None:
        self.name = self.path = name
        self.listener = ChangeListener(on_change)
        self.steps, self._chance = steps, chance
        self._nursery: trio.Nursery | None = None
        self._stop_requested = False

    def stop(self, *, now: bool = False) -> None:
        """Stop in order; `now` skips the time for polite ends."""
        raise NotImplementedError

    def find(self, path: str) -> Child | None:
        """Return the child with this full path, at any depth; None if there is none."""
        raise NotImplementedError

    def after(self, child: Child, exit: Exit) -> float | None:
        """Return the seconds to rest before a child's next life; None if there is none in this task."""
        raise NotImplementedError

    def ended(self, child: Child) -> None:
        raise NotImplementedError

    def changed(self, child: Child, old: State) -> None:
        if self.listener.listener is not None:
            self.listener.notify(child.change_from(old))

    def status(self, path: str) -> Status:
        """Return the status of a child, by its full path or its path below this. Raises NoSuchChild."""
        child = self.find(path) or self.find(f"{self.path}/{path}")
        if child is None:
            raise NoSuchChild(path)
        record = (child.path, child.state, child.since, child.restarts, child.crash, child.note_text)
        awaiting = _awaiting(child.task) if child.task is not None else ""
        mailbox = child.spec.mailbox.statistics() if child.spec.mailbox is not None else None
        return Status(*record, awaiting, mailbox, self.steps.of(child.path) if self.steps is not None else None)

    def _join(self, child: Child | None) -> None:
        """Take a place below another supervisor, whose listener and steps are used unless there are own ones."""
        if self._nursery is not None:
            raise RuntimeError(f"supervisor {self.path} is running already")
        if child is not None:
            self.path = child.path
            child.subtree = self
            if self.listener.listener is None:
                self.listener = child.owner.listener
            if self.steps is None:
                self.steps = child.owner.steps

    def _running(self) -> trio.Nursery:
        if self._nursery is None or self._stop_requested:
            raise Stopping(f"{self.path} is {'stopping' if self._stop_requested else 'not running'}")
        return self._nursery

    def __repr__(self) -> str:
        state = "idle" if self._nursery is None else "stopping" if self._stop_requested else "running"
        return f"<{type(self).__name__} {self.path} {state}, {self._count()}>"

    def _count(self) -> str:
        raise NotImplementedError


def _awaiting(task: trio.lowlevel.Task) -> str:
    """Return the innermost await outside Trio; for a task with a nursery, the place where it waits for that."""
    place = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if not str(frame.f_globals.get("__name__", "")).startswith("trio."):
            place = f"{code.co_filename.rpartition('/')[2]}:{line} in {code.co_name}"
    return place
