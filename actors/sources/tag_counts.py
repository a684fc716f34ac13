"""The number of sources that have each tag, or one below it, kept up to date with each change of a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from actors.selecting import folders_of
from storage.records.identity import SourceId
from storage.records.source import Source


class TagCounts:
    """How many sources have each tag, and each of the folders above it (`folders_of`)."""

    def __init__(self) -> None:
        self._tags: dict[SourceId, tuple[str, ...]] = {}
        self._counts = Counter[str]()

    def __repr__(self) -> str:
        return f"<TagCounts of {len(self._counts)} tags>"

    def put(self, source: Source) -> None:
        """Count a source by the tags that it has now."""
        before = self._tags.get(source.id, ())
        if source.tags == before:
            return
        self._take(before)
        self._tags[source.id] = source.tags
        self._counts.update(folders_of(source.tags))

    def drop(self, source: SourceId) -> None:
        self._take(self._tags.pop(source, ()))

    def read(self) -> Mapping[str, int]:
        """Return the counts; of no tag that no source has."""
        return dict(self._counts)

    def _take(self, tags: tuple[str, ...]) -> None:
        for tag in folders_of(tags):
            self._counts[tag] -= 1
            if not self._counts[tag]:
                del self._counts[tag]
