"""The part of an engine for several nodes: changes by other nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from storage.records.identity import SourceId
from storage.records.source import WatchedSource


class SourceChange(NamedTuple):
    """A source as it is now, without its base; None if deleted. `number`: of its last change."""

    number: int
    source: SourceId
    watched: WatchedSource | None


class Newest(NamedTuple):
    """change: the number of the newest change of a source or its state, 0 before any. tags: how often the defaults of
    tags were changed.
    """

    change: int
    tags: int


class Sharing(Protocol):
    """Changes by other nodes. Numbers of changes rise in the order of commits."""

    async def newest(self) -> Newest:
        """Return the newest numbers in one query; each node asks every second."""

    async def changes(self, after: int, limit: int) -> Sequence[SourceChange]:
        """Return each source changed after a number, in order of its last change."""
