"""The number of sources in each state, updated at each check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from storage.records.identity import SourceId
from storage.records.source import Source, SourceRuntime
from storage.records.source_state import state_of
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
