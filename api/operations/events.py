"""Past events, for any face: one by its id, or a window of the log page by page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from actors.errors import NotFound
from api.operations.context import OperationContext
from api.operations.past import FoundEvents, TimeWindow, asked_of, event_filter_for, find, lead_on
from api.problems import Refusal
from api.schemas.queries import EventsQuery
from api.streams.reader import EventFilter
from storage.records.event import Stored
from storage.records.identity import Millis, Seq, millis_of


class HistoryPage(NamedTuple):
    """A page of events. cursor: of the next page; begins: the real start of the window; clamped: whether retention
    moved it."""

    events: Sequence[Stored]
    cursor: str | None
    begins: Millis
    clamped: bool


async def named(call: OperationContext, id: str) -> Stored:
    """Return one event as stored in the log. Raises NotFound."""
    event = await call.context.storage.log.get(id)
    if event is None:
        raise NotFound("There is no such event, or retention has deleted it.")
    return event


async def history(call: OperationContext, query: EventsQuery, target: str) -> HistoryPage:
    """Return a page of history; its cursor is bound to `target`. Raises Refusal (400, 410), Overloaded."""
    event_filter = await event_filter_for(call, query)
    async with nullcontext() if event_filter.reads_text else call.streams.pages:  # text searches have their own limit
        return await _page(call, query, target, event_filter)


async def _page(call: OperationContext, query: EventsQuery, target: str, event_filter: EventFilter) -> HistoryPage:
    asked = asked_of(query, target)
    log, newest_first = call.context.storage.log, query.order == "desc"
    window, _, cursor = asked
    left = _left(window, cursor, (await log.bounds()).floor, newest_first)
    found = await find(log, left, event_filter, query.limit, newest_first=newest_first)
    bounds = await log.bounds()
    _left(window, cursor, bounds.floor, newest_first)
    found = _kept(found, bounds.floor)
    clamped = window.after < bounds.floor
    begins = bounds.oldest if not asked.began and not clamped else max(window.after, bounds.floor) + 1
    following = lead_on(asked, found.next, target)
    return HistoryPage(found.events, following, millis_of(Seq(begins)), asked.began and clamped)


def _left(window: TimeWindow, cursor: int | None, floor: Seq, newest_first: bool) -> TimeWindow:
    """Return the rest of a window after a cursor. Raises Refusal (410) if retention has deleted part of it."""
    start = Seq(max(window.after, floor))
    if cursor is None:
        return window._replace(after=start)
    if newest_first:
        return TimeWindow(start, Seq(min(window.before, cursor)))
    if cursor < floor:
        raise Refusal("cursor-expired", "Events after this cursor have been deleted by retention.")
    return window._replace(after=Seq(max(window.after, cursor)))


def _kept(found: FoundEvents, floor: Seq) -> FoundEvents:
    """Drop events that retention deleted during the read: others of them may be missing already."""
    events = [event for event in found.events if event.seq > floor]
    return FoundEvents(events, None if found.next is None else Seq(max(found.next, floor)))
