"""Sources and their stored memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.append import Lease
from storage.records.identity import Millis, SourceId
from storage.records.source import FIRST, Source, SourceState, Version, WatchedSource


class Sources(Protocol):
    """The watched sources. Methods ignore recently deleted sources unless they say otherwise."""

    async def add(self, source: Source, state: SourceState, lease: Lease, known: int | None = None) -> None:
        """Add a source with its first state. Raises Duplicate with the existing one if the URL is watched, or if
        another node added the same feed after the change `known`, the last that the caller has seen. None: not checked.
        """

    async def update(
        self,
        source: Source,
        lease: Lease,
        version: Version = FIRST,
        state: SourceState | None = None,
        *,
        before: Source | None,
    ) -> None:
        """Replace a source's settings and give its state this version, so that a harvest under way is refused.

        The state stays except for `state`. An unknown id is ignored. Raises Duplicate. Raises StateMoved if the stored
        record is not `before`, or the stored state not the one that `state` derives from (`since`); None and FIRST
        match any.
        """

    async def delete(self, source: SourceId, lease: Lease, *, before: Source | None = None) -> None:
        """Delete a source and its state; its events stay in the log. `before` as in `update`."""

    async def forget_deleted(self, before: Millis, limit: int) -> int:
        """Erase at most `limit` sources deleted before a moment (`deleted_at`); return how many."""

    async def deleted(self, since: Millis, limit: int) -> Sequence[Source]:
        """Return sources deleted at a moment or later, newest first."""

    async def get(self, source: SourceId, *, deleted: bool = False) -> WatchedSource | None:
        """Return one source. With `deleted`, find only sources that have a `deleted_at`, whose URL is free; without,
        only the others.
        """

    async def by_url(self, url: str) -> Source | None:
        """Return the source of a normalised URL."""

    async def page(self, after: SourceId | None, limit: int) -> Sequence[WatchedSource]:
        """Return sources in id order (at start, all of them, page by page)."""
