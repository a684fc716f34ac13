"""History: windows of the log, page by page, and single events.

A page is a list of stored bodies put side by side; nothing is decoded that no filter asks for, and an event verifies
here as it does on a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from msgspec import Struct

from actors.errors import NotFound
from api.problems import Refusal
from api.reader import EventFilter
from api.route import Answer, Call, Route
from api.schemas.queries import EventsQuery
from api.schemas.sources import Time
from api.v1.past import FoundEvents, PastRequest, TimeWindow, asked_of, find, lead_on, sieve_for
from storage.records.event import Event, Stored
from storage.records.identity import Millis, Seq, millis_of
from storage.records.times import rfc3339


class EventsPage(Struct, frozen=True):
    """A page of history. `window_from`: where the window really began, later than asked when retention clamped it."""

    events: tuple[Event, ...]
    next_cursor: str | None
    window_from: Time
    retention_clamped: bool


async def history(call: Call) -> Answer:
    """Return a page of history."""
    sieve = await sieve_for(call, call.query)
    async with nullcontext() if sieve.reads_text else call.streams.pages:  # searches have a bound of their own
        return await _answer(call, asked_of(call), sieve)


async def _answer(call: Call, asked: PastRequest, sieve: EventFilter) -> Answer:
    query: EventsQuery = call.query
    log, newest_first = call.context.storage.log, query.order == "desc"
    window, _, cursor = asked
    left = _left(window, cursor, (await log.bounds()).floor, newest_first)
    found = await find(log, left, sieve, query.limit, newest_first=newest_first)
    bounds = await log.bounds()
    _left(window, cursor, bounds.floor, newest_first)
    found = _kept(found, bounds.floor)
    clamped = window.after < bounds.floor
    begins = bounds.oldest if not asked.began and not clamped else max(window.after, bounds.floor) + 1
    following, headers = lead_on(call, asked, found.next)
    page = _page(found.events, following, millis_of(Seq(begins)), asked.began and clamped)
    return Answer(page, headers=headers)


def _left(window: TimeWindow, cursor: int | None, floor: Seq, newest_first: bool) -> TimeWindow:
    """Return what is left of a window after a cursor. Raises Refusal (410) when retention has cut into it there."""
    start = Seq(max(window.after, floor))
    if cursor is None:
        return window._replace(after=start)
    if newest_first:
        return TimeWindow(start, Seq(min(window.before, cursor)))
    if cursor < floor:
        raise Refusal("cursor-expired", "Events after this cursor have been deleted by retention.")
    return window._replace(after=Seq(max(window.after, cursor)))


def _kept(found: FoundEvents, floor: Seq) -> FoundEvents:
    """Return a page without what retention has deleted while it was read: a part of that may be missing already."""
    events = [event for event in found.events if event.seq > floor]
    return FoundEvents(events, None if found.next is None else Seq(max(found.next, floor)))


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
    event = await call.context.storage.log.get(call.path["id"])
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
    _route(
        "",
        history,
        "Read a window of the past, page by page.",
        EventsPage,
        query=EventsQuery,
        refuses=("cursor-expired",),
        headers=("Link",),
    ),
    _route("/{id}", one, "Read one event.", Event, refuses=("not-found",)),
)
