"""Alerts: store them and update the matcher before answering, so that an answer means the change is in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Unprocessable
from actors.messages.matcher import AlertsChanged
from actors.query import QueryError, UnknownLanguage, parse
from api.operations.context import OperationContext, known_id
from api.operations.revisions import guarded, refuse_stale
from api.operations.streams import CHANNELS
from api.operations.tags import tags_in
from api.operations.whole import whole
from api.problems import invalid
from api.schemas import alerts as wire
from storage.records.alert import MOST_ALERTS, Alert
from storage.records.given import given
from storage.records.identity import Millis, SourceId
from storage.records.revision import Expected

ANSWER_WITHIN = 15.0
"""Seconds for the matcher to apply a change; it is stored by then."""
_NAME = 60

# --- input -----------------------------------------------------------------------------------------------------------


def check_query(query: str, language: str) -> None:
    """Raise Refusal (400 with the position), Unprocessable."""
    try:
        parse(query, language)
    except UnknownLanguage as error:
        raise Unprocessable(str(error), "body.language", language) from None
    except QueryError as error:
        raise invalid("body.filter_query", f"{error.reason} (at character {error.position})", query) from None


async def sources_of(call: OperationContext, ids: Sequence[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return normalised source ids, each once. Raises Refusal (400), Unprocessable for unknown ones."""
    found: dict[str, None] = {}
    there = frozenset(known)
    for index, text in enumerate(ids):
        try:
            id = str(UUID(text))
        except ValueError:
            raise invalid(f"body.source_ids[{index}]", "not a source id", text) from None
        if id not in there and await call.context.storage.sources.get(SourceId(id)) is None:
            raise Unprocessable(f"there is no source {id}", f"body.source_ids[{index}]", text)
        found[id] = None
    return tuple(found)


async def named_in(call: OperationContext, asked: object, old: object = None) -> dict[str, tuple[str, ...]]:
    """Return the sources that are named, by field, in their one spelling; those of `old` may be gone by now."""
    fields = {name: getattr(asked, name) for name in ("source_ids", "private_source_ids")}
    wanted = {name: ids for name, ids in fields.items() if ids is not UNSET}
    return {name: await sources_of(call, ids, getattr(old, name, ())) for name, ids in wanted.items()}


def _check_channel(call: OperationContext, channel: object) -> None:
    if channel in CHANNELS or (isinstance(channel, str) and call.context.templates.catalogue.get(channel)):
        raise Unprocessable(f"{channel} is a channel of the service itself", "body.channel", channel)


def _check_anomaly(enabled: object) -> None:
    if enabled is True:
        raise Unprocessable("anomalies can't be watched for yet", "body.anomaly_enabled", value=True)


def _changed(
    old: Alert, patch: wire.AlertPatch, sources: dict[str, tuple[str, ...]], now: Millis, by: str, *, seen: bool
) -> Alert:
    """Return an alert as a patch makes it; one that changes nothing leaves it of the age it had."""
    changes = given(patch, Alert) | sources
    if patch.tags is not UNSET:
        changes["tags"] = tags_in(patch.tags)
    changed = replace(old, **changes)
    return old if changed == old and not seen else replace(changed, updated_at=now, updated_by=by)


# --- operations ------------------------------------------------------------------------------------------------------


async def put_in_force(call: OperationContext) -> None:
    """Make all readers of alerts reload them. Raises TooSlowError (503); the stored change stays."""
    await call.streams.channels.refresh()
    with trio.fail_after(ANSWER_WITHIN):
        await call.context.matcher.ask(lambda reply: AlertsChanged(reply=reply))


async def named(call: OperationContext, id: str) -> Alert:
    """Return the alert with an id. Raises NotFound."""
    found = await call.context.storage.alerts.get(known_id(id, "alert"))
    if found is None:
        raise _missing()
    return found


@whole
async def add(call: OperationContext, new: wire.NewAlert, planned: str | None = None) -> Alert:
    """Add an alert, or return the one that has the `planned` id. Raises Refusal, Unprocessable, Conflict."""
    alerts, now = call.context.storage.alerts, call.context.world.now()
    if planned is not None and (there := await alerts.get(planned)) is not None:
        await put_in_force(call)
        return there
    check_query(new.filter_query, new.language)
    _check_channel(call, new.channel)
    _check_anomaly(new.anomaly_enabled)
    sources = await named_in(call, new)
    if len(await alerts.all()) >= MOST_ALERTS:
        raise Conflict(f"there are {MOST_ALERTS} alerts, and there is no room for more: delete one first")
    name = new.name or new.filter_query.strip()[:_NAME] or "Everything"
    alert = Alert(
        id=planned or call.context.world.new_id(),
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        **given(new, Alert)
        | sources
        | {"name": name, "tags": tags_in(new.tags), "notices": tuple(dict.fromkeys(new.notices))},
    )
    await alerts.put(alert)
    await put_in_force(call)
    return alert


@whole
async def change(
    call: OperationContext, id: str, patch: wire.AlertPatch, expected: Expected = None, *, seen: bool = False
) -> Alert:
    """Change one alert; if `seen`, it is of now in any case. Raises NotFound, Stale, Refusal, Unprocessable."""
    old, now = await named(call, id), call.context.world.now()
    check_query(
        old.filter_query if patch.filter_query is UNSET else patch.filter_query,
        old.language if patch.language is UNSET else patch.language,
    )
    _check_channel(call, patch.channel)
    _check_anomaly(patch.anomaly_enabled)
    if patch.tags is not UNSET:
        tags_in(patch.tags)
    sources = await named_in(call, patch, old)
    changed = guarded(expected, lambda alert: _changed(alert, patch, sources, now, call.by, seen=seen))
    alert = await call.context.storage.alerts.edit(old.id, changed)
    if alert is None:
        raise _missing()
    await put_in_force(call)
    return alert


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete one alert and its destinations. Raises NotFound, Stale."""
    if not await call.context.storage.alerts.delete(known_id(id, "alert"), lambda it: refuse_stale(it, expected)):
        raise _missing()
    await put_in_force(call)


def _missing() -> NotFound:
    return NotFound("There is no such alert.")
