"""History: windows of the log, page by page, and single events.

A page is a list of stored bodies put side by side; nothing is decoded that no filter asks for, and an event verifies
here as it does on a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from actors.errors import NotFound
from api.pagination import decode_cursor, encode_cursor, next_link
from api.problems import Refusal, invalid
from api.reader import Sieve
from api.route import Answer, Call, Route
from api.v1.filters import MOST_VALUES, sieve_of
from api.v1.schemas import EventsQuery, Time
from storage.interface import EventLog
from storage.records.event import Event, Stored
from storage.records.identity import START, Millis, Seq, millis_of, seq_at, seq_of
from storage.records.times import parse_rfc3339, rfc3339

AT_ONCE = 500
"""Events asked of the log at once."""
ROUNDS = 10
"""Reads of the log for one answer; a rare filter then goes on with the next page's cursor."""
END = Seq((1 << 63) - 1)


class Window(NamedTuple):
    """Positions after `after` and before `before`."""

    after: Seq
    before: Seq


class Found(NamedTuple):
    """Events in the order asked for, and the position to go on from (None: the window is exhausted)."""

    events: Sequence[Stored]
    next: Seq | None


class EventsPage(Struct, frozen=True):
    """A page of history. `window_from`: where the window really began, later than asked when retention clamped it."""

    events: tuple[Event, ...]
    next_cursor: str | None
    window_from: Time
    retention_clamped: bool


def position(text: str, where: str) -> Seq:
    """Return the position of an event id, or the first one of a moment. Raises Refusal (400)."""
    try:
        return seq_of(text)
    except ValueError:
        pass
    try:
        return seq_at(parse_rfc3339(text.replace(" ", "+")))  # a plus sign that was not percent-encoded
    except ValueError:
        raise invalid(where, "neither an RFC 3339 time with an offset nor an event id", text) from None


async def find(log: EventLog, window: Window, sieve: Sieve, limit: int, *, newest_first: bool) -> Found:
    """Return at most `limit` events of a window that pass, having made at most ROUNDS reads."""
    read = log.read_back if newest_first else log.read
    at = window.before if newest_first else window.after
    found: list[Stored] = []
    for _ in range(ROUNDS):
        page = await read(at, min(AT_ONCE, limit), sieve.where)
        for event in page.events:
            if not window.after < event.seq < window.before:
                return Found(found, None)
            if sieve.admits_rest(event):
                found.append(event)
                if len(found) == limit:
                    return Found(found, event.seq)
        exhausted = page.scanned <= window.after if newest_first else page.scanned >= min(page.head, window.before)
        if exhausted or page.scanned == at:
            return Found(found, None)
        at = page.scanned
    return Found(found, at)


def _split(values: tuple[str, ...], name: str) -> tuple[str, ...]:
    parts = tuple(part for value in values for part in value.split(",") if part)
    if len(parts) > MOST_VALUES:
        raise invalid(f"query.{name}", f"at most {MOST_VALUES} values")
    return parts


def _window(query: EventsQuery) -> Window:
    after = START if query.start is None else Seq(max(0, position(query.start, "query.from") - 1))
    before = END if query.to is None else position(query.to, "query.to")
    return Window(after, before)


async def history(call: Call) -> Answer:
    """Return a page of history."""
    query: EventsQuery = call.query
    log, newest_first = call.doors.storage.log, query.order == "desc"
    window = _window(query)
    sieve = sieve_of(
        _split(query.source, "source"),
        _split(query.source_type, "source_type"),
        _split(query.tag, "tag"),
        _split(query.keyword, "keyword"),
        call.streams.texts,
        languages=await call.streams.languages() if query.keyword else (),
    )
    bounds = await log.bounds()
    clamped = window.after < bounds.floor
    start = Seq(max(window.after, bounds.floor))
    span = _resumed(Window(start, window.before), query.cursor, newest_first)
    found = await find(log, span, sieve, query.limit, newest_first=newest_first)
    cursor = None if found.next is None else encode_cursor((query.order, found.next))
    headers = {} if cursor is None else {"Link": next_link(call.doors.settings.public_url(), call.target, cursor)}
    begins = start + 1 if query.start is not None or clamped else bounds.oldest
    return Answer(
        _page(found.events, cursor, millis_of(Seq(begins)), clamped and query.start is not None), headers=headers
    )


def _resumed(window: Window, cursor: str | None, newest_first: bool) -> Window:
    if cursor is None:
        return window
    order, at = decode_cursor(cursor, tuple[str, int])
    if order != ("desc" if newest_first else "asc"):
        raise invalid("query.cursor", "this cursor was made for the other order", cursor)
    if newest_first:
        return window._replace(before=Seq(min(window.before, at)))
    if at < window.after:
        raise Refusal("cursor-expired", "Events after this cursor have been deleted by retention.")
    return window._replace(after=Seq(at))


def _page(events: Sequence[Stored], cursor: str | None, begins: Millis, clamped: bool) -> bytes:
    """Return the answer around bodies that are JSON already; cursors and times need no escaping."""
    return b'{"events":[%b],"next_cursor":%b,"window_from":"%b","retention_clamped":%b}' % (
        b",".join(event.body for event in events),
        b"null" if cursor is None else b'"%b"' % cursor.encode(),
        rfc3339(begins).encode(),
        b"true" if clamped else b"false",
    )


async def one(call: Call) -> Answer:
    """Return one event, exactly as it was signed."""
    event = await call.doors.storage.log.get(call.path["id"])
    if event is None:
        raise NotFound("There is no such event, or retention has deleted it.")
    return Answer(event.body)


def _route(path: str, run: Any, says: str, answer: Any, **more: Any) -> Route:
    return Route(
        method="GET",
        path=f"/v1/events{path}",
        scope="stream:read",
        run=run,
        says=says,
        answers={200: answer},
        **more,
    )


ROUTES = (
    _route("", history, "Read a window of the past, page by page.", EventsPage, query=EventsQuery),
    _route("/{id}", one, "Read one event.", Event),
)
