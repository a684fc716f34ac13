"""Deliveries: attempts, previews of messages, and replays of an alert's past matches under their own ids.

The present alert decides, so a replay also finds matches from before the destination existed. One request covers a
bounded piece; its answer tells where the next one starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

import trio
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from actors.destination_kinds.contract import MESSAGE, MESSAGE_TITLE
from actors.destination_kinds.kind import TemplateFailed, render, template_errors
from actors.errors import TooSoon, Unprocessable
from actors.messages.declaring import Declared, Time, made_of, record_of
from actors.messages.workers import OutboxGrew
from actors.notices import destination_of
from actors.notification.dialects import DialectName
from actors.notification.fitting import message_of, title_of
from actors.notification.headline import Notification, digest_of, notification_of
from actors.notification.message_template import SAMPLES
from api.fields.destinations import KindName
from api.fields.queries import ListQuery
from api.nouns.alerts import AlertPreviewRequest, Stretch, trial
from api.nouns.context import OperationContext, alert_named, check_pace, existing
from api.nouns.destinations import MISSING, kind_of, mailbox_of, named
from api.nouns.events import TimeWindow, find, names_event, position
from api.nouns.sources import time_or_null
from api.pagination import next_page, place
from api.problems import invalid
from api.ratelimit import Limit
from api.route import LETS_OUT, Answer, Call, Routes
from api.streams.channels import channel_of
from api.streams.reader import EventFilter
from storage.records.destination import Attempt, DeliveryMode, Destination, Match, Replayed, Result
from storage.records.event import MATCHED, Event, Filter, Stored, id_in, story_in
from storage.records.identity import START, Seq, id_of
from storage.records.tiers import ORDINARY
from supervision import MailboxFull

Template = Annotated[str, Meta(max_length=4096)]
MessageOf = Literal["event", "digest", "sample"]


class MessagePreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Templates as in the `options` of a destination; "" is the default title or text."""

    kind: KindName
    message: Template = ""
    message_title: Template = ""
    alert_id: Annotated[str, Meta(max_length=36)] | None = None
    language: Annotated[str, Meta(max_length=8)] = ""


class ShownMessage(Struct, frozen=True):
    """The message with the service's markup. `failure`: the reason why the template was not used for this event."""

    of: Annotated[MessageOf, Meta(description="The newest event, a digest of the newest, or a sample if there is none")]
    title: str
    text: str
    failure: str | UnsetType = UNSET


class MessagePreview(Struct, frozen=True):
    """The messages of an event and of a digest."""

    dialect: DialectName
    messages: list[ShownMessage]


@record_of(Attempt, "webhook_id attempt result at status_code latency_ms error next_attempt_at response_excerpt")
class DeliveryRecord(Declared, frozen=True):
    """One attempt."""

    webhook_id: str
    status_code: int | None
    next_attempt_at: Time | None


class Digest(Struct, frozen=True, kw_only=True):
    """The events of a period, in the order of the log; at most 500, the rest in another digest."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: DeliveryMode
    window_start: Time
    window_end: Time
    count: int
    events: tuple[Event, ...]


_POSITION: Any = {"description": "An RFC 3339 time or an event's id", "extra_json_schema": {"format": "position"}}
Position = Annotated[str, Meta(min_length=1, max_length=100, **_POSITION)]


class ReplayRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The events to deliver again: the matches after `since` and up to `until`, or events by their ids."""

    since: Position | None = None
    until: Position | None = None
    ids: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(min_length=1, max_length=100)] | None = None


class ReplayAnswer(Struct, frozen=True):
    """The number of newly queued deliveries, without those already waiting."""

    queued: int
    next_since: str | None


class DeliveriesQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """A page of attempts, optionally with one result: `result=given_up` lists the deliveries that were given up."""

    result: Result | None = None


AT_ONCE = 100  # events between two turns of other tasks; each may need an analysis
MOST_QUEUED = 1_000
TIME = 5.0  # seconds after which a request returns its matches so far
PACE = Limit(10 / 60, 10)  # replays per destination
MOST_WAITING = 10_000  # a destination with this many waiting deliveries accepts no replays
MOST_PASSED = 200  # matches that a replay by ids checks for being missed; the next such replay continues from there


async def replay(call: OperationContext, id: str, wanted: ReplayRequest) -> ReplayAnswer:
    """Put past matches into a destination's outbox. Raises Refusal, NotFound, Conflict, TooSoon, Unprocessable."""
    if (wanted.since is None) == (wanted.ids is None) or (wanted.until is not None and wanted.since is None):
        raise invalid("body", "name either since, with or without until, or ids")
    destination = await named(call, id)
    mailbox = mailbox_of(call, destination)
    check_pace(call, f"replay of {destination.id}", PACE, f"a destination takes {PACE.burst} replays a minute")
    if await call.context.storage.outbox.backlog(destination.id) >= MOST_WAITING:
        raise TooSoon(f"{MOST_WAITING} deliveries or more wait for this destination", 60)
    storage = call.context.storage
    alert = existing(await storage.alerts.get(destination.alert_id), MISSING)
    channel = channel_of([replace(alert, enabled=True)], call.context.private_since)
    event_filter = EventFilter(texts=call.streams.texts, channel=channel)
    if wanted.ids is not None:
        events, further = await _named(call, wanted.ids, event_filter), None
        replayed = await _past_these(call, destination, event_filter)
    else:
        window, end = _window(wanted, storage.tail.head), storage.tail.head
        events, further = await _between(call, destination, window, event_filter, once=alert.meets_once)
        to = Seq(window.before - 1) if further is None else further
        replayed = Replayed(destination.id, window.after, to, whole=to >= end)
    now = call.context.world.now()
    matches = [Match(destination.id, event.seq, now) for event in events]
    queued = await storage.outbox.enqueue(matches, storage.lease, replayed=replayed)
    if mailbox is not None:
        with suppress(MailboxFull):  # full: its actor is awake and will check anyway
            mailbox.send_nowait(OutboxGrew())
    return ReplayAnswer(queued, None if further is None else id_of(further, 0))


def _window(wanted: ReplayRequest, head: Seq) -> TimeWindow:
    """Return the positions of a range: `since` excludes an event but not a time, `until` a time but not an event."""
    assert wanted.since is not None
    after, before = position(wanted.since, "body.since"), Seq(head + 1)
    if not names_event(wanted.since):
        after = Seq(max(0, after - 1))
    if wanted.until is not None:
        until = position(wanted.until, "body.until")
        before = min(before, Seq(until + 1) if names_event(wanted.until) else until)
    return TimeWindow(after, max(before, Seq(after + 1)))


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
    """Return how far the first-missed position may move, at most to the matcher's cursor: later matches come anyway."""
    after = destination.missed_after
    if after is None:
        return None
    matched = max(after, await call.context.storage.outbox.cursor(MATCHED) or START)
    window = TimeWindow(after, Seq(matched + 1))
    found = await find(call.context.storage.log, window, event_filter, MOST_PASSED, newest_first=False)
    matches = [(event.seq, id_in(event.body)) for event in found.events if destination_of(event) != destination.id]
    to = matched if found.next is None else found.next
    return Replayed(destination.id, after, to, whole=found.next is None, matches=matches)


async def _between(
    call: OperationContext, destination: Destination, window: TimeWindow, event_filter: EventFilter, *, once: bool
) -> tuple[Sequence[Stored], Seq | None]:
    """Return matches in a window, and the position to continue from if more remain. once: one of each story."""
    deadline = trio.current_time() + TIME
    events: list[Stored] = []
    further: Seq | None = window.after
    while further is not None and len(events) < MOST_QUEUED and trio.current_time() < deadline:
        piece = TimeWindow(further, window.before)
        found = await find(call.context.storage.log, piece, event_filter, AT_ONCE, newest_first=False)
        for event in found.events:
            met = await call.context.storage.outbox.met(story_in(event.body, event.seq)) if once else {}
            # Of each story that the alert has met, deliver only the first event.
            if destination_of(event) != destination.id and met.get(destination.alert_id, event.seq) == event.seq:
                events.append(event)
        further = found.next
    return events, further


PREVIEWS = Limit(rate=2.0, burst=20)
"""Previews of all keys together. The editor requests one half a second after the last keystroke."""
OF_DIGEST = 3  # events in a previewed digest, if there are enough
_END = Seq((1 << 63) - 1)


async def preview(call: OperationContext, asked: MessagePreviewRequest) -> MessagePreview:
    """Render the templates. Raises Unprocessable, NotFound, TooSoon, Overloaded."""
    kind = kind_of(call, asked.kind)
    limits, jail = kind.limits, call.context.world.jail
    if limits is None:
        raise Unprocessable(f"{kind.label} gets events, for a program: it has no message", "body.kind", asked.kind)
    says = f"{PREVIEWS.burst} previews at once, then {PREVIEWS.rate:g} a second"
    check_pace(call, "previews of messages", PREVIEWS, says)
    values = {MESSAGE: asked.message, MESSAGE_TITLE: asked.message_title}
    for name, reason in (await template_errors(jail, limits, values)).items():
        raise Unprocessable(reason, f"body.{name}", values[name])

    async def shown(of: MessageOf, told: Notification) -> ShownMessage:
        try:
            told = await render(jail, limits, values, told)
        except TemplateFailed as error:
            return ShownMessage(of, title_of(told, limits.title), message_of(told, limits), error.reason)
        return ShownMessage(of, title_of(told, limits.title), message_of(told, limits))

    bodies = await _newest(call, asked.alert_id)
    if not bodies:
        return MessagePreview(limits.dialect, [await shown("sample", sample) for sample in SAMPLES])
    voice = kind.languages.language(asked.language)
    alert = None if asked.alert_id is None else await alert_named(call, asked.alert_id)
    single, many = notification_of("", bodies[0], voice, alert), digest_of("", bodies, len(bodies), voice, alert)
    return MessagePreview(limits.dialect, [await shown("event", single), await shown("digest", many)])


async def _newest(call: OperationContext, alert_id: str | None) -> Sequence[bytes]:
    """Return the newest events that an alert matches, or the newest of all. Skip those that take too long to find."""
    log = call.context.storage.log
    if alert_id is None:
        page = await log.read_back(_END, OF_DIGEST, Filter(kinds=ORDINARY))
        return [event.body for event in page.events[:OF_DIGEST]]
    alert = await alert_named(call, alert_id)
    asked = AlertPreviewRequest(alert.filter_query, alert.language, limit=OF_DIGEST, match=alert.match)
    found = await trial(call, asked, alert.scope, Stretch(full=True))
    events = [await log.get(match.id) for match in found.preview.matches]
    return [event.body for event in events if event is not None]


ROUTES = Routes("/v1/destinations", "alerts")


@ROUTES("GET", "/{id}/deliveries", {200: list[DeliveryRecord]}, query=DeliveriesQuery)
async def _list(call: Call) -> Answer:
    """List attempts, newest first."""
    destination = await named(call, call.path["id"])
    query: DeliveriesQuery = call.query
    lines = await call.context.storage.outbox.attempts(destination.id, query.limit + 1, query.result, place(call, int))
    page = lines[: query.limit]
    headers = next_page(call, page[-1].number if len(lines) > len(page) else None)
    found = []
    for row in page:
        due = time_or_null(row.next_at)
        found.append(made_of(DeliveryRecord, row, webhook_id=row.event_id, status_code=row.status, next_attempt_at=due))
    return Answer(found, headers=headers)


_TRIES: dict[str, Any] = {"scope": "alerts:read", "beside": LETS_OUT, "refuses": ("not-found", "unprocessable")}


@ROUTES("POST", "/preview", {200: MessagePreview}, body=(MessagePreviewRequest,), **_TRIES)
async def _preview(call: Call) -> Answer:
    """Preview a message template on the newest events. Nothing is sent."""
    return Answer(await preview(call, call.body))


@ROUTES("POST", "/{id}/replay", {202: ReplayAnswer}, beside=LETS_OUT, body=(ReplayRequest,), repeatable=True)
async def _replay(call: Call) -> Answer:
    """Deliver past matches again under their old ids."""
    return Answer(await replay(call, call.path["id"], call.body), 202)
