"""The number of sources with each tag, or one below it, updated with each record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from actors.selecting import folders_of
from storage.records.identity import SourceId
from storage.records.source import Source


class TagCounts:
    """How many sources have each tag, and each folder above it (`folders_of`)."""

    def __init__(self) -> None:
        self._tags: dict[SourceId, tuple[str, ...]] = {}
        self._counts = Counter[str]()

    def __repr__(self) -> str:
        return f"<TagCounts of {len(self._counts)} tags>"

    def put(self, source: Source) -> None:
        """Count a source under its current tags."""
        before = self._tags.get(source.id, ())
        if source.tags == before:
            return
        self._take(before)
        self._tags[source.id] = source.tags
        self._counts.update(folders_of(source.tags))

    def drop(self, source: SourceId) -> None:
        self._take(self._tags.pop(source, ()))

    def read(self) -> Mapping[str, int]:
        """Return the counts, without unused tags."""
        return dict(self._counts)

    def _take(self, tags: tuple[str, ...]) -> None:
        for tag in folders_of(tags):
            self._counts[tag] -= 1
            if not self._counts[tag]:
                del self._counts[tag]
