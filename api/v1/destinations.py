"""Destinations, their delivery attempts, previews of messages and replays in the API."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, astuple

from actors.destination_kinds.answer import Answer as Attempted
from actors.destination_kinds.fields import KindField
from actors.destination_kinds.kind import DestinationKind
from api.etags import expected, shown, tag_of
from api.fields import alerts as wire
from api.fields.declaring import mirrored
from api.operations import destinations as acts
from api.operations import replays
from api.operations.destinations import preview
from api.pagination import next_page, oldest_first, place
from api.route import LETS_OUT, Answer, Call, Route, routes_below
from api.schemas import alert_previews
from api.schemas.sources import ListQuery
from api.v1.alerts import alert_of
from storage.records.destination import ADDRESS, LINK, Attempt, Destination, Rates
from storage.records.identity import given, id_of, rfc3339
from storage.records.revision import revision_of

_NONE = Rates(0.0, 0.0)

# --- records to answers ----------------------------------------------------------------------------------------------


def record_of(destination: Destination, rates: Rates) -> wire.DestinationRecord:
    """Return a destination's record, without its secrets."""
    rate, quiet, missed = round(rates.failure, 4), destination.quiet_hours, destination.missed_after
    fields = mirrored(destination, wire.DestinationRecord) | {
        "quiet_hours": None if quiet is None else wire.QuietHours(*astuple(quiet)),
        "options": dict(destination.options),
        "private": sorted({*destination.private_names, *destination.private} - {ADDRESS, LINK}),
        "state": destination.state if destination.enabled else "disabled",
    }
    return wire.DestinationRecord(
        failure_rate=rate,
        error_rate=rate,
        duplicate_rate=round(rates.duplicate, 4),
        replay_from=None if missed is None else id_of(missed, 0),
        needs_secret=destination.was_enabled is not None and destination.confirmed,
        needs_agreement=not destination.confirmed,
        revision=revision_of(destination),
        **fields,
    )


def _with_secret(record: wire.DestinationRecord, made: acts.WithSecret) -> wire.DestinationWithSecret:
    invited = UNSET if made.invited is None else _invited(made.invited)
    return wire.DestinationWithSecret(secret=made.secret or UNSET, invited=invited, **asdict(record))


def _invited(found: Attempted) -> wire.TestAnswer:
    ends: Literal["terminal", "retry"] = "terminal" if found.gone or found.refused else "retry"
    detail = found.error or "The question was sent."
    return wire.TestAnswer("sent" if found.delivered else ends, found.status, found.latency_ms, detail)


def _option(field: KindField) -> wire.OptionWanted:
    shown = asdict(field)
    return wire.OptionWanted(matches=shown.pop("pattern"), **shown)


def _kind(kind: DestinationKind) -> wire.DestinationKindRecord:
    return wire.DestinationKindRecord(
        kind=kind.id,
        label=kind.label,
        family=kind.family,
        where=kind.where,
        documentation=kind.documentation,
        address=wire.AddressWanted(**asdict(kind.address)),
        options=[_option(field) for field in kind.fields],
        signed=kind.new_secret is not None,
    )


def _delivery(line: Attempt) -> wire.DeliveryRecord:
    return wire.DeliveryRecord(
        webhook_id=line.event_id,
        attempt=line.attempt,
        result=line.result,
        at=rfc3339(line.at),
        status_code=line.status,
        latency_ms=line.latency_ms,
        error=line.error,
        next_attempt_at=None if line.next_at is None else rfc3339(line.next_at),
        response_excerpt=line.response_excerpt,
    )


# --- handlers --------------------------------------------------------------------------------------------------------


async def _records(call: Call, destinations: Sequence[Destination]) -> list[wire.DestinationRecord]:
    rates = await call.context.storage.outbox.rates([each.id for each in destinations])
    return [record_of(each, rates.get(each.id, _NONE)) for each in destinations]


async def destination_of(call: Call) -> Destination:
    """Return the destination in the path. Raises NotFound."""
    return await acts.named(call, call.path["id"])


async def create(call: Call) -> Answer:
    """Add a destination to an alert. Only this answer has its secret."""
    made = await acts.add(call, call.path["id"], call.body, call.planned)
    destination = made.destination
    headers = {"Location": f"{call.context.settings.public_url()}/v1/destinations/{destination.id}"}
    return Answer(_with_secret(record_of(destination, _NONE), made), 201, headers=headers | tag_of(destination))


async def list_of_alert(call: Call) -> Answer:
    """Return a page of an alert's destinations, oldest first."""
    alert = await alert_of(call)
    page, headers = oldest_first(call, await call.context.storage.alerts.destinations(alert.id))
    return Answer(await _records(call, page), headers=headers)


async def list_all(call: Call) -> Answer:
    """Return a page of all destinations, oldest first."""
    page, headers = oldest_first(call, await call.context.storage.alerts.destinations())
    return Answer(await _records(call, page), headers=headers)


async def kinds(call: Call) -> Answer:
    """Return all kinds of destinations, in display order."""
    return Answer([_kind(kind) for kind in call.context.kinds.values()])


async def describe(call: Call) -> Answer:
    destination = await destination_of(call)
    return shown(call, destination, (await _records(call, [destination]))[0])


async def patch(call: Call) -> Answer:
    changed = await acts.change(call, call.path["id"], given(call.body, wire.DestinationPatch), expected(call))
    return Answer((await _records(call, [changed]))[0], headers=tag_of(changed))


async def rotate(call: Call) -> Answer:
    """Make a new secret. Only this answer has it."""
    made = await acts.rotate(call, call.path["id"], expected(call))
    (record,) = await _records(call, [made.destination])
    return Answer(_with_secret(record, made), headers=tag_of(made.destination))


async def delete(call: Call) -> Answer:
    await acts.delete(call, call.path["id"], expected(call))
    return Answer(status=204)


async def test(call: Call) -> Answer:
    """Send one signed sample through the destination's actor."""
    found = await acts.test(call, call.path["id"])
    return Answer(msgspec.convert(found, wire.TestAnswer, from_attributes=True))


async def invite(call: Call) -> Answer:
    return Answer(_invited(await acts.invite(call, call.path["id"])))


async def deliveries(call: Call) -> Answer:
    """Return a page of attempts, newest first."""
    destination = await destination_of(call)
    query: wire.DeliveriesQuery = call.query
    lines = await call.context.storage.outbox.attempts(destination.id, query.limit + 1, query.result, place(call, int))
    page = lines[: query.limit]
    headers = next_page(call, page[-1].number if len(lines) > len(page) else None)
    return Answer([_delivery(line) for line in page], headers=headers)


_route = routes_below("/v1/", "alerts")  # a key that may read alerts may read their destinations
_OF_ALERT, _ALL, _EACH = "alerts/{id}/destinations", "destinations", "destinations/{id}"
_ONE = {200: wire.DestinationRecord}
_MAYBE = ("not-found",)
_UNLESS_STALE = (*_MAYBE, "precondition-failed")
_TAGGED = ("ETag",)
_MANY = {200: list[wire.DestinationRecord]}
_POST = partial(_route, "POST")
_GET = partial(_route, "GET")


async def preview_message(call: Call) -> Answer:
    return Answer(await preview(call, call.body))


async def replay(call: Call) -> Answer:
    """Put past matches into a destination's outbox."""
    return Answer(await replays.replay(call, call.path["id"], call.body), 202)


ROUTES = (
    _POST(
        _OF_ALERT,
        create,
        "Add a destination; its signing secret is in this answer only.",
        {201: wire.DestinationWithSecret},
        beside=LETS_OUT,
        body=(wire.NewDestination,),
        refuses=("not-found", "conflict", "url-refused", "unprocessable"),
        headers=("Location", *_TAGGED),
        repeatable=True,
    ),
    _GET(
        _OF_ALERT,
        list_of_alert,
        "List an alert's destinations, oldest first.",
        _MANY,
        query=ListQuery,
        refuses=_MAYBE,
        headers=("Link",),
    ),
    _GET(_ALL, list_all, "List all destinations, oldest first.", _MANY, query=ListQuery, headers=("Link",)),
    _GET(
        "destination-kinds",
        kinds,
        "List the kinds of destinations and their fields.",
        {200: list[wire.DestinationKindRecord]},
    ),
    _GET(_EACH, describe, "Read one destination.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        _EACH,
        patch,
        "Change one destination.",
        _ONE,
        beside=LETS_OUT,
        body=(wire.DestinationPatch,),
        refuses=("not-found", "conflict", "precondition-failed", "url-refused", "unprocessable"),
        headers=_TAGGED,
    ),
    _route(
        "DELETE",
        _EACH,
        delete,
        "Delete one destination and its waiting deliveries.",
        {204: None},
        refuses=_UNLESS_STALE,
    ),
    _POST(
        f"{_EACH}/test",
        test,
        "Send one signed sample now.",
        {200: wire.TestAnswer},
        refuses=("not-found", "conflict"),
        repeatable=True,
    ),
    _POST(
        f"{_EACH}/invite",
        invite,
        "Send the invitation again.",
        {200: wire.TestAnswer},
        refuses=("not-found", "conflict"),
    ),
    _POST(
        f"{_EACH}/rotate-secret",
        rotate,
        "Create a new secret, shown only in this answer; the old one also signs for 24 hours.",
        {200: wire.DestinationWithSecret},
        beside=("alerts:read",),
        refuses=_UNLESS_STALE,
        headers=_TAGGED,
        repeatable=True,
    ),
    _GET(
        f"{_EACH}/deliveries",
        deliveries,
        "List attempts, newest first.",
        {200: list[wire.DeliveryRecord]},
        query=wire.DeliveriesQuery,
        refuses=_MAYBE,
        headers=("Link",),
    ),
    Route(
        method="POST",
        path="/v1/destinations/preview",
        scope="alerts:read",
        beside=LETS_OUT,
        run=preview_message,
        says="Preview a message template on the newest events. Nothing is sent.",
        answers={200: alert_previews.MessagePreview},
        body=(alert_previews.MessagePreviewRequest,),
        refuses=("not-found", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/destinations/{id}/replay",
        scope="alerts:write",
        beside=LETS_OUT,
        run=replay,
        says="Deliver past matches again under their old ids.",
        answers={202: wire.ReplayAnswer},
        body=(wire.ReplayRequest,),
        repeatable=True,
        refuses=("not-found", "conflict", "unprocessable"),
    ),
)
