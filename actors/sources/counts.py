"""The numbers of sources in each state and with each tag, kept with every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from actors.messages.selection import folders_of
from storage.records.identity import SourceId
from storage.records.source import Source, SourceRuntime, state_of
from storage.records.states import SOURCES, SourceState


class StateCounts:
    """How many sources are in each state. Call `put` whenever a memory or record has changed.

    A source becomes overdue without any event, so the rounds of the overdue monitor count these.
    """

    def __init__(self) -> None:
        self._states: dict[SourceId, SourceState] = {}
        self._counts = Counter[SourceState]()

    def __repr__(self) -> str:
        return f"<StateCounts {dict(self._counts)}>"

    def put(self, source: Source, hot: SourceRuntime) -> None:
        state, before = state_of(source, hot, overdue=False), self._states.get(source.id)
        if state != before:
            self._states[source.id] = state
            self._counts[state] += 1
            if before is not None:
                self._counts[before] -= 1

    def drop(self, source: SourceId) -> None:
        state = self._states.pop(source, None)
        if state is not None:
            self._counts[state] -= 1

    def read(self, overdue: int) -> Mapping[SourceState, int]:
        """Return the counts, worst first. overdue: how many otherwise healthy sources are overdue."""
        counts = {state: self._counts[state] for state in SOURCES}
        for state in ("ok", "new"):
            late = min(overdue, counts[state])
            overdue -= late
            counts[state] -= late
            counts["overdue"] += late
        return counts


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
