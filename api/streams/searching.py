"""Search in the text of events, in workers, one piece at a time, so that nothing else waits.

Analysing one event of 64 KiB takes up to a quarter of a second. So long texts go to a worker in pieces of about a
second's work, and all searches together use one worker. Short events, such as most live ones, are analysed in the loop,
once for all readers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import trio

from actors.errors import Overloaded
from actors.query import Query, decode_event, matches, parse
from actors.query import Texts as TextsOf
from actors.query.explain import SearchedEvent, SearchRequest, SearchTerm
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow
from storage.records.event import Stored
from storage.records.identity import Seq

SHORT = 4 << 10
"""Bytes of events to search in the loop."""
PIECE = 256 << 10
"""Bytes of events per worker call."""
WITHIN = 10.0
"""Seconds for a worker call."""
MOST_ASKING = 32
"""Concurrent answers that search text."""
_ANALYSES = 256
_QUERIES = 2_000
Groups = tuple[tuple[SearchTerm, ...], ...]
"""One term of each group must match."""


def portion(events: Sequence[Stored], most: int) -> int:
    """Return how many of the first events make one piece: at least one, unless there are none."""
    size = 0
    for count, event in enumerate(events[:most]):
        size += len(event.body)
        if count and size > PIECE:
            return count
    return min(len(events), most)


class Texts:
    """The only place that searches text; without a jail, in the loop. longest: the most bytes searched there."""

    def __init__(self, jail: Jail | None = None) -> None:
        self.longest = 0
        self._jail = jail
        self._turn = trio.CapacityLimiter(1)
        self._asking = 0
        self._kept: OrderedDict[Seq, TextsOf] = OrderedDict()
        self._queries: dict[SearchTerm, Query] = {}

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count a searching answer within the block. Raises Overloaded."""
        if self._asking >= MOST_ASKING:
            raise Overloaded(f"{MOST_ASKING} text searches are running, the most at once: retry later", 5)
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    async def found(self, asked: Sequence[tuple[Stored, Groups | None]]) -> Sequence[bool]:
        """Return for each event whether its text matches. Raises Overloaded."""
        verdicts = iter(await self._look([(event, groups) for event, groups in asked if groups and all(groups)]))
        return [groups is not None and all(groups) and (not groups or next(verdicts)) for _, groups in asked]

    async def _look(self, asked: Sequence[tuple[Stored, Groups]]) -> Sequence[bool]:
        size = sum(len(event.body) for event, _ in asked)
        if self._jail is None or size <= SHORT:
            self.longest = max(self.longest, size)
            return [self._has(event, groups) for event, groups in asked]
        terms = {term: None for _, groups in asked for group in groups for term in group}
        places = {term: at for at, term in enumerate(terms)}
        events = tuple(
            SearchedEvent(event.body, tuple(tuple(places[term] for term in group) for group in groups))
            for event, groups in asked
        )
        request = msgspec.msgpack.encode(SearchRequest(tuple(terms), events))
        async with self._turn:
            try:
                # Cancelling a call kills its worker; a disconnect must not cost one each time.
                with trio.move_on_after(WITHIN + 5, shield=True):
                    answer = await self._jail.call("search_events", request, deadline=WITHIN)
            except (WorkerDied, WorkerTooSlow, TaskRefused) as error:
                raise Overloaded(f"the text could not be searched: {error}", 5) from None
        return msgspec.msgpack.decode(answer, type=list[bool])

    def _has(self, event: Stored, groups: Groups) -> bool:
        texts = self._of(event)
        return all(any(matches(self._query(term), texts.of(term.match)) for term in group) for group in groups)

    def _of(self, event: Stored) -> TextsOf:
        found = self._kept.get(event.seq)
        if found is None:
            found = self._kept[event.seq] = TextsOf(decode_event(event.body))
            if len(self._kept) > _ANALYSES:
                self._kept.popitem(last=False)
        return found

    def _query(self, term: SearchTerm) -> Query:
        found = self._queries.get(term)
        if found is None:
            if len(self._queries) >= _QUERIES:
                self._queries.clear()
            found = self._queries[term] = parse(term.query, term.language)
        return found
