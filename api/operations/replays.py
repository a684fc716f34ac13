"""Replays: put an alert's past matches into a destination's outbox again, under their own ids.

The present alert decides, so a replay also finds matches from before the destination existed. One request covers a
bounded piece; its answer tells where the next one starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from actors.errors import NotFound, TooSoon, Unprocessable
from actors.messages.workers import OutboxGrew
from actors.notices import about
from api.fields import alerts as wire
from api.operations.context import OperationContext
from api.operations.destinations import mailbox_of, named
from api.operations.events import TimeWindow, find, names_event, position
from api.problems import invalid
from api.ratelimit import Limit
from api.streams.channels import channel_of
from api.streams.reader import EventFilter
from storage.records.destination import Destination, Match, Replayed
from storage.records.event import MATCHED, Stored, id_in, story_in
from storage.records.identity import START, Seq, id_of
from supervision import MailboxFull

AT_ONCE = 100
"""Events between two turns of other tasks; each may need an analysis."""
MOST_QUEUED = 1_000
TIME = 5.0
"""Seconds after which a request returns its matches so far."""
PACE = Limit(10 / 60, 10)
"""Replays per destination."""
MOST_WAITING = 10_000
"""A destination with this many waiting deliveries accepts no replays."""
MOST_PASSED = 200
"""Matches that a replay by ids checks for being missed; the next such replay continues from there."""


async def replay(call: OperationContext, id: str, wanted: wire.ReplayRequest) -> wire.ReplayAnswer:
    """Put past matches into a destination's outbox. Raises Refusal, NotFound, Conflict, TooSoon, Unprocessable."""
    if (wanted.since is None) == (wanted.ids is None) or (wanted.until is not None and wanted.since is None):
        raise invalid("body", "name either since, with or without until, or ids")
    destination = await named(call, id)
    mailbox = mailbox_of(call, destination)
    await _check_pace(call, destination)
    event_filter = await _filter(call, destination)
    storage = call.context.storage
    if wanted.ids is not None:
        events, further = await _named(call, wanted.ids, event_filter), None
        replayed = await _past_these(call, destination, event_filter)
    else:
        window, end = _window(wanted, storage.tail.head), storage.tail.head
        events, further = await _between(call, destination, window, event_filter)
        to = Seq(window.before - 1) if further is None else further
        replayed = Replayed(destination.id, window.after, to, whole=to >= end)
    now = call.context.world.now()
    matches = [Match(destination.id, event.seq, now) for event in events]
    queued = await storage.outbox.enqueue(matches, storage.lease, replayed=replayed)
    if mailbox is not None:
        with suppress(MailboxFull):  # full: its actor is awake and will check anyway
            mailbox.send_nowait(OutboxGrew())
    return wire.ReplayAnswer(queued, None if further is None else id_of(further, 0))


async def _check_pace(call: OperationContext, destination: Destination) -> None:
    """Raise TooSoon for too many replays, or too many waiting deliveries."""
    verdict = call.limiter.take(f"replay of {destination.id}", PACE, trio.current_time())
    if not verdict.admitted:
        raise TooSoon(f"a destination takes {PACE.burst} replays a minute", verdict.retry_after)
    if await call.context.storage.outbox.backlog(destination.id) >= MOST_WAITING:
        raise TooSoon(f"{MOST_WAITING} deliveries or more wait for this destination", 60)


def _window(wanted: wire.ReplayRequest, head: Seq) -> TimeWindow:
    """Return the positions of a range: `since` excludes an event but not a time, `until` a time but not an event."""
    assert wanted.since is not None
    after, before = position(wanted.since, "body.since"), Seq(head + 1)
    if not names_event(wanted.since):
        after = Seq(max(0, after - 1))
    if wanted.until is not None:
        until = position(wanted.until, "body.until")
        before = min(before, Seq(until + 1) if names_event(wanted.until) else until)
    return TimeWindow(after, max(before, Seq(after + 1)))


async def _filter(call: OperationContext, destination: Destination) -> EventFilter:
    alert = await call.context.storage.alerts.get(destination.alert_id)
    if alert is None:
        raise NotFound("There is no such destination.")
    return EventFilter(
        texts=call.streams.texts, channel=channel_of([replace(alert, enabled=True)], call.context.private_since)
    )


async def _named(call: OperationContext, ids: Sequence[str], event_filter: EventFilter) -> Sequence[Stored]:
    found = []
    for index, id in enumerate(dict.fromkeys(ids)):
        event = await call.context.storage.log.get(id)
        if event is None:
            raise Unprocessable("there is no such event", f"body.ids[{index}]", id)
        if not await event_filter.admits(event):
            raise Unprocessable("the alert does not match this event", f"body.ids[{index}]", id)
        found.append(event)
    return found


async def _past_these(call: OperationContext, destination: Destination, event_filter: EventFilter) -> Replayed | None:
    """Return how far the destination's first-missed position may move once the named matches are queued.

    At most to the matcher's cursor: later matches reach the outbox anyway.
    """
    after = destination.missed_after
    if after is None:
        return None
    matched = max(after, await call.context.storage.outbox.cursor(MATCHED) or START)
    window = TimeWindow(after, Seq(matched + 1))
    found = await find(call.context.storage.log, window, event_filter, MOST_PASSED, newest_first=False)
    matches = [(event.seq, id_in(event.body)) for event in found.events if about(event) != destination.id]
    to = matched if found.next is None else found.next
    return Replayed(destination.id, after, to, whole=found.next is None, matches=matches)


async def _between(
    call: OperationContext, destination: Destination, window: TimeWindow, event_filter: EventFilter
) -> tuple[Sequence[Stored], Seq | None]:
    """Return matches in a window, and the position to continue from if more remain."""
    deadline = trio.current_time() + TIME
    alert = await call.context.storage.alerts.get(destination.alert_id)
    once = alert is not None and alert.meets_once
    events: list[Stored] = []
    further: Seq | None = window.after
    while further is not None and len(events) < MOST_QUEUED and trio.current_time() < deadline:
        piece = TimeWindow(further, window.before)
        found = await find(call.context.storage.log, piece, event_filter, AT_ONCE, newest_first=False)
        for event in found.events:
            met = await call.context.storage.outbox.met(story_in(event.body, event.seq)) if once else {}
            # Of each story that the alert has met, deliver only the first event.
            if about(event) != destination.id and met.get(destination.alert_id, event.seq) == event.seq:
                events.append(event)
        further = found.next
    return events, further
