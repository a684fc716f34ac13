"""Delivering again: an alert's matches of the past are put into a destination's outbox, under their own ids.

What matches is decided by the alert as it is now, over the log, so it also finds what no destination was there for. One
request takes a bounded piece; its answer says where the next one goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, TooSoon, Unprocessable
from actors.messages import OutboxGrew
from actors.notices import about
from api.channels import channel_of
from api.problems import invalid
from api.reader import Sieve
from api.route import Answer, Call, Route
from api.v1 import alert_schemas as wire
from api.v1.destinations import destination_of
from api.v1.events import Window, find, position
from storage.records.delivery import Match
from storage.records.destination import Destination
from storage.records.event import Stored
from storage.records.identity import Seq, id_of, seq_of
from supervision import MailboxFull

AT_ONCE = 100
"""Events looked at between two other tasks' turns: each may have to be analysed."""
MOST_QUEUED = 1_000
TIME = 5.0
"""Seconds after which an answer is given with what was found so far."""
MOST_WAITING = 10_000
"""Deliveries waiting for a destination from which on nothing is added to them."""


async def run(call: Call) -> Answer:
    """Put past matches into a destination's outbox."""
    wanted: wire.ReplayRequest = call.body
    if (wanted.since is None) == (wanted.event_id is None):
        raise invalid("body", "name either since or event_id")
    destination = await destination_of(call)
    mailbox = call.doors.destination(destination.id)
    if mailbox is None:
        raise Conflict("The destination is disabled: enable it first.")
    if await call.doors.storage.work.backlog(destination.id) >= MOST_WAITING:
        raise TooSoon(f"{MOST_WAITING} deliveries or more wait for this destination", 60)
    sieve = await _sieve(call, destination)
    if wanted.event_id is not None:
        events: Sequence[Stored] = [await _one(call, wanted.event_id, sieve)]
        further = None
    else:
        assert wanted.since is not None
        events, further = await _since(call, destination.id, _after(wanted.since), sieve)
    now = call.doors.world.now()
    matches = [Match(destination.id, event.seq, now) for event in events]
    queued = await call.doors.storage.work.enqueue(matches, call.doors.storage.lease)
    with suppress(MailboxFull):  # then its actor is awake, and will look
        mailbox.send_nowait(OutboxGrew())
    return Answer(wire.ReplayAnswer(queued, None if further is None else id_of(further, 0)), 202)


def _after(since: str) -> Seq:
    """Return the position that replay comes after: an event is not repeated, a moment's own events are."""
    at = position(since, "body.since")
    with suppress(ValueError):
        return seq_of(since)
    return Seq(max(0, at - 1))


async def _sieve(call: Call, destination: Destination) -> Sieve:
    alert = await call.doors.storage.alerts.get(destination.alert_id)
    if alert is None:
        raise NotFound("There is no such destination.")
    return Sieve(texts=call.streams.texts, channel=channel_of([replace(alert, enabled=True)]))


async def _one(call: Call, event_id: str, sieve: Sieve) -> Stored:
    event = await call.doors.storage.log.get(event_id)
    if event is None:
        raise NotFound("There is no such event.")
    if not sieve.admits(event):
        raise Unprocessable("the alert does not match this event", "body.event_id", event_id)
    return event


async def _since(call: Call, destination: str, after: Seq, sieve: Sieve) -> tuple[Sequence[Stored], Seq | None]:
    log, end = call.doors.storage.log, Seq(call.doors.storage.tail.head + 1)
    deadline = trio.current_time() + TIME
    events: list[Stored] = []
    further: Seq | None = after
    while further is not None and len(events) < MOST_QUEUED and trio.current_time() < deadline:
        found = await find(log, Window(further, end), sieve, AT_ONCE, newest_first=False)
        events += [event for event in found.events if about(event) != destination]
        further = found.next
    return events, further


ROUTES = (
    Route(
        method="POST",
        path="/v1/destinations/{id}/replay",
        scope="alerts:write",
        run=run,
        says="Deliver past matches again, with the ids they had.",
        answers={202: wire.ReplayAnswer},
        body=(wire.ReplayRequest,),
    ),
)
