"""Destinations: where an alert's matches go, what became of them, and the secrets that sign them.

Records are stored here; what is sent, its own actor sends, also a test. A secret is in an answer once, when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import trio
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from actors.errors import Conflict, NotFound, Unprocessable
from actors.messages import TestDelivery, TestResult
from actors.signatures import webhook
from api.etags import expected, guarded, refuse_stale, shown, tag_of
from api.pagination import next_page, oldest_first, place
from api.route import Answer, Call, Route
from api.v1 import alert_schemas as wire
from api.v1.alerts import alert_of, path_id, put_in_force
from api.v1.schemas import ListQuery
from api.v1.webhooks import admitted
from storage.records.cursor import MATCHED
from storage.records.delivery import Attempt, Rates
from storage.records.destination import WEEKDAYS, Destination, QuietHours, Secret
from storage.records.identity import START, Millis, Seq, id_of
from storage.records.times import rfc3339

MOST_DESTINATIONS = 10_000
MOST_OF_AN_ALERT = 20
OVERLAP = Millis(24 * 3_600_000)
"""Milliseconds that an old secret goes on signing after a rotation."""
TEST_WITHIN = 30.0
"""Seconds for a test: those of its request, and a wait for room among the others."""
_SECRET_SIZE = 32
_NONE = Rates(0.0, 0.0)

# --- requests to records ---------------------------------------------------------------------------------------------


def _check_zone(name: object, location: str = "body.digest_timezone") -> None:
    """Raise Unprocessable unless a time zone is known here."""
    if not isinstance(name, str):
        return
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        rule = "not a time zone: write an IANA name such as Europe/Stockholm"
        raise Unprocessable(rule, location, name) from None


def _quiet(hours: wire.QuietHours | UnsetType | None) -> QuietHours | None:
    """Return quiet hours as they are stored. Raises Unprocessable."""
    if not isinstance(hours, wire.QuietHours):
        return None
    _check_zone(hours.timezone, "body.quiet_hours.timezone")
    if hours.start == hours.end:
        raise Unprocessable("quiet hours that begin as they end have no length", "body.quiet_hours.to", hours.end)
    return QuietHours(hours.start, hours.end, hours.timezone, tuple(day for day in WEEKDAYS if day in hours.weekdays))


def _new_secret(call: Call) -> str:
    return webhook.new_secret(call.doors.world.entropy(_SECRET_SIZE))


def rotated(secrets: Sequence[Secret], new: str, now: Millis) -> tuple[Secret, ...]:
    """Return secrets with a new one first; the one before it signs for the overlap, and five at most sign at all."""
    until = Millis(now + OVERLAP)
    old = [replace(secret, until=until) if secret.until is None else secret for secret in secrets]
    return (Secret(new), *(secret for secret in old if secret.until is None or now < secret.until))[: webhook.MOST_LIVE]


def _changed(old: Destination, patch: wire.DestinationPatch, url: str | None, now: Millis, matched: Seq) -> Destination:
    """Return a destination as a patch makes it; `matched`: how far matching has come."""
    names = ("delivery_mode", "label", "digest_hour", "digest_timezone", "enabled")
    changes = {name: value for name in names if (value := getattr(patch, name)) is not UNSET}
    if patch.quiet_hours is not UNSET:
        changes["quiet_hours"] = _quiet(patch.quiet_hours)
    if url is not None:
        changes["url"] = url
    moved = url is not None and url != old.url
    if (patch.enabled is True and old.state == "disabled") or (moved and old.state == "failing"):
        changes |= {"state": "active", "failing_since": None, "told": 0}
    if patch.replay_from is None:
        changes["missed_after"] = None
    changed = replace(old, updated_at=now, **changes)
    return changed.missing(matched) if old.enabled and not changed.enabled else changed


# --- records to answers ----------------------------------------------------------------------------------------------


def record_of(destination: Destination, rates: Rates) -> wire.DestinationRecord:
    """Return a destination's record, without its secrets."""
    at, rate, quiet = destination.last_delivery_at, round(rates.failure, 4), destination.quiet_hours
    missed = destination.missed_after
    return wire.DestinationRecord(
        id=destination.id,
        alert_id=destination.alert_id,
        kind=destination.kind,
        url=destination.url,
        delivery_mode=destination.delivery_mode,
        label=destination.label,
        digest_hour=destination.digest_hour,
        digest_timezone=destination.digest_timezone,
        quiet_hours=None if quiet is None else wire.QuietHours(quiet.start, quiet.end, quiet.timezone, quiet.weekdays),
        enabled=destination.enabled,
        state=destination.state if destination.enabled else "disabled",
        created_at=rfc3339(destination.created_at),
        updated_at=rfc3339(destination.updated_at),
        last_delivery_at=None if at is None else rfc3339(at),
        failure_rate=rate,
        error_rate=rate,
        duplicate_rate=round(rates.duplicate, 4),
        replay_from=None if missed is None else id_of(missed, 0),
    )


def _with_secret(record: wire.DestinationRecord, secret: str) -> wire.DestinationWithSecret:
    return wire.DestinationWithSecret(secret=secret, **asdict(record))


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
    rates = await call.doors.storage.work.rates([each.id for each in destinations])
    return [record_of(each, rates.get(each.id, _NONE)) for each in destinations]


async def destination_of(call: Call) -> Destination:
    """Return the destination in the path. Raises NotFound."""
    found = await call.doors.storage.alerts.destination(path_id(call, "destination"))
    if found is None:
        raise _missing()
    return found


def _missing() -> NotFound:
    return NotFound("There is no such destination.")


async def create(call: Call) -> Answer:
    """Add a destination to an alert; the answer alone has its secret."""
    alert, new = await alert_of(call), call.body
    _check_zone(new.digest_timezone)
    quiet = _quiet(new.quiet_hours)
    url = await admitted(new.url, call.doors)
    alerts, now, secret = call.doors.storage.alerts, call.doors.world.now(), _new_secret(call)
    id = call.planned or call.doors.world.new_id()
    everyone = [each for each in await alerts.destinations() if each.id != id]  # it is there in a call taken up again
    if len(everyone) >= MOST_DESTINATIONS or sum(d.alert_id == alert.id for d in everyone) >= MOST_OF_AN_ALERT:
        detail = f"an alert has at most {MOST_OF_AN_ALERT} destinations, the service {MOST_DESTINATIONS}"
        raise Conflict(f"{detail}: delete one first")
    destination = Destination(
        id=id,
        alert_id=alert.id,
        kind=new.kind,
        url=url.text,
        delivery_mode=new.delivery_mode,
        label=new.label or url.host,
        secrets=(Secret(secret),),
        created_at=now,
        updated_at=now,
        digest_hour=new.digest_hour,
        digest_timezone=new.digest_timezone,
        quiet_hours=quiet,
        enabled=new.enabled,
    )
    await alerts.put_destination(destination)
    if await alerts.destination(destination.id) is None:
        raise NotFound("There is no such alert.")  # any more
    await put_in_force(call)
    headers = {"Location": f"{call.doors.settings.public_url()}/v1/destinations/{destination.id}"}
    return Answer(_with_secret(record_of(destination, _NONE), secret), 201, headers=headers | tag_of(destination))


async def list_of_alert(call: Call) -> Answer:
    """Return a page of an alert's destinations, oldest first."""
    alert = await alert_of(call)
    page, headers = oldest_first(call, await call.doors.storage.alerts.destinations(alert.id))
    return Answer(await _records(call, page), headers=headers)


async def list_all(call: Call) -> Answer:
    """Return a page of all destinations, oldest first."""
    page, headers = oldest_first(call, await call.doors.storage.alerts.destinations())
    return Answer(await _records(call, page), headers=headers)


async def describe(call: Call) -> Answer:
    """Return one destination."""
    destination = await destination_of(call)
    return shown(call, destination, (await _records(call, [destination]))[0])


async def _edit(
    call: Call, change: Callable[[Destination], Destination]
) -> tuple[wire.DestinationRecord, dict[str, str]]:
    """Change the destination in the path; return its record, and the header with its new tag."""
    alerts = call.doors.storage.alerts
    changed = await alerts.edit_destination(path_id(call, "destination"), guarded(expected(call), change))
    if changed is None:
        raise _missing()
    await put_in_force(call)
    return (await _records(call, [changed]))[0], tag_of(changed)


async def patch(call: Call) -> Answer:
    """Change one destination."""
    await destination_of(call)
    wanted: wire.DestinationPatch = call.body
    _check_zone(wanted.digest_timezone)
    _quiet(wanted.quiet_hours)
    url = None if wanted.url is UNSET else (await admitted(wanted.url, call.doors)).text
    now = call.doors.world.now()
    matched = await call.doors.storage.work.cursor(MATCHED) or START
    record, tag = await _edit(call, lambda old: _changed(old, wanted, url, now, matched))
    return Answer(record, headers=tag)


async def rotate(call: Call) -> Answer:
    """Make a new secret; the answer alone has it."""
    secret, now = _new_secret(call), call.doors.world.now()
    record, tag = await _edit(call, lambda old: replace(old, secrets=rotated(old.secrets, secret, now), updated_at=now))
    return Answer(_with_secret(record, secret), headers=tag)


async def delete(call: Call) -> Answer:
    """Forget one destination and what waits for it."""
    alerts, revisions = call.doors.storage.alerts, expected(call)
    if not await alerts.delete_destination(path_id(call, "destination"), lambda it: refuse_stale(it, revisions)):
        raise _missing()
    await put_in_force(call)
    return Answer(status=204)


async def test(call: Call) -> Answer:
    """Send one signed sample through the destination's own actor."""
    destination = await destination_of(call)
    mailbox = call.doors.destination(destination.id)
    if mailbox is None:
        raise Conflict("The destination is disabled: enable it first.")
    with trio.fail_after(TEST_WITHIN):
        found: TestResult = await mailbox.ask(lambda reply: TestDelivery(reply=reply))
    return Answer(msgspec.convert(found, wire.TestAnswer, from_attributes=True))


async def deliveries(call: Call) -> Answer:
    """Return a page of attempts, newest first."""
    destination = await destination_of(call)
    query: wire.DeliveriesQuery = call.query
    lines = await call.doors.storage.work.attempts(destination.id, query.limit + 1, query.result, place(call, int))
    page = lines[: query.limit]
    headers = next_page(call, page[-1].number if len(lines) > len(page) else None)
    return Answer([_delivery(line) for line in page], headers=headers)


def _route(method: str, path: str, run: Any, says: str, answers: dict[int, Any], **more: Any) -> Route:
    scope = "alerts:read" if method == "GET" else "alerts:write"
    return Route(method=method, path=f"/v1/{path}", scope=scope, run=run, says=says, answers=answers, **more)


_OF_ALERT, _ALL, _EACH = "alerts/{id}/destinations", "destinations", "destinations/{id}"
_ONE = {200: wire.DestinationRecord}
_MAYBE = ("not-found",)
_UNLESS_STALE = (*_MAYBE, "precondition-failed")
_TAGGED = ("ETag",)
_MANY = {200: list[wire.DestinationRecord]}
_POST = partial(_route, "POST")
_GET = partial(_route, "GET")
ROUTES = (
    _POST(
        _OF_ALERT,
        create,
        "Add a destination; its signing secret is in this answer only.",
        {201: wire.DestinationWithSecret},
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
    _GET(_EACH, describe, "Read one destination.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        _EACH,
        patch,
        "Change one destination.",
        _ONE,
        body=(wire.DestinationPatch,),
        refuses=("not-found", "precondition-failed", "url-refused", "unprocessable"),
        headers=_TAGGED,
    ),
    _route(
        "DELETE", _EACH, delete, "Forget one destination and what waits for it.", {204: None}, refuses=_UNLESS_STALE
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
        f"{_EACH}/rotate-secret",
        rotate,
        "Make a new secret, which is in this answer only; the old one signs beside it for 24 hours.",
        {200: wire.DestinationWithSecret},
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
)
