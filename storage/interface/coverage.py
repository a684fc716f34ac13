"""Coverage: the stored past days of checks, and the shifts of the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.coverage import Shift
from storage.records.identity import Millis, SourceId
from storage.records.tally import Day


class Coverage(Protocol):
    """Days of checks, and shifts. Every write raises the same errors as a write to the log."""

    async def begin(self, node: str, now: Millis) -> Shift:
        """Begin and return a node's shift, with the reason for it."""

    async def step(self, before: Shift, after: Shift) -> Shift:
        """End a shift and begin the next, in one transaction; return the next with its number."""

    async def save(self, shift: Shift) -> None:
        """Store up to when a shift's checks are saved, and its end. Does nothing if the shift was dropped."""

    async def shifts(self) -> Sequence[Shift]:
        """Return all shifts in order of number."""

    async def keep(self, days: Sequence[tuple[SourceId, Day]]) -> None:
        """Store past days of sources in one transaction. Idempotent, also for a day that has grown. Skips unknown
        sources.
        """

    async def days(self, source: SourceId, first: int, last: int) -> Sequence[Day]:
        """Return the stored days of a source between two days, both included."""

    async def forget(self, before: int, limit: int) -> int:
        """Delete days before one and let the shifts' record begin there; return how many."""
