"""Sources and what is remembered of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.append import Lease
from storage.records.identity import Millis, SourceId
from storage.records.source import FIRST, Source, SourceState, Version, WatchedSource


class Sources(Protocol):
    """The watched sources. Of those that were deleted and rest, no method knows that does not say so."""

    async def add(self, source: Source, state: SourceState, lease: Lease) -> None:
        """Add a source with its first state. Raises Duplicate with the existing one when the URL is watched."""

    async def update(
        self,
        source: Source,
        lease: Lease,
        version: Version = FIRST,
        state: SourceState | None = None,
        *,
        before: Source | None,
    ) -> None:
        """Replace what the user asked for, and give its state this version: a harvest that is under way is refused.

        Its state stays, but for what is given. An unknown id is ignored. Raises Duplicate, and StateMoved when the
        stored record is not `before`, or the stored state not the one that `state` says it came from (`since`); None
        and FIRST are whatever is stored.
        """

    async def delete(self, source: SourceId, lease: Lease, *, before: Source | None = None) -> None:
        """Forget a source and its state; its events stay in the log. `before` as in `update`."""

    async def forget_deleted(self, before: Millis, limit: int) -> int:
        """Forget at most `limit` sources that were deleted before a moment (`deleted_at`); return how many went."""

    async def deleted(self, since: Millis, limit: int) -> Sequence[Source]:
        """Return sources that were deleted at a moment or later, the newest first."""

    async def get(self, source: SourceId, *, deleted: bool = False) -> WatchedSource | None:
        """Return one source. One that has a `deleted_at` is there only for who asks for a deleted one, as the others
        are not; its URL is free.
        """

    async def by_url(self, url: str) -> Source | None:
        """Return the source of a normalised URL."""

    async def page(self, after: SourceId | None, limit: int) -> Sequence[WatchedSource]:
        """Return sources in id order (at start, all of them, page by page)."""
