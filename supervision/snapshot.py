"""A frozen snapshot of a tree, worst first, made from the supervisors' records without asking any child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from supervision.errors import Crash
from supervision.mailbox import MailboxStatistics
from supervision.states import State

SLICE = 10_000
"""Children read between two checkpoints of a sliced read: a few milliseconds."""

_RANK = {State.QUARANTINED: 0, State.BACKOFF: 1, State.STOPPING: 4, State.STARTING: 5, State.ENDED: 6, State.RUNNING: 7}
_ATTENTION = 2
_SLOW = 3
_LAST = 9


class Row(NamedTuple):
    """One child. since: by Trio's clock. attention: the child asks for a person's attention."""

    path: str
    state: State
    since: float
    restarts: int
    crash: Crash | None
    attention: bool
    note: str


class StepFigures(NamedTuple):
    """The steps of a task, in seconds: time since its last one began, and its slowest (0 if none was slow)."""

    idle: float
    slowest: float


class StepClock(Protocol):
    """The watchdog, which measures the steps of tasks."""

    def of(self, path: str) -> StepFigures | None:
        """Return the figures of a task, None if it has made no step yet."""

    def slow(self) -> Mapping[str, float]:
        """Return the slowest step in seconds of each task that ever had a slow one."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status of one child, even of one that hangs.

    awaiting: the innermost await outside Trio, "file:line in function"; empty if it has no task. steps: None unless a
    watchdog runs. mailbox: None unless its spec names one.
    """

    path: str
    state: State
    since: float
    restarts: int
    crash: Crash | None
    attention: bool
    note: str
    awaiting: str
    mailbox: MailboxStatistics | None
    steps: StepFigures | None


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """The tree at a moment of Trio's clock, worst first: quarantined, backoff, attention, slow steps, the rest.

    It is stored as columns, and rows are made only for the requested page: fifty thousand tuples would make the garbage
    collector scan the whole heap, at several times the cost of reading the children.
    """

    at: float
    counts: Mapping[State, int]
    columns: tuple[Sequence[Any], ...]
    order: Sequence[int]

    def page(self, start: int = 0, count: int = 200) -> list[Row]:
        """Return `count` rows from an index on."""
        return [self._row(index) for index in self.order[start : start + count]]

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, self.order)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in self.counts.items())
        return f"<Snapshot of {len(self)} children: {counts}>"

    def _row(self, index: int) -> Row:
        return Row._make(column[index] for column in self.columns)


class Visible(Protocol):
    """The part of a child that a snapshot reads."""

    path: str
    state: State
    since: float
    restarts: int
    crash: Crash | None
    attention: bool
    remark: str


class Picture:
    """A snapshot under construction: `add` children, any number at a time, then `finish`."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._states: list[State] = []
        self._since: list[float] = []
        self._restarts: list[int] = []
        self._crashes: list[Crash | None] = []
        self._attention: list[bool] = []
        self._notes: list[str] = []

    def add(self, children: Sequence[Visible]) -> None:
        """Read the records of some children, once each, since memory access takes most of the time."""
        paths, states, since, restarts = self._paths, self._states, self._since, self._restarts
        crashes, attention, notes = self._crashes, self._attention, self._notes
        for child in children:
            paths.append(child.path)
            states.append(child.state)
            since.append(child.since)
            restarts.append(child.restarts)
            crashes.append(child.crash)
            attention.append(child.attention)
            notes.append(child.remark)

    def finish(self, at: float, slow: Mapping[str, float]) -> Snapshot:
        """Return the snapshot. Only the troubled few are sorted; the healthy many keep their order of start."""
        paths, states, restarts, attention = self._paths, self._states, self._restarts, self._attention
        running = State.RUNNING
        troubled = [n for n, state in enumerate(states) if state is not running or attention[n]]
        if slow:
            known = set(troubled)
            troubled += [n for n, path in enumerate(paths) if path in slow and n not in known]
        counts = Counter(states[n] for n in troubled)
        counts[running] += len(states) - len(troubled)

        def badness(n: int) -> tuple[int, float, int, str]:
            step = slow.get(paths[n], 0.0)
            rank = min(_RANK[states[n]], _ATTENTION if attention[n] else _LAST, _SLOW if step else _LAST)
            return rank, -step, -restarts[n], paths[n]

        order: Sequence[int] = range(len(states))
        if troubled:
            known = set(troubled)
            order = (*sorted(troubled, key=badness), *(n for n in order if n not in known))
        columns = (paths, states, self._since, restarts, self._crashes, attention, self._notes)
        return Snapshot(at, {state: counts[state] for state in State if counts[state]}, columns, order)
