"""The sources in list order, worst health first, kept sorted while scores change; and their numbers. Pure.

A cursor has a position and the *version* of the order it refers to; each change of a score makes a new one. A page that
continues from an older, remembered version shows the order as it was then, so a reader of all pages sees every source
once, however many move. After thousands of changes, or a restart, it continues in the current order. A change or a page
costs some microseconds, with 100,000 sources as with ten.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from heapq import merge
from itertools import islice
from typing import Final

from sortedcontainers import SortedList

from actors.messages.views import folders_of
from storage.records.identity import SourceId
from storage.records.source import RANK, SOURCES, Flag, Health, Source, SourceRuntime, SourceStateName, state_of

Order = tuple[int, float, SourceId]  # the sort key: minus the flag's rank, the score, the id

Place = tuple[int, float, str, int]  # the order of the last source shown, and the version of that order

REMEMBERED: Final = 4096


def order_of(source: SourceId, health: Health) -> Order:
    return (-RANK[health.flag], health.score, source)


class Ranking:
    """Ids in order. Written when a score changes, read page by page by the registry."""

    def __init__(self) -> None:
        self._sorted = SortedList()
        self._orders: dict[SourceId, Order] = {}
        self._moves: deque[Order] = deque(maxlen=REMEMBERED)  # each source's previous order; the newest made `version`
        self.version = 0

    def __len__(self) -> int:
        return len(self._orders)

    def put(self, source: SourceId, health: Health) -> None:
        order, before = order_of(source, health), self._orders.get(source)
        if order == before:
            return
        if before is not None:
            self._sorted.remove(before)
            self._moves.append(before)
            self.version += 1
        self._orders[source] = order
        self._sorted.add(order)

    def drop(self, source: SourceId) -> None:
        order = self._orders.pop(source, None)
        if order is not None:
            self._sorted.remove(order)

    def page(
        self, after: Place | None, limit: int, admits: Callable[[SourceId], bool] | None = None, most: int | None = None
    ) -> tuple[list[SourceId], Place | None]:
        """Return the next `limit` admitted ids of at most `most` visited, and the next place; None at the end."""
        known = after is not None and self.version - len(self._moves) <= after[3] <= self.version
        version = after[3] if after is not None and known else self.version
        moved: dict[SourceId, Order] = {}  # since that version, with their order in it
        for order in islice(self._moves, len(self._moves) - (self.version - version), None):
            if order[2] in self._orders:
                moved.setdefault(order[2], order)
        position = None if after is None else (after[0], after[1], SourceId(after[2]))
        theirs = sorted(order for order in moved.values() if position is None or order > position)
        ours = (order for order in self._sorted.irange(position, inclusive=(False, True)) if order[2] not in moved)
        ids: list[SourceId] = []
        end = position
        for visited, order in enumerate(merge(theirs, ours)):
            is_wanted = admits is None or admits(order[2])
            if end is not None and (visited == most or (is_wanted and len(ids) == limit)):
                return ids, (*end, version)
            if is_wanted:
                ids.append(order[2])
            if is_wanted or len(ids) < limit:
                end = order
        return ids, None

    def flag_counts(self) -> dict[Flag, int]:
        flags: list[Flag] = sorted(RANK, key=lambda flag: -RANK[flag])
        ends = [self._sorted.bisect_left((1 - RANK[flag], float("-inf"), "")) for flag in flags]
        return {flag: end - start for flag, start, end in zip(flags, [0, *ends], ends, strict=False)}


class TagCounts:
    """How many sources have each tag, and each folder above it (`folders_of`)."""

    def __init__(self) -> None:
        self._tags: dict[SourceId, tuple[str, ...]] = {}
        self._counts = Counter[str]()

    def drop(self, source: SourceId) -> None:
        self.put(source, ())
        self._tags.pop(source, None)

    def read(self) -> Mapping[str, int]:
        self._counts = +self._counts
        return dict(self._counts)

    def put(self, source: SourceId, tags: tuple[str, ...]) -> None:
        if tags != (before := self._tags.get(source, ())):
            self._tags[source] = tags
            self._counts.subtract(folders_of(before))
            self._counts.update(folders_of(tags))


class StateCounts:
    """How many sources are in each state. Call `put` after each change; the monitor's rounds count overdue ones."""

    def __init__(self) -> None:
        self._states: dict[SourceId, SourceStateName] = {}
        self._counts = Counter[SourceStateName]()

    def put(self, source: Source, hot: SourceRuntime) -> None:
        state = state_of(source, hot, overdue=False)
        if state != self._states.get(source.id):
            self.drop(source.id)
            self._states[source.id] = state
            self._counts[state] += 1

    def drop(self, source: SourceId) -> None:
        if (state := self._states.pop(source, None)) is not None:
            self._counts[state] -= 1

    def read(self, overdue: int) -> Mapping[SourceStateName, int]:
        """Return the counts, worst first. overdue: how many otherwise healthy sources are overdue."""
        counts = {state: self._counts[state] for state in SOURCES}
        for state in ("ok", "new"):
            late = min(overdue, counts[state])
            overdue -= late
            counts[state] -= late
            counts["overdue"] += late
        return counts
