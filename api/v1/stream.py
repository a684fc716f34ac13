"""Live streams: from a request to a reader with its place in the log."""

from __future__ import annotations

from typing import Any

from actors.errors import NotFound
from api.channels import Channel
from api.problems import Refusal, invalid
from api.reader import Reader
from api.route import Answer, Call, Route
from api.schemas.queries import StreamQuery
from api.sse import MEDIA, Form
from api.v1.filters import sieve_of
from api.v1.past import EARLIEST
from storage.records.event import Kind
from storage.records.identity import Seq, id_of, seq_of

CHANNELS: dict[str, tuple[int, ...]] = {
    "push": (Kind.PUSH,),
    "feed": (Kind.FEED, Kind.HELD),
    "html": (Kind.HTML,),
    "alerts": (Kind.NOTICE,),
}


async def everything(call: Call) -> Answer:
    """Stream all events that pass the filters."""
    return await _open(call, ())


async def channel(call: Call) -> Answer:
    """Stream one channel: one of the service itself, that of a template, or that of an alert."""
    name = call.path["channel"]
    kinds = CHANNELS.get(name)
    if kinds is not None:
        return await _open(call, kinds)
    template = call.context.templates.catalogue.get(name)
    if template is not None:
        return await _open(call, (Kind.PUSH, Kind.FEED, Kind.HELD, Kind.HTML), label=template.tag)
    of_alerts = await call.streams.channels.get(name)
    if of_alerts is None:
        known = ", ".join((*CHANNELS, *(template.id for template in call.context.templates.catalogue)))
        raise NotFound(f"There is no channel of this name; there are {known}, and those of alerts.")
    return await _open(call, (), of_alerts)


async def _open(
    call: Call, kinds: tuple[int, ...], of_alerts: Channel | None = None, label: str | None = None
) -> Answer:
    query: StreamQuery = call.query
    languages = await call.streams.languages() if query.keyword else ()
    sieve = sieve_of(
        query.source,
        query.source_type,
        query.tag,
        query.keyword,
        call.streams.texts,
        languages=languages,
        kinds=kinds,
        channel=of_alerts,
        label=label,
    )
    assert call.key is not None
    call.streams.check_room(call.key)
    cursor, replay_from = await _start(call, query.since)
    form: Form = "ndjson" if "application/x-ndjson" in call.headers.get("Accept", "") else "sse"
    storage = call.context.storage
    reader = Reader(storage.log, storage.tail, sieve, cursor=cursor, form=form, replay_from=replay_from)
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store", "Sanderling-Replay-From": replay_from}
    return Answer(b"", media=MEDIA[form], headers=headers, stream=reader)


async def _start(call: Call, since: str | None) -> tuple[Seq, str]:
    """Return the position to start after, and the id that names it. Raises Refusal (400, 410)."""
    last = call.headers.get("Last-Event-ID", "").strip()
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


_ANSWERS = {200: str}
_FORM: dict[str, Any] = {
    "media": "text/event-stream",
    "also": ("application/x-ndjson",),
    "headers": ("Sanderling-Replay-From",),
}
ROUTES = (
    Route(
        method="GET",
        path="/v1/stream",
        scope="stream:read",
        run=everything,
        says="Follow all events live, after a replay if a position is given.",
        answers=_ANSWERS,
        query=StreamQuery,
        refuses=("cursor-expired",),
        **_FORM,
    ),
    Route(
        method="GET",
        path="/v1/streams/{channel}",
        scope="stream:read",
        narrower="stream:read:{channel}",
        run=channel,
        says="Follow one channel live.",
        answers=_ANSWERS,
        query=StreamQuery,
        refuses=("not-found", "cursor-expired"),
        **_FORM,
    ),
)
