"""The number of sources in each state, kept up to date with each look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from storage.records.identity import SourceId
from storage.records.source import Source, SourceRuntime
from storage.records.source_state import state_of
from storage.records.states import SOURCES, SourceState


class StateCounts:
    """How many sources are in each state. `put` whenever one's memory or record has changed.

    Nothing happens at the moment at which a source becomes overdue, so these are counted by the watchman's rounds.
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
        """Return the counts, worst first. overdue: how many of those that are well otherwise are overdue."""
        counts = {state: self._counts[state] for state in SOURCES}
        for state in ("ok", "new"):
            late = min(overdue, counts[state])
            overdue -= late
            counts[state] -= late
            counts["overdue"] += late
        return counts
