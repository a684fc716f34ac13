"""The newest changes of states and the newest log lines, each in a ring with consecutive numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from storage.records.identity import Millis

T = TypeVar("T")
CHANGES, LINES = 1000, 2000


class Ring(Generic[T]):
    """At most `most` items, the oldest go first. Numbers are consecutive, from 1 on."""

    def __init__(self, most: int) -> None:
        self._items: deque[T] = deque(maxlen=most)
        self.last = 0

    def add(self, item: T) -> None:
        self._items.append(item)
        self.last += 1

    def after(self, number: int) -> list[tuple[int, T]]:
        """Return the items after a number, oldest first, with their numbers."""
        first = self.last - len(self._items) + 1
        skip = max(0, number - first + 1)
        return [(first + index, item) for index, item in enumerate(self._items) if index >= skip]

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, slots=True)
class StateTransition:
    """The part of the tree at `path` changed its state; `error` is the first line of its crash, if any."""

    at: Millis
    path: str
    was: str
    now: str
    error: str


Line = Mapping[str, Any]
"""A log line as written: `ts`, `level`, `event`, `actor` if known, and other fields, safe to show."""


class Journal:
    """Both rings. Made before the log, which writes into it."""

    def __init__(self) -> None:
        self.changes: Ring[StateTransition] = Ring(CHANGES)
        self.lines: Ring[Line] = Ring(LINES)

    def lines_of(self, actor: str, after: int, limit: int) -> list[tuple[int, Line]]:
        """Return the newest `limit` lines after a number, of an actor and those below it; "" means all."""
        found = self.lines.after(after)
        if actor:
            found = [one for one in found if f"{one[1].get('actor', '')}/".startswith(f"{actor}/")]
        return found[-limit:]
