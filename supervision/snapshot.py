"""A frozen picture of a tree, worst first, made from the supervisors' own records without asking any child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

from supervision.errors import Crash
from supervision.mailbox import MailboxStatistics
from supervision.states import State

SLICE = 10_000
"""Rows read between two checkpoints where a read is sliced: a few milliseconds."""

RawRow = tuple[str, State, float, int, Crash | None, bool, str]
"""A row before it is looked at: plain tuples, because naming fields costs more than reading fifty thousand children."""

_RANK = {State.QUARANTINED: 0, State.BACKOFF: 1, State.STOPPING: 4, State.STARTING: 5, State.ENDED: 6, State.RUNNING: 7}
_ATTENTION = 2
_SLOW = 3


class Row(NamedTuple):
    """One child. since: a moment of Trio's clock. attention: the child's own word that it needs a look."""

    path: str
    state: State
    since: float
    restarts: int
    crash: Crash | None
    attention: bool
    note: str


class StepFigures(NamedTuple):
    """How a task's steps went, in seconds: since its last one began, and its slowest (0 if none was slow)."""

    idle: float
    slowest: float


class StepClock(Protocol):
    """Whoever watches the steps of tasks (the watchdog)."""

    def of(self, path: str) -> StepFigures | None:
        """Return the figures of a task, None when it has made no step yet."""

    def slow(self) -> Mapping[str, float]:
        """Return the slowest step in seconds of each task that ever had a slow one."""


@dataclass(frozen=True, slots=True)
class Status:
    """All that is known of one child, wedged or not.

    awaiting: the innermost await outside Trio, "file:line in function"; empty when it has no task.
    steps: None unless a watchdog runs. mailbox: None unless its spec names one.
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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree at a moment of Trio's clock, worst first: quarantined, backoff, attention, slow steps, the rest."""

    at: float
    counts: Mapping[State, int]
    raw: tuple[RawRow, ...]

    def page(self, start: int = 0, count: int = 200) -> list[Row]:
        """Return so many rows from a position on."""
        return [Row._make(row) for row in islice(self.raw, start, start + count)]

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[Row]:
        return map(Row._make, self.raw)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in self.counts.items())
        return f"<Snapshot of {len(self.raw)} children: {counts}>"


def picture(slices: Iterable[list[RawRow]], at: float, slow: Mapping[str, float]) -> Snapshot:
    """Return the rows in order. Only the troubled few are sorted; the healthy many stay in their order of start."""
    troubled: list[RawRow] = []
    healthy: list[RawRow] = []
    running = State.RUNNING
    for rows in slices:
        if slow:
            fine = [row[1] is running and not row[5] and row[0] not in slow for row in rows]
        else:
            fine = [row[1] is running and not row[5] for row in rows]
        if all(fine):
            healthy += rows
            continue
        for row, well in zip(rows, fine, strict=True):
            (healthy if well else troubled).append(row)
    troubled.sort(key=lambda row: _badness(row, slow))
    counts = Counter(row[1] for row in troubled)
    counts[running] += len(healthy)
    return Snapshot(at, {state: counts[state] for state in State if counts[state]}, (*troubled, *healthy))


def _badness(row: RawRow, slow: Mapping[str, float]) -> tuple[int, float, int, str]:
    rank, step = _RANK[row[1]], slow.get(row[0], 0.0)
    if row[5]:
        rank = min(rank, _ATTENTION)
    if step:
        rank = min(rank, _SLOW)
    return rank, -step, -row[3], row[0]
