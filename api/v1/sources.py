"""Sources: the registry's actor is asked, its answer written in the wire's words."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, Literal, TypeVar
from uuid import UUID

import trio
from msgspec import UNSET

from actors.errors import NotFound, Unprocessable
from actors.messages.sources import (
    AddSource,
    CheckNow,
    DeleteSource,
    DescribeSource,
    EditSource,
    ListSources,
    SourceEdit,
)
from actors.messages.views import AddedSource, SourceView
from actors.settings import wall_limit
from api.etags import expected, shown, tag_of
from api.pagination import next_page, place
from api.route import Answer, Call, routes_below
from api.schemas import sources as wire
from api.v1.batches import Failed, for_each, place_of
from storage.records.health import RANK
from storage.records.identity import Millis, SourceId
from storage.records.revision import Expected
from storage.records.source import OWN_NAMESPACES, Detection
from storage.records.times import rfc3339
from supervision import Reply

R = TypeVar("R")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SHORTEST, _LONGEST = 60, 7 * 86400
ANSWER_WITHIN = 15.0
"""Seconds for the registry's answer, beside the time of a look where there is one."""

# --- requests to records ---------------------------------------------------------------------------------------------


def tags_of(tags: tuple[str, ...], where: str, there: Collection[str] = ()) -> tuple[str, ...]:
    """Return tags with their namespaces. Raises Unprocessable for the service's own, unless they are there already.

    >>> tags_of(("topic:ai", "mine", "mine"), "body.tags")
    ('topic:ai', 'label:mine')
    """
    named: dict[str, None] = {}
    for index, tag in enumerate(tags):
        space, colon, value = tag.strip().partition(":")
        if not colon:
            space, value = "label", space
        if not space or not value or (space in OWN_NAMESPACES and f"{space}:{value}" not in there):
            ours = space in OWN_NAMESPACES
            rule = (
                f"the namespace {space!r} is the service's own; take another, or none"
                if ours
                else "write <namespace>:<value>, or a word"
            )
            raise Unprocessable(f"{where}[{index}]: {rule}", f"{where}[{index}]", tag)
        named[f"{space}:{value}"] = None
    return tuple(named)


def seconds_of(schedule: str, where: str) -> int:
    """Return the seconds of an interval such as `10m`. Raises Unprocessable outside one minute to seven days."""
    seconds = int(schedule[:-1]) * _UNITS[schedule[-1]]
    if not _SHORTEST <= seconds <= _LONGEST:
        raise Unprocessable(f"{where}: an interval is from 1m to 7d", where, schedule)
    return seconds


def distinct(subprotocols: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return subprotocols as they are. Raises Unprocessable when one is there twice, which RFC 6455 forbids."""
    for index, name in enumerate(subprotocols):
        if name in subprotocols[:index]:
            raise Unprocessable(f"{where}[{index}]: {name} is there already", f"{where}[{index}]", name)
    return subprotocols


def title_of(text: str) -> str:
    """Return a title as it is kept: one line.

    >>> title_of("  Day\\n tickets ")
    'Day tickets'
    """
    return " ".join(text.split())


def interval_text(seconds: int) -> str:
    """Return seconds in the largest unit that divides them.

    >>> interval_text(600), interval_text(90)
    ('10m', '90s')
    """
    unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


def _add(new: wire.NewSource, where: str, reply: Reply[AddedSource]) -> AddSource:
    return AddSource(
        url=new.url,
        reply=reply,
        type=new.type,
        tags=tags_of(new.tags, f"{where}.tags"),
        selector=new.selector,
        ignore=new.ignore,
        schedule=None if new.schedule is None else seconds_of(new.schedule, f"{where}.schedule"),
        backfill=new.backfill,
        filter=new.filter,
        bar=new.bar,
        subprotocols=distinct(new.subprotocols, f"{where}.subprotocols"),
        hello=new.hello,
        title=title_of(new.title),
        later=new.verify == "later",
    )


def _edit(patch: wire.SourcePatch, tags: Collection[str]) -> SourceEdit:
    """Return the change that is asked for; `tags` are those that the source has."""
    clear = tuple(name for name in ("selector", "schedule", "filter", "bar", "hello") if getattr(patch, name) is None)
    schedule = patch.schedule or None
    return SourceEdit(
        type=None if patch.type is UNSET else patch.type,
        enabled=None if patch.enabled is UNSET else patch.enabled,
        tags=None if patch.tags is UNSET else tags_of(patch.tags, "body.tags", tags),
        selector=patch.selector or None,
        ignore=None if patch.ignore is UNSET else patch.ignore,
        schedule=None if schedule is None else seconds_of(schedule, "body.schedule"),
        filter=None if patch.filter is UNSET else patch.filter,
        bar=None if patch.bar is UNSET else patch.bar,
        subprotocols=None if patch.subprotocols is UNSET else distinct(patch.subprotocols, "body.subprotocols"),
        hello=patch.hello or None,
        title=None if patch.title is UNSET else title_of(patch.title),
        clear=clear,
    )


def source_id(call: Call) -> SourceId:
    """Return the id in the path. Raises NotFound for what can't be one."""
    text = call.path["id"]
    try:
        return SourceId(str(UUID(text)))
    except ValueError:
        raise NotFound("There is no such source.") from None


# --- records to answers ----------------------------------------------------------------------------------------------


def time_or_null(at: Millis | None) -> str | None:
    """Return RFC 3339, or None."""
    return None if at is None else rfc3339(at)


def _detected(found: Detection) -> wire.Detected:
    return wire.Detected(
        found.type, found.confidence, found.evidence, found.final_url, found.content_type, found.feed_url, found.pending
    )


def health_of(view: SourceView) -> wire.SourceHealth:
    """Return a source's health."""
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
    """Return a source's circuit breaker."""
    return wire.Breaker(view.hot.breaker.state, time_or_null(view.hot.breaker.retry_at))


def record_of(view: SourceView) -> wire.SourceRecord:
    """Return a source's record, with the flat twins of its nested fields."""
    source, hot, health = view.source, view.hot, health_of(view)
    return wire.SourceRecord(
        id=source.id,
        url=source.url,
        title=source.title,
        found_title=source.found_title,
        type=source.type,
        detected_type=source.detection.type,
        detection=_detected(source.detection),
        enabled=source.enabled,
        tags=source.tags,
        selector=source.selector,
        ignore=source.ignore,
        filter=source.filter,
        subprotocols=source.subprotocols,
        has_hello=source.hello is not None,
        schedule=None if source.schedule is None else interval_text(source.schedule),
        bar=source.bar,
        noise_count=len(source.noise),
        created_at=rfc3339(source.created_at),
        updated_at=rfc3339(source.updated_at),
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
        mode="push" if source.type == "push" else "poll",
    )


# --- handlers --------------------------------------------------------------------------------------------------------


async def ask_registry(call: Call, make: Any, *, looks: bool = False) -> Any:
    """Ask the registry. Raises what it answers with, and TooSlowError (503) when it doesn't."""
    settings = call.context.settings
    with trio.fail_after(ANSWER_WITHIN + (settings.look_timeout + wall_limit(settings.parse_deadline)) * looks):
        return await call.context.registry.ask(make)


async def create(call: Call) -> Answer:
    """Add one source, or a batch."""
    if isinstance(call.body, wire.SourceBatch):
        return await _create_batch(call, call.body)
    added: AddedSource = await ask_registry(call, partial(_add, call.body, "body"), looks=True)
    record = record_of(added.view)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/sources/{record.id}"}
    return Answer(record, 201 if added.created else 200, headers=headers | tag_of(added.view.source))


async def _create_batch(call: Call, batch: wire.SourceBatch) -> Answer:
    async def add(new: wire.NewSource, where: str) -> AddedSource:
        added: AddedSource = await ask_registry(call, partial(_add, new, where), looks=True)
        return added

    urls = [new.url for new in batch.sources]
    outcomes = await for_each(call, urls, lambda number: add(batch.sources[number], place_of(number)))
    base_url = call.context.settings.public_url()
    results = tuple(_result(new, outcome, base_url) for new, outcome in zip(batch.sources, outcomes, strict=True))
    well = all(isinstance(outcome, AddedSource) for outcome in outcomes)
    settled = not any(result.status == "timeout" for result in results)
    return Answer(wire.BatchAnswer(results), 201 if well else 207, settled=settled)


def _result(new: wire.NewSource, outcome: AddedSource | Failed, base_url: str) -> wire.BatchResult:
    if isinstance(outcome, Failed):
        status: Literal["timeout", "failed"] = "timeout" if outcome.late else "failed"
        return wire.BatchResult(new.url, status, error=outcome.refusal.document(base_url))
    record = record_of(outcome.view)
    done: Literal["created", "attached_existing"] = "created" if outcome.created else "attached_existing"
    return wire.BatchResult(new.url, done, record.detected_type, source=record)


async def list_sources(call: Call) -> Answer:
    """Return a page of sources, worst health first."""
    query: wire.ListQuery = call.query
    after = place(call, tuple[int, float, str, int])
    page = await ask_registry(call, lambda reply: ListSources(limit=query.limit, reply=reply, after=after))
    return Answer([record_of(view) for view in page.views], headers=next_page(call, page.next_after))


async def view_of(call: Call) -> SourceView:
    """Return the source in the path as it is now. Raises NotFound."""
    source = source_id(call)
    view: SourceView = await ask_registry(call, lambda reply: DescribeSource(source=source, reply=reply))
    return view


async def describe(call: Call) -> Answer:
    """Return one source."""
    view = await view_of(call)
    return shown(call, view.source, record_of(view))


async def health(call: Call) -> Answer:
    """Return one source's health."""
    return Answer(health_of(await view_of(call)))


async def change(call: Call, wanted: wire.SourcePatch, start: Expected = None) -> SourceView:
    """Change the source in the path, from an expected revision. Raises NotFound, Stale, Unprocessable."""
    there = (await view_of(call)).source.tags if wanted.tags else ()
    return await _changed(call, _edit(wanted, there), start)


async def _changed(call: Call, edit: SourceEdit, start: Expected) -> SourceView:
    source = source_id(call)
    view: SourceView = await ask_registry(call, lambda reply: EditSource(source, edit, reply, start), looks=True)
    return view


def _tagged(view: SourceView) -> Answer:
    return Answer(record_of(view), headers=tag_of(view.source))


async def patch(call: Call) -> Answer:
    """Change one source."""
    return _tagged(await change(call, call.body, expected(call)))


async def disable(call: Call) -> Answer:
    """Stop watching, keep the source."""
    return _tagged(await _changed(call, SourceEdit(enabled=False), expected(call)))


async def enable(call: Call) -> Answer:
    """Watch again."""
    return _tagged(await _changed(call, SourceEdit(enabled=True), expected(call)))


async def delete(call: Call) -> Answer:
    """Forget one source."""
    source, revisions = source_id(call), expected(call)
    await ask_registry(call, lambda reply: DeleteSource(source, reply, revisions))
    return Answer(status=204)


async def check(call: Call) -> Answer:
    """Look now."""
    source = source_id(call)
    due = await ask_registry(call, lambda reply: CheckNow(source=source, reply=reply))
    return Answer(wire.CheckAnswer(source, rfc3339(due)), 202)


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
        body=(wire.NewSource, wire.SourceBatch),
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
        query=wire.ListQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one source.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        "/{id}",
        patch,
        "Change one source; its URL is fixed.",
        _ONE,
        body=(wire.SourcePatch,),
        refuses=("not-found", "precondition-failed", "url-refused", "unprocessable"),
        headers=_TAGGED,
    ),
    _route("DELETE", "/{id}", delete, "Forget one source; its events stay.", {204: None}, refuses=_UNLESS_STALE),
    _route(
        "POST",
        "/{id}/disable",
        disable,
        "Stop watching, keep the source.",
        _ONE,
        refuses=_UNLESS_STALE,
        headers=_TAGGED,
    ),
    _route("POST", "/{id}/enable", enable, "Watch again.", _ONE, refuses=_UNLESS_STALE, headers=_TAGGED),
    _route("GET", "/{id}/health", health, "Read how a source is doing.", {200: wire.SourceHealth}, refuses=_MAYBE),
    _route(
        "POST",
        "/{id}/check",
        check,
        "Look now, within what politeness allows.",
        {202: wire.CheckAnswer},
        refuses=("not-found", "conflict"),
    ),
)
