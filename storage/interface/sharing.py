"""The part of an engine that several nodes share: what the others have written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from storage.records.identity import SourceId
from storage.records.source import WatchedSource


class SourceChange(NamedTuple):
    """A source as it is now without its base, None when it is gone. `number`: that of its last change."""

    number: int
    source: SourceId
    watched: WatchedSource | None


class Newest(NamedTuple):
    """How far all is: the number of the newest change of a source or its state, 0 before any; and how often the
    defaults of tags were changed.
    """

    change: int
    tags: int


class Sharing(Protocol):
    """See above. Numbers of changes rise in the order of commits."""

    async def newest(self) -> Newest:
        """Return how far all is, in one reading: each node asks each second."""

    async def changes(self, after: int, limit: int) -> Sequence[SourceChange]:
        """Return each source that has changed after a number, by its last change; oldest first."""
