"""Sources in the API: one operation per request, and records in the wire format."""

from __future__ import annotations

from typing import Literal

from actors.inheriting import origins_of
from actors.messages.declaring import mirrored
from actors.messages.requests import NewSource, SourcePatch
from actors.messages.views import AddedSource, SourceView
from actors.selection import SourceSelection
from api.etags import expected, shown, tag_of
from api.fields import sources as wire
from api.operations import sources as operations
from api.operations.batches import Failed
from api.pagination import next_page, place
from api.route import Answer, Call, routes_below
from storage.records.identity import Millis, rfc3339
from storage.records.revision import revision_of
from storage.records.secrecy import where_it_led
from storage.records.source import Source
from storage.records.states import RANK

# --- records to answers ----------------------------------------------------------------------------------------------


def time_or_null(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)


def _detected(source: Source) -> wire.Detected:
    led = where_it_led(source.detection.final_url, source.url, source.watch_url)
    return wire.Detected(**mirrored(source.detection, wire.Detected) | {"final_url": led})


def health_of(view: SourceView) -> wire.SourceHealth:
    health, hot = view.hot.health, view.hot
    return wire.SourceHealth(
        score=round(health.score, 4),
        flag=health.flag,
        reason=health.reason,
        last_success_at=rfc3339(view.source.created_at if hot.last_success_at is None else hot.last_success_at),
        rank=RANK[health.flag],
        last_checked_at=time_or_null(hot.last_look_at),
    )


def breaker_of(view: SourceView) -> wire.Breaker:
    return wire.Breaker(view.hot.breaker.state, time_or_null(view.hot.breaker.retry_at))


def record_of(view: SourceView) -> wire.SourceRecord:
    """Return a source's record, with flat copies of nested fields."""
    source, hot, health, effective = view.source, view.hot, health_of(view), view.effective
    fields = mirrored(source, wire.SourceRecord) | {"detection": _detected(source)}
    return wire.SourceRecord(
        detected_type=source.detection.type,
        has_hello=source.hello is not None,
        has_headers=source.headers is not None,
        headers_from=view.headers_from,
        follow_one_hop=source.follow != "none",
        rendered=hot.rendered,
        noise_count=len(source.noise),
        state=view.state,
        last_fetch_at=time_or_null(hot.last_look_at),
        last_success_at=time_or_null(hot.last_success_at),
        next_fetch_at=time_or_null(hot.next_look_at),
        last_event_at=time_or_null(hot.last_event_at),
        health=health,
        breaker=breaker_of(view),
        health_score=health.score,
        health_flag=health.flag,
        health_reason=health.reason,
        health_rank=health.rank,
        detection_confidence=source.detection.confidence,
        detection_evidence=source.detection.evidence,
        discovered_feed_url=source.detection.feed_url,
        effective=wire.EffectiveSettings(**mirrored(effective, wire.EffectiveSettings)),
        inherited={str(name): tags for name, tags in origins_of(effective).items()},
        mode="poll" if source.tier.polled else "push",
        revision=revision_of(source),
        private=view.private,
        **fields,
    )


# --- handlers --------------------------------------------------------------------------------------------------------


async def create(call: Call) -> Answer:
    """Add one source, or a batch."""
    if isinstance(call.body, wire.SourceBatch):
        return await _create_batch(call, call.body)
    added = await operations.add(call, call.body)
    record = record_of(added.view)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/sources/{added.view.source.id}"}
    return Answer(record, 201 if added.created else 200, headers=headers | tag_of(added.view.source))


async def _create_batch(call: Call, batch: wire.SourceBatch) -> Answer:
    outcomes = await operations.add_each(call, batch.sources)
    base_url = call.context.settings.public_url()
    results = tuple(_result(new, outcome, base_url) for new, outcome in zip(batch.sources, outcomes, strict=True))
    well = all(isinstance(outcome, AddedSource) for outcome in outcomes)
    settled = not any(result.status == "timeout" for result in results)
    return Answer(wire.BatchAnswer(results), 201 if well else 207, settled=settled)


def _result(new: NewSource, outcome: AddedSource | Failed, base_url: str) -> wire.BatchResult:
    if isinstance(outcome, Failed):
        status: Literal["timeout", "failed"] = "timeout" if outcome.late else "failed"
        return wire.BatchResult(new.url, status, error=outcome.refusal.document(base_url))
    record = record_of(outcome.view)
    done: Literal["created", "attached_existing"] = "created" if outcome.created else "attached_existing"
    return wire.BatchResult(new.url, done, record.detected_type, source=record)


async def list_sources(call: Call) -> Answer:
    """Return a page of sources, worst health first by default."""
    query: wire.SourcesQuery = call.query
    where = SourceSelection(words=tuple(query.q.split()), states=() if query.state is None else (query.state,))
    page = await operations.page(call, query.limit, place(call, tuple[int, float, str, int]), where, query.sort)
    return Answer([record_of(view) for view in page.views], headers=next_page(call, page.next_after))


async def describe(call: Call) -> Answer:
    view = await operations.view(call, call.path["id"])
    return shown(call, view.source, record_of(view))


async def health(call: Call) -> Answer:
    return Answer(health_of(await operations.view(call, call.path["id"])))


async def _changed(call: Call, patch: SourcePatch) -> Answer:
    view = await operations.change(call, call.path["id"], patch, expected(call))
    return Answer(record_of(view), headers=tag_of(view.source))


async def patch(call: Call) -> Answer:
    return await _changed(call, call.body)


async def disable(call: Call) -> Answer:
    return await _changed(call, SourcePatch(enabled=False))


async def enable(call: Call) -> Answer:
    return await _changed(call, SourcePatch(enabled=True))


async def delete(call: Call) -> Answer:
    await operations.delete(call, call.path["id"], expected(call))
    return Answer(status=204)


async def restore(call: Call) -> Answer:
    view = await operations.restore(call, call.path["id"])
    return Answer(record_of(view), headers=tag_of(view.source))


async def check(call: Call) -> Answer:
    due = await operations.check(call, call.path["id"])
    return Answer(wire.CheckAnswer(operations.known(call.path["id"]), rfc3339(due)), 202)


_route = routes_below("/v1/sources", "sources")
_ONE = {200: wire.SourceRecord}
_MAYBE = ("not-found",)
_UNLESS_STALE = (*_MAYBE, "precondition-failed")
_TAGGED = ("ETag",)
ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Classify a URL and watch it; or up to 20 at once.",
        {201: (wire.SourceRecord, wire.BatchAnswer), 200: wire.SourceRecord, 207: wire.BatchAnswer},
        body=(NewSource, wire.SourceBatch),
        refuses=("library-full", "url-refused", "unprocessable"),
        headers=("Location", *_TAGGED),
        repeatable=True,
    ),
    _route(
        "GET",
        "",
        list_sources,
        "List sources, worst health first.",
        {200: list[wire.SourceRecord]},
        query=wire.SourcesQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one source.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        "/{id}",
        patch,
        "Change one source; its URL is fixed.",
        _ONE,
        body=(SourcePatch,),
        refuses=("not-found", "precondition-failed", "url-refused", "unprocessable"),
        headers=_TAGGED,
    ),
    _route("DELETE", "/{id}", delete, "Delete one source; its events stay.", {204: None}, refuses=_UNLESS_STALE),
    _route(
        "POST",
        "/{id}/disable",
        disable,
        "Pause one source.",
        _ONE,
        refuses=_UNLESS_STALE,
        headers=_TAGGED,
    ),
    _route("POST", "/{id}/enable", enable, "Resume one source.", _ONE, refuses=_UNLESS_STALE, headers=_TAGGED),
    _route(
        "POST",
        "/{id}/restore",
        restore,
        "Restore a source deleted less than ten minutes ago.",
        _ONE,
        refuses=(*_MAYBE, "conflict", "library-full"),
        headers=_TAGGED,
    ),
    _route("GET", "/{id}/health", health, "Read the health of a source.", {200: wire.SourceHealth}, refuses=_MAYBE),
    _route(
        "POST",
        "/{id}/check",
        check,
        "Check a source now, if politeness allows.",
        {202: wire.CheckAnswer},
        refuses=("not-found", "conflict"),
    ),
)
