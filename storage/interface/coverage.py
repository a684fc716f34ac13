"""Coverage: the days of looks that sources have put away, and the shifts of the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.identity import Millis, SourceId
from storage.records.shift import Shift
from storage.records.tally import Day


class Coverage(Protocol):
    """Days of looks and shifts. Every write raises what a write of the log raises."""

    async def begin(self, node: str, now: Millis) -> Shift:
        """Begin a shift of a node and return it: it says what was before."""

    async def step(self, before: Shift, after: Shift) -> Shift:
        """End a shift and begin the next, in one transaction; return that with its number."""

    async def save(self, shift: Shift) -> None:
        """Store how far a shift's looks are stored, and its end. One that is kept no longer is skipped."""

    async def shifts(self) -> Sequence[Shift]:
        """Return all shifts in the order of their numbers."""

    async def keep(self, days: Sequence[tuple[SourceId, Day]]) -> None:
        """Put days of sources away, in one transaction. Doing it again, or with a day that has grown, changes nothing
        else. An unknown source is skipped.
        """

    async def days(self, source: SourceId, first: int, last: int) -> Sequence[Day]:
        """Return the days of a source that were put away, from one number to another, both included."""

    async def forget(self, before: int, limit: int) -> int:
        """Delete days before one, and say in the shifts that the record begins with it; return how many went."""
