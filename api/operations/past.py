"""Windows of the log: query parameters to positions and a filter, and a bounded search between two positions.

History, export and replay share it. Readers of a window must check the log's floor *after* each read: retention runs
concurrently, and deleted events must never look like a quiet period.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import trio

from api.cursors import decode_cursor, encode_cursor
from api.operations.context import OperationContext
from api.operations.filters import MOST_VALUES, event_filter_of
from api.problems import Refusal, invalid
from api.schemas.queries import EventsQuery, ExportQuery
from api.streams.reader import EventFilter
from storage.interface.log import EventLog
from storage.records.event import Stored
from storage.records.identity import START, Seq, seq_at, seq_of
from storage.records.times import parse_rfc3339

AT_ONCE = 200
"""Events per read of the log."""
FEWEST = 16
"""Events in the first read, and while events are long."""
ROUNDS = 25
"""Reads of the log per answer. A rare filter continues with the next page's cursor."""
MOST_BYTES = 1 << 20
"""Bytes of events per page, regardless of its limit; at least one event."""
MOST_TEXT = 4 << 20
"""Bytes of events whose text one answer searches."""
WITHIN = 2.0
"""Seconds after which an answer stops searching."""
END = Seq((1 << 63) - 1)
_LONGEST_VALUE = 500
Wanted = EventsQuery | ExportQuery


EARLIEST = "earliest"
"""The start of the log, as a word in place of an id or time."""
_NOT_BOUND = ("from", "cursor", "limit")
"""Parameters outside a cursor's checksum. The cursor itself holds the window's start, so it also works as `from`."""


class TimeWindow(NamedTuple):
    """Positions after `after` and before `before`."""

    after: Seq
    before: Seq


class Mark(NamedTuple):
    """A cursor's content: the place where its page ended, and the start of its window (-1: the start of the log)."""

    place: int
    after: int


class PastRequest(NamedTuple):
    """A parsed request. began: it named a start. place: the end of the previous page, None for the first page."""

    window: TimeWindow
    began: bool
    place: int | None


class FoundEvents(NamedTuple):
    """Events in the requested order, and the position to continue from (None: the window is exhausted)."""

    events: Sequence[Stored]
    next: Seq | None


def position(text: str, where: str) -> Seq:
    """Return the position of an event id, or the first one of a time. Raises Refusal (400)."""
    try:
        return seq_of(text)
    except ValueError:
        pass
    try:
        return seq_at(parse_rfc3339(text.replace(" ", "+")))  # a plus sign that was not percent-encoded
    except ValueError:
        raise invalid(where, "neither an RFC 3339 time with an offset nor an event id", text) from None


def window_of(query: Wanted) -> TimeWindow:
    """Return the requested window. `from` includes a time but not an event; `to` is exclusive. Raises Refusal."""
    return _window(_after(query.start), query)


def asked_of(query: EventsQuery, target: str) -> PastRequest:
    """Return the window of a page request and the place in it. Raises Refusal (400)."""
    place = None
    try:
        after = _after(query.start)
    except Refusal:
        mark = _mark(query.start or "", target)
        if mark is None:
            says = "neither an RFC 3339 time with an offset nor an event id, nor a next_cursor of these parameters"
            raise invalid("query.from", says, query.start) from None
        after, place = (None if mark.after < 0 else Seq(mark.after)), mark.place
    if query.cursor is not None:
        mark = _mark(query.cursor, target)
        if mark is None or mark.after != (-1 if after is None else after):
            raise invalid("query.cursor", "not a cursor of this list with these parameters", query.cursor)
        place = mark.place
    return PastRequest(_window(after, query), after is not None, place)


def lead_on(asked: PastRequest, position: Seq | None, target: str) -> str | None:
    """Return the cursor that continues from a position, or None at the window's end."""
    if position is None:
        return None
    mark = Mark(position, asked.window.after if asked.began else -1)
    return encode_cursor(mark, target, _NOT_BOUND)


def _after(start: str | None) -> Seq | None:
    """Return the position before a window's start; None for the start of the log. Raises Refusal (400)."""
    if start is None or start == EARLIEST:
        return None
    found = position(start, "query.from")
    return found if names_event(start) else Seq(max(0, found - 1))


def _window(after: Seq | None, query: Wanted) -> TimeWindow:
    start = START if after is None else after
    end = END if query.to is None else position(query.to, "query.to")
    if end < start:
        raise invalid("query.to", "lies before query.from", query.to)
    return TimeWindow(start, end)


def _mark(text: str, target: str) -> Mark | None:
    """Return a cursor's content, or None if it is no cursor of this list with these parameters."""
    try:
        return decode_cursor(text, Mark, target, _NOT_BOUND)
    except Refusal:
        return None


def names_event(text: str) -> bool:
    """Return whether a text is an event's id rather than a time."""
    try:
        seq_of(text)
    except ValueError:
        return False
    return True


async def event_filter_for(call: OperationContext, query: Wanted, kinds: Sequence[int] = ()) -> EventFilter:
    """Return the event filter of a query. Its lists also accept commas. Raises Refusal (400).

    kinds: the only ones to pass; () allows all.
    """
    sources = _split(query.source, "source")
    return event_filter_of(
        sources,
        _split(query.source_type, "source_type"),
        _split(query.tag, "tag"),
        _split(query.keyword, "keyword"),
        call.streams.texts,
        languages=await call.streams.languages() if query.keyword else (),
        kinds=kinds,
        heartbeats=query.heartbeats,
        hides=None if query.private or sources else call.context.is_private,
    )


def _split(values: Sequence[str], name: str) -> tuple[str, ...]:
    parts = tuple(part for value in values for part in value.split(",") if part)
    if len(parts) > MOST_VALUES:
        raise invalid(f"query.{name}", f"at most {MOST_VALUES} values")
    if values and not parts:
        raise invalid(f"query.{name}", "no value between the commas", values[0])
    for part in parts:
        if len(part) > _LONGEST_VALUE:
            raise invalid(f"query.{name}", f"a value has at most {_LONGEST_VALUE} characters", part)
    return parts


async def find(
    log: EventLog, window: TimeWindow, passing: EventFilter, limit: int, *, newest_first: bool
) -> FoundEvents:
    """Return at most `limit` passing events of a window, after at most ROUNDS reads.

    A text search stops after MOST_TEXT bytes or WITHIN seconds, with a position to continue from. Raises Overloaded.
    """
    with passing.texts.asking() if passing.reads_text else nullcontext():
        return await _find(log, window, passing, limit, newest_first=newest_first)


async def _find(
    log: EventLog, window: TimeWindow, passing: EventFilter, limit: int, *, newest_first: bool
) -> FoundEvents:
    read = log.read_back if newest_first else log.read
    at, size, looked, began = window.before if newest_first else window.after, 0, 0, trio.current_time()
    asks, found = FEWEST, list[Stored]()
    for _ in range(ROUNDS):
        page = await read(at, min(asks, limit), passing.where)
        left = [event for event in page.events if window.after < event.seq < window.before]
        over = len(left) < len(page.events)
        asks = _more(page.events)
        while some := left[: passing.portion(left)]:
            for event, passes in zip(some, await passing.sift(some), strict=True):
                looked += len(event.body)
                if passes and found and size + len(event.body) > MOST_BYTES:
                    return FoundEvents(found, found[-1].seq)
                if passes:
                    found.append(event)
                    size += len(event.body)
                    if len(found) == limit or size >= MOST_BYTES:
                        return FoundEvents(found, event.seq)
            del left[: len(some)]
            if passing.reads_text and (looked >= MOST_TEXT or trio.current_time() >= began + WITHIN):
                return FoundEvents(found, some[-1].seq)
            await trio.lowlevel.checkpoint()
        exhausted = page.scanned <= window.after if newest_first else page.scanned >= min(page.head, window.before)
        if over or exhausted or page.scanned == at:
            return FoundEvents(found, None)
        at = page.scanned
    return FoundEvents(found, at)


def _more(events: Sequence[Stored]) -> int:
    """Return how many events to read next, given the size of the last ones."""
    size = sum(len(event.body) for event in events)
    return AT_ONCE if not size else max(FEWEST, min(AT_ONCE, MOST_BYTES * len(events) // size))
