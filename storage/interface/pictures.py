"""The store of pictures of rendered pages."""

from __future__ import annotations

from typing import Protocol

from storage.records.identity import Millis, Seq, SourceId
from storage.records.picture import KeptPicture, Picture


class Pictures(Protocol):
    """Pictures of sources. They come with harvests (`EventLog.append`), and go with their source."""

    async def newest(self, source: SourceId) -> KeptPicture | None:
        """Return what there is of a source's newest picture."""

    async def around(self, source: SourceId, seq: Seq) -> tuple[KeptPicture | None, KeptPicture | None]:
        """Return the newest picture of before an event, and the one of the event itself."""

    async def get(self, source: SourceId, seq: Seq) -> Picture | None:
        """Return the picture of an event, or with 0 that of the first look."""

    async def prune(self, before: Millis, floor: Seq, room: int, limit: int) -> int:
        """Delete pictures taken before a moment, those of events up to `floor`, and while all of them weigh more than
        `room` bytes the oldest; at most `limit`. Return how many went.
        """
