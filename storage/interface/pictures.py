"""The store of screenshots of rendered pages."""

from __future__ import annotations

from typing import Protocol

from storage.records.identity import Millis, Seq, SourceId
from storage.records.picture import KeptPicture, Picture


class Pictures(Protocol):
    """Screenshots of sources. Harvests bring them (`EventLog.append`); they are deleted with their source."""

    async def newest(self, source: SourceId) -> KeptPicture | None:
        """Return a source's newest picture without its bytes."""

    async def around(self, source: SourceId, seq: Seq) -> tuple[KeptPicture | None, KeptPicture | None]:
        """Return the newest picture before an event, and the event's own."""

    async def get(self, source: SourceId, seq: Seq) -> Picture | None:
        """Return the picture of an event; with 0, that of the first check."""

    async def prune(self, before: Millis, floor: Seq, room: int, limit: int) -> int:
        """Delete at most `limit` pictures: those taken before a moment, those of events up to `floor`, and the oldest
        while all together weigh more than `room` bytes. Return how many.
        """
