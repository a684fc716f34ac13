"""A stream's reader: a filter and a cursor over the log, without a queue.

`take` returns new frames, at most about 64 KiB. A reader that keeps up reads the ring of the tail. One that has fallen
behind the ring, or starts at an old cursor, reads pages from the log until it has caught up. The two join without gap
or duplicate: both answer "after this position", positions have the order of ids, and a position is published only
after everything below it is committed.

A filtered reader's cursor moves over everything it has read, not only what passed, so a rare filter reads nothing
twice.

Search in the text of events, in workers, one piece at a time, so that nothing else waits. Analysing one event of 64
KiB takes up to a quarter of a second. So long texts go to a worker in pieces of about a second's work, and all
searches together use one worker. Short events, such as most live ones, are analysed in the loop, once for all readers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, cast

import msgspec
import trio

from actors.errors import Overloaded
from actors.query import Query, decode_event, matches, parse
from actors.query import Texts as TextsOf
from actors.query.explain import SearchedEvent, SearchRequest, SearchTerm
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow
from api.streams.channels import Channel
from api.streams.sse import Form, frame_of, frames, head_of
from storage.append import Recent
from storage.records.event import EVERYTHING, Filter, Page, Stored
from storage.records.identity import Seq
from storage.records.tiers import Kind
from storage.sql.stores.log import BodyRow, EventLog, Replayed
from storage.tail import Tail

SHORT = 4 << 10  # bytes of events to search in the loop
PIECE = 256 << 10  # bytes of events per worker call
WITHIN = 10.0  # seconds for a worker call
MOST_ASKING = 32  # concurrent answers that search text
_ANALYSES = 256
_QUERIES = 2_000
Groups = tuple[tuple[SearchTerm, ...], ...]  # one term of each group must match


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


SEND_SIZE = 64 << 10  # bytes after which a send is full; an event is never split
PAGE, MOST, FEWEST = 200, 500, 50
"""Events per read of the log: at first, and the bounds of later reads, which adapt to the size of earlier events. A
trip to a reader thread costs as much as 50 small events, and 500 of 64 KiB would be a large heap for one reader."""
PAGE_SIZE = 512 << 10  # the target size of a page in bytes
TURN = 500  # events per checkpoint; a tenth of it if text is matched
_OURS = frozenset({Kind.NOTICE, Kind.HEARTBEAT})
_NONE: frozenset[str] = frozenset()


class FellBehind(Exception):
    """Retention deleted events that the reader had not seen. Its stream ends, and its cursor gets 410 from now on."""


class EventFilter:
    """A reader's filter: the log's filter, tiers of notices, more tags, words, a channel.

    tags: at least one of these must match, in addition to `where`. hides: sources to leave out. Heartbeats pass only if
    `where` or the channel names them.
    """

    __slots__ = (
        *("_channel", "_heartbeats", "_hides", "_tags", "_tiers", "_words"),
        *("everything", "reads_text", "texts", "turn", "where"),
    )

    def __init__(
        self,
        where: Filter = EVERYTHING,
        tiers: Sequence[str] = (),
        words: Sequence[Query] = (),
        texts: Texts | None = None,
        channel: Channel | None = None,
        *,
        tags: Sequence[str] = (),
        hides: Callable[[str], bool] | None = None,
    ) -> None:
        self.where = where
        self._tiers = frozenset(tiers) or _NONE
        self._tags = frozenset(tags) or _NONE
        self._hides = hides
        self._words = tuple(SearchTerm(query.text, query.language, "page") for query in words)
        self.texts = texts or Texts()
        self._channel = channel
        self._heartbeats = channel is not None or Kind.HEARTBEAT in (*where.kinds, *where.also)
        narrowed = tiers or words or channel is not None or tags or hides is not None
        self.everything = where == EVERYTHING and not narrowed
        self.reads_text = bool(words) or channel is not None
        self.turn = TURN // 10 if self.reads_text else TURN

    def portion(self, events: Sequence[Stored]) -> int:
        """Return how many of the first events to filter at once; 0 only if there are none."""
        return portion(events, self.turn) if self.reads_text else min(len(events), self.turn)

    async def sift(self, events: Sequence[Stored]) -> Iterable[bool]:
        """Return whether each event, which has passed `where`, passes; lazily unless text is read, as a reader takes a
        few of many. Pass at most a `portion`. Raises Overloaded.
        """
        if self.everything:
            return (event.kind != Kind.HEARTBEAT for event in events)
        if not self.reads_text:
            return map(self._admits_kind, events)
        return await self.texts.found([(event, self._asks(event)) for event in events])

    async def admits(self, event: Stored) -> bool:
        """Return whether an event passes. Raises Overloaded."""
        return self.where.admits(event) and all(await self.sift((event,)))

    def admits_unread(self, event: Stored) -> bool:
        """Return whether an event passes. Only for filters that read no text."""
        if self.everything:
            return event.kind != Kind.HEARTBEAT
        return self.where.admits(event) and self._admits_kind(event)

    def _admits_kind(self, event: Stored) -> bool:
        if self._hides is not None and self._hides(event.source):
            return False
        if event.kind == Kind.HEARTBEAT:
            return self._heartbeats
        if self._tiers and event.kind == Kind.NOTICE and head_of(event.body).source_type not in self._tiers:
            return False
        return not self._tags or not self._tags.isdisjoint(event.tags)

    def _asks(self, event: Stored) -> Groups | None:
        """Return the words that an event's text must match, () if it passes without; None if it cannot pass."""
        if not self._admits_kind(event):
            return None
        if event.kind == Kind.HEARTBEAT and Kind.HEARTBEAT in self.where.also:
            return ()
        if event.kind in _OURS:  # the service's own notices are never matched by text
            passes = not self._words and (self._channel is None or self._channel.admits_notice(event))
            return () if passes else None
        groups = (self._words,) if self._words else ()
        return groups if self._channel is None else (*groups, self._channel.terms_for(event))


class Piece(NamedTuple):
    """Frames of successive events, for one send. seq: of the last."""

    seq: Seq
    body: bytes


def pieces(rows: Sequence[BodyRow], form: Form) -> list[Piece]:
    made, start, size = list[Piece](), 0, 0
    for end, (seq, body, _codec) in enumerate(rows, 1):
        size += len(body)
        if size >= SEND_SIZE or end == len(rows):
            made.append(Piece(seq, frames([body for _, body, _ in rows[start:end]], form)))
            start, size = end, 0
    return made


class Reader:
    """One client's position in the log."""

    __slots__ = ("_asks", "_filter", "_log", "_page", "_place", "cursor", "form", "replay_from", "sent", "tail")

    def __init__(
        self, log: EventLog, tail: Tail, event_filter: EventFilter, *, cursor: Seq, form: Form, replay_from: str
    ) -> None:
        self._log, self.tail, self._filter = log, tail, event_filter
        self._page: Sequence[Stored] | Sequence[Piece] = []  # oldest last
        self._asks = PAGE
        self._place = cursor
        self.cursor = cursor
        self.form = form
        self.replay_from = replay_from
        self.sent = 0
        """Bytes of frames sent so far."""

    async def take(self) -> bytes:
        """Return the frames of new events that pass, oldest first; b"" if none of the events read did.

        Waits only for the log. If cancelled, nothing has been taken. Raises FellBehind.
        """
        if (taken := self.take_nowait()) is not None:
            return taken
        if not self._page:
            recent = self.tail.since(self.cursor)
            if recent is not None:
                return await self._search_ring(recent)
            await self._read_page()
        return await self._of_page()

    def take_nowait(self) -> bytes | None:
        """Return what `take` would return, or None if that has to wait for the log or for a worker."""
        recent = None if self._page else self.tail.since(self.cursor)
        if recent is None:
            return None
        if self._filter.reads_text and any(self._filter.where.admits(event.stored) for event in recent):
            return None
        return self._of_ring(recent)

    def held(self) -> int:
        return sum([len(event.body) for event in self._page])

    def let_go(self) -> None:
        """Drop the page; read its unread events again later."""
        if self._page:
            self._page, self.cursor = [], self._place

    def at_end(self) -> bool:
        return not self._page and self.cursor >= self.tail.head

    def wait(self) -> Awaitable[object]:
        return self.tail.wait_past(self.cursor)

    def _of_ring(self, recent: Sequence[Recent]) -> bytes:
        if len(recent) == 1 and self._filter.everything and recent[0].stored.kind != Kind.HEARTBEAT:
            self.cursor = recent[0].stored.seq
            return frame_of(recent[0], self.form)
        taken, size = [], 0
        for event in recent[: self._filter.turn]:
            self.cursor = event.stored.seq
            if self._filter.admits_unread(event.stored):
                taken.append(frame_of(event, self.form))
                size += len(taken[-1])
                if size >= SEND_SIZE:
                    break
        return b"".join(taken)

    async def _search_ring(self, recent: Sequence[Recent]) -> bytes:
        some = recent[: self._filter.portion([event.stored for event in recent[: self._filter.turn]])]
        where = self._filter.where
        within = [event for event in some if where.admits(event.stored)]
        verdicts = await self._filter.sift([event.stored for event in within])
        taken, size = [], 0
        for event, passes in zip(within, verdicts, strict=True):
            if passes:
                taken.append(frame_of(event, self.form))
                size += len(taken[-1])
                if size >= SEND_SIZE:
                    self.cursor = event.stored.seq
                    return b"".join(taken)
        self.cursor = some[-1].stored.seq
        return b"".join(taken)

    async def _read_page(self) -> None:
        """Read the next page of the log. If it makes no progress, nothing is left below the head."""
        head = self.tail.head
        page: Page | Replayed[list[Piece]]
        if self._filter.everything:  # nothing to decide for each event, so the read's thread makes the frames
            page = await self._log.replay(self.cursor, self._asks, partial(pieces, form=self.form))
            rows = page.rows
        else:
            page = await self._log.read(self.cursor, self._asks, self._filter.where)
            rows = len(page.events)
        if page.floor > self.cursor:
            raise FellBehind
        self._place = self.cursor
        self.cursor = page.scanned if page.scanned > self.cursor else max(self.cursor, head)
        self._page = page.events[::-1]
        if rows:
            self._asks = max(FEWEST, min(MOST, PAGE_SIZE * rows // self.held()))

    async def _of_page(self) -> bytes:
        if self._page and self._filter.everything:
            self._place, frames_of_some = cast("list[Piece]", self._page).pop()
            return frames_of_some
        page = cast("list[Stored]", self._page)
        some = page[: -self._filter.turn - 1 : -1]
        some = some[: self._filter.portion(some)]
        bodies, size = [], 0
        for event, passes in zip(some, await self._filter.sift(some), strict=True):
            self._place = page.pop().seq
            if passes:
                bodies.append(event.body)
                size += len(event.body)
                if size >= SEND_SIZE:
                    break
        return frames(bodies, self.form)
