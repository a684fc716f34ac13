"""Live streams: from filters and a position to a reader of the log; as Server-Sent Events or NDJSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from actors.errors import NotFound
from api.fields.queries import StreamQuery
from api.nouns.context import OperationContext
from api.nouns.events import EARLIEST, event_filter_of
from api.problems import Refusal, invalid
from api.route import Answer, Call, Routes
from api.streams.channels import Channel
from api.streams.reader import Reader
from api.streams.sse import MEDIA, Form
from storage.records.access import ApiKey, Session
from storage.records.identity import Seq, id_of, seq_of
from storage.records.tiers import TIERS, Kind

CHANNELS: dict[str, tuple[int, ...]] = {
    **{name: tier.kinds for name, tier in TIERS.items()},
    "alerts": (Kind.NOTICE,),
    "heartbeats": (Kind.HEARTBEAT,),
}


class Listener(NamedTuple):
    """The stream's owner, the id of the last event it had (or ""), and the form of the frames."""

    who: ApiKey | Session
    last: str = ""
    form: Form = "sse"


class Carried(NamedTuple):
    """A channel's content: events of these kinds (none: any), with this label, or that alerts let through."""

    kinds: tuple[int, ...] = ()
    label: str | None = None
    of_alerts: Channel | None = None


_ALL = Carried()
_HEARS = frozenset({"stream:read", "stream:read:heartbeats"})


async def everything(call: OperationContext, query: StreamQuery, listener: Listener) -> Reader:
    """Open a stream of all events that pass the filters. Raises Refusal (400, 410, 429)."""
    return await _open(call, query, listener)


async def channel(call: OperationContext, name: str, query: StreamQuery, listener: Listener) -> Reader:
    """Open a stream of one channel: of the service, a template or an alert. Raises NotFound, Refusal."""
    return await _open(call, query, listener, await carried(call, name))


async def carried(call: OperationContext, name: str) -> Carried:
    """Return a channel's content. Raises NotFound."""
    kinds = CHANNELS.get(name)
    if kinds is not None:
        return Carried(kinds=kinds)
    template = call.context.templates.catalogue.get(name)
    if template is not None:
        return Carried(kinds=(Kind.PUSH, Kind.FEED, Kind.HELD, Kind.HTML), label=template.tag)
    of_alerts = await call.streams.channels.get(name)
    if of_alerts is None:
        known = ", ".join((*CHANNELS, *(template.id for template in call.context.templates.catalogue)))
        raise NotFound(f"There is no channel of this name. The channels are {known}, and those of alerts.")
    return Carried(of_alerts=of_alerts)


async def _open(call: OperationContext, query: StreamQuery, listener: Listener, of: Carried = _ALL) -> Reader:
    if query.heartbeats and isinstance(listener.who, ApiKey) and _HEARS.isdisjoint(listener.who.scopes):
        raise Refusal("forbidden", "Heartbeats need the scope stream:read, or stream:read:heartbeats.")
    languages = await call.streams.languages() if query.keyword else ()
    asked = (query.source, query.source_type, query.tag, query.keyword, call.streams.texts)
    more: dict[str, Any] = {"kinds": of.kinds, "channel": of.of_alerts, "label": of.label}
    more |= {"heartbeats": query.heartbeats, "hides": _hidden(call, listener, of)}
    event_filter = event_filter_of(*asked, languages=languages, **more)
    call.streams.check_room(listener.who)
    cursor, replay_from = await _start(call, query.since, listener.last)
    storage = call.context.storage
    return Reader(storage.log, storage.tail, event_filter, cursor=cursor, form=listener.form, replay_from=replay_from)


def _hidden(call: OperationContext, listener: Listener, of: Carried) -> Callable[[str], bool] | None:
    """Return a test for hidden sources: shared channel keys hide private ones unless an alert names them."""
    if not isinstance(listener.who, ApiKey) or "stream:read" in listener.who.scopes:
        return None

    def names(source: str) -> bool:
        return of.of_alerts is not None and any(part.scope.names(source) for part in of.of_alerts.parts)

    return lambda source: call.context.is_private(source) and not names(source)


async def _start(call: OperationContext, since: str | None, last: str) -> tuple[Seq, str]:
    """Return the position to start after, and its id. Raises Refusal (400, 410)."""
    given, where = (last, "header.Last-Event-ID") if last else (since, "query.since")
    tail = call.context.storage.tail
    if given is None:
        newest = await call.streams.newest_id()
        return seq_of(newest), newest
    bounds = await call.context.storage.log.bounds()
    if given == EARLIEST and not last:
        return bounds.floor, id_of(bounds.floor, 0)
    try:
        cursor = seq_of(given)
    except ValueError:
        says = "not the id of an event (a UUIDv7)" if last else f"neither the id of an event (a UUIDv7) nor {EARLIEST}"
        raise invalid(where, says, given) from None
    if cursor < bounds.floor:
        raise Refusal("cursor-expired", "Events after this id have been deleted by retention.")
    if cursor > max(bounds.newest, tail.head):
        return tail.head, await call.streams.newest_id()
    return cursor, given.lower()


HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
ROUTES = Routes("/v1", "stream")
_FORM: dict[str, Any] = {
    "query": StreamQuery,
    "refuses": ("cursor-expired",),
    "media": "text/event-stream",
    "also": ("application/x-ndjson",),
    "headers": ("Sanderling-Replay-From",),
}


@ROUTES("GET", "/stream", {200: str}, **_FORM)
async def _everything(call: Call) -> Answer:
    """Follow all events live, optionally after a replay."""
    return _answer(await everything(call, call.query, _listener(call)))


@ROUTES("GET", "/streams/{channel}", {200: str}, narrower="stream:read:{channel}", **_FORM)
async def _channel(call: Call) -> Answer:
    """Follow one channel live."""
    return _answer(await channel(call, call.path["channel"], call.query, _listener(call)))


def _listener(call: Call) -> Listener:
    assert call.key is not None
    ndjson = "application/x-ndjson" in call.headers.get("Accept", "")
    return Listener(call.key, call.headers.get("Last-Event-ID", "").strip(), "ndjson" if ndjson else "sse")


def _answer(reader: Reader) -> Answer:
    headers = HEADERS | {"Sanderling-Replay-From": reader.replay_from}
    return Answer(b"", media=MEDIA[reader.form], headers=headers, stream=reader)
