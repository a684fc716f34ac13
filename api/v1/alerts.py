"""Alerts: stored here, and the matcher is told, so that an answer means that the change is in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Unprocessable
from actors.messages import AlertsChanged
from actors.query import QueryError, UnknownLanguage, parse
from api.etags import expected, guarded, refuse_stale, shown, tag_of
from api.pagination import oldest_first
from api.problems import invalid
from api.route import Answer, Call, Route
from api.v1 import alert_schemas as wire
from api.v1.schemas import ListQuery
from api.v1.stream import CHANNELS
from storage.records.alert import MOST_ALERTS, Alert
from storage.records.destination import DeliveryMode, Destination
from storage.records.identity import Millis, SourceId
from storage.records.times import rfc3339

ANSWER_WITHIN = 15.0
"""Seconds for the matcher to take over a change; it is stored by then."""
_NAME = 60

# --- requests to records ---------------------------------------------------------------------------------------------


def path_id(call: Call, noun: str) -> str:
    """Return the id in the path. Raises NotFound for what can't be one."""
    try:
        return str(UUID(call.path["id"]))
    except ValueError:
        raise NotFound(f"There is no such {noun}.") from None


def check_query(query: str, language: str) -> None:
    """Raise Refusal (400 with the position), Unprocessable."""
    try:
        parse(query, language)
    except UnknownLanguage as error:
        raise Unprocessable(str(error), "body.language", language) from None
    except QueryError as error:
        raise invalid("body.filter_query", f"{error.reason} (at character {error.position})", query) from None


async def sources_of(call: Call, ids: Sequence[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return source ids in their one spelling, each once. Raises Refusal (400), Unprocessable for unknown ones."""
    found: dict[str, None] = {}
    there = frozenset(known)
    for index, text in enumerate(ids):
        try:
            id = str(UUID(text))
        except ValueError:
            raise invalid(f"body.source_ids[{index}]", "not a source id", text) from None
        if id not in there and await call.doors.storage.sources.get(SourceId(id)) is None:
            raise Unprocessable(f"there is no source {id}", f"body.source_ids[{index}]", text)
        found[id] = None
    return tuple(found)


def _check_channel(call: Call, channel: object) -> None:
    if channel in CHANNELS or (isinstance(channel, str) and call.doors.templates.catalogue.get(channel)):
        raise Unprocessable(f"{channel} is a channel of the service itself", "body.channel", channel)


def _check_anomaly(enabled: object) -> None:
    if enabled is True:
        raise Unprocessable("anomalies can't be watched for yet", "body.anomaly_enabled", value=True)


def _changed(old: Alert, patch: wire.AlertPatch, sources: tuple[str, ...] | None, now: Millis) -> Alert:
    names = ("filter_query", "language", "name", "channel", "enabled", "notices", "notice_after")
    changes = {name: value for name in names if (value := getattr(patch, name)) is not UNSET}
    if sources is not None:
        changes["source_ids"] = sources
    return replace(old, updated_at=now, **changes)


# --- records to answers ----------------------------------------------------------------------------------------------


def record_of(alert: Alert, mode: DeliveryMode) -> wire.AlertRecord:
    """Return an alert's record; `mode` is its first destination's."""
    return wire.AlertRecord(
        id=alert.id,
        name=alert.name,
        filter_query=alert.filter_query,
        language=alert.language,
        source_ids=alert.source_ids,
        channel=alert.channel,
        enabled=alert.enabled,
        notices=alert.notices,
        notice_after=alert.notice_after,
        created_at=rfc3339(alert.created_at),
        updated_at=rfc3339(alert.updated_at),
        last_match_at=None if alert.last_match_at is None else rfc3339(alert.last_match_at),
        match_count=alert.match_count,
        delivery_mode=mode,
        template=alert.template,
    )


def _mode(destinations: Sequence[Destination]) -> DeliveryMode:
    return destinations[0].delivery_mode if destinations else "instant"


# --- handlers --------------------------------------------------------------------------------------------------------


async def put_in_force(call: Call) -> None:
    """Have everyone who reads alerts read them again. Raises TooSlowError (503): what was stored stays."""
    await call.streams.channels.refresh()
    with trio.fail_after(ANSWER_WITHIN):
        await call.doors.matcher.ask(lambda reply: AlertsChanged(reply=reply))


async def alert_of(call: Call) -> Alert:
    """Return the alert in the path. Raises NotFound."""
    found = await call.doors.storage.alerts.get(path_id(call, "alert"))
    if found is None:
        raise NotFound("There is no such alert.")
    return found


async def create(call: Call) -> Answer:
    """Add an alert."""
    if call.planned is not None and (there := await call.doors.storage.alerts.get(call.planned)) is not None:
        return await _made(call, there)
    new: wire.NewAlert = call.body
    check_query(new.filter_query, new.language)
    _check_channel(call, new.channel)
    _check_anomaly(new.anomaly_enabled)
    sources = await sources_of(call, new.source_ids)
    alerts, now = call.doors.storage.alerts, call.doors.world.now()
    if len(await alerts.all()) >= MOST_ALERTS:
        raise Conflict(f"there are {MOST_ALERTS} alerts, and there is no room for more: delete one first")
    alert = Alert(
        id=call.planned or call.doors.world.new_id(),
        name=new.name or new.filter_query.strip()[:_NAME] or "Everything",
        filter_query=new.filter_query,
        language=new.language,
        source_ids=sources,
        created_at=now,
        updated_at=now,
        channel=new.channel,
        enabled=new.enabled,
        notices=tuple(dict.fromkeys(new.notices)),
        notice_after=new.notice_after,
    )
    await alerts.put(alert)
    return await _made(call, alert)


async def _made(call: Call, alert: Alert) -> Answer:
    await put_in_force(call)
    headers = {"Location": f"{call.doors.settings.public_url()}/v1/alerts/{alert.id}"}
    return Answer(await _record(call, alert), 201, headers=headers | tag_of(alert))


async def list_alerts(call: Call) -> Answer:
    """Return a page of alerts, oldest first."""
    page, headers = oldest_first(call, await call.doors.storage.alerts.all())
    modes: dict[str, DeliveryMode] = {}
    for destination in await call.doors.storage.alerts.destinations():
        modes.setdefault(destination.alert_id, destination.delivery_mode)
    return Answer([record_of(alert, modes.get(alert.id, "instant")) for alert in page], headers=headers)


async def _record(call: Call, alert: Alert) -> wire.AlertRecord:
    return record_of(alert, _mode(await call.doors.storage.alerts.destinations(alert.id)))


async def describe(call: Call) -> Answer:
    """Return one alert."""
    alert = await alert_of(call)
    return shown(call, alert, await _record(call, alert))


async def patch(call: Call) -> Answer:
    """Change one alert."""
    old, change, now = await alert_of(call), call.body, call.doors.world.now()
    check_query(
        old.filter_query if change.filter_query is UNSET else change.filter_query,
        old.language if change.language is UNSET else change.language,
    )
    _check_channel(call, change.channel)
    _check_anomaly(change.anomaly_enabled)
    sources = None if change.source_ids is UNSET else await sources_of(call, change.source_ids, old.source_ids)
    changed = guarded(expected(call), lambda alert: _changed(alert, change, sources, now))
    alert = await call.doors.storage.alerts.edit(old.id, changed)
    if alert is None:
        raise NotFound("There is no such alert.")
    await put_in_force(call)
    return Answer(await _record(call, alert), headers=tag_of(alert))


async def delete(call: Call) -> Answer:
    """Forget one alert with its destinations."""
    revisions = expected(call)
    if not await call.doors.storage.alerts.delete(path_id(call, "alert"), lambda it: refuse_stale(it, revisions)):
        raise NotFound("There is no such alert.")
    await put_in_force(call)
    return Answer(status=204)


def _route(method: str, path: str, run: Any, says: str, answers: dict[int, Any], **more: Any) -> Route:
    scope = "alerts:read" if method == "GET" else "alerts:write"
    return Route(method=method, path=f"/v1/alerts{path}", scope=scope, run=run, says=says, answers=answers, **more)


_ONE = {200: wire.AlertRecord}
_MAYBE = ("not-found",)
_UNLESS_STALE = (*_MAYBE, "precondition-failed")
_TAGGED = ("ETag",)
ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Add an alert.",
        {201: wire.AlertRecord},
        body=(wire.NewAlert,),
        refuses=("conflict", "unprocessable"),
        headers=("Location", *_TAGGED),
        repeatable=True,
    ),
    _route(
        "GET",
        "",
        list_alerts,
        "List alerts, oldest first.",
        {200: list[wire.AlertRecord]},
        query=ListQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one alert.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        "/{id}",
        patch,
        "Change one alert.",
        _ONE,
        body=(wire.AlertPatch,),
        refuses=("not-found", "precondition-failed", "unprocessable"),
        headers=_TAGGED,
    ),
    _route("DELETE", "/{id}", delete, "Forget one alert with its destinations.", {204: None}, refuses=_UNLESS_STALE),
)
