"""Sources: each request is checked and passed to the registry's actor; their routes.

Of many URLs in one request a few are added at a time, in the order of the request, each isolated. Duplicates of a URL
run one after the other, so it is added once. The answer comes before a proxy would time out: unfinished URLs get
`timeout`, and may still finish.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.egress.url import parse_url
from actors.errors import DomainError, Stale, Unprocessable, UrlRefused
from actors.inheritance import origins_of
from actors.messages import sources as messages
from actors.messages import views
from actors.messages.declaring import made_of
from actors.messages.requests import DetectRequest, NewSource, Previewed, SourcePatch
from actors.messages.views import ALL, SourceSelection, SourceSort
from actors.settings import wall_limit
from api.etags import deleting, etag_of, expected, shown
from api.fields import sources as wire
from api.fields.sources import PreviewRequest
from api.nouns.context import OperationContext, known_id
from api.pagination import next_page, place
from api.problems import INTERNAL, Refusal, later
from api.refusals import refusal_of
from api.route import Answer, Call, Routes
from storage.records.alert import Scope
from storage.records.identity import Millis, SourceId, rfc3339, seconds_of
from storage.records.revision import Expected, revision_of
from storage.records.secrecy import where_it_led
from storage.records.source import OWN_NAMESPACES, RANK, RESTS, Source, SourceRuntime, distinct_names, tag_of
from supervision import Reply

AT_ONCE = 8  # concurrent URLs per request: a quarter of the registry's concurrency
WITHIN = 55.0  # seconds for a whole request
_LATE = "Detecting this URL took too long. It may still be added: repeat the request to find out."
LATE = later("unavailable", _LATE, 5)
R = TypeVar("R")
_OfOne = Callable[[OperationContext, str], Awaitable[R]]


class Failed(NamedTuple):
    """A URL that failed. late: it may still finish. may_pass: see `DomainError`."""

    refusal: Refusal
    late: bool
    may_pass: bool = False


def place_of(number: int) -> str:
    return f"body.sources[{number}]"


async def for_each(
    call: OperationContext, urls: Sequence[str], act: Callable[[int], Awaitable[R]]
) -> Sequence[R | Failed]:
    """Run `act` with each URL's number; return the outcomes in order. Errors name the URL's `place_of`."""
    outcomes: list[R | Failed] = [Failed(LATE, late=True)] * len(urls)
    deadline = trio.current_time() + WITHIN
    slots = trio.Semaphore(AT_ONCE)

    async def run(numbers: Sequence[int]) -> None:
        try:
            for number in numbers:
                outcomes[number] = await _outcome(call, partial(act, number), place_of(number))
        finally:
            slots.release()

    with trio.CancelScope(deadline=deadline):
        async with trio.open_nursery() as nursery:
            for numbers in _by_url(urls):
                await slots.acquire()
                nursery.start_soon(run, numbers)
    return outcomes


def _by_url(urls: Sequence[str]) -> Sequence[Sequence[int]]:
    """Group the numbers by normalised URL. A group runs in order, so that its first adds the source."""
    found: dict[str, list[int]] = {}
    for number, text in enumerate(urls):
        try:
            url = parse_url(text).text
        except UrlRefused:
            url = text
        found.setdefault(url, []).append(number)
    return tuple(found.values())


async def _outcome(call: OperationContext, act: Callable[[], Awaitable[R]], where: str) -> R | Failed:
    try:
        return await act()
    except trio.TooSlowError:
        return Failed(LATE, late=True)
    except Exception as error:  # any error belongs to this URL only; bugs are logged
        may_pass = isinstance(error, DomainError) and error.may_pass
        return Failed(_refusal(call, error, where), late=False, may_pass=may_pass)


def _refusal(call: OperationContext, error: Exception, where: str) -> Refusal:
    if isinstance(error, Unprocessable) and not error.location.startswith(where):
        location = error.location
        error.location = where + location.removeprefix("body")
        error.detail = error.detail.replace(f"{location}:", f"{error.location}:")
    refusal = refusal_of(error)
    if refusal is None:
        said = f"{type(error).__name__}: {error}"[:500]
        call.context.world.log("http.fault", level="error", request_id=call.request_id, where=where, error=said)
        return INTERNAL
    return refusal


ANSWER_WITHIN = 15.0  # seconds for the registry's answer, in addition to the time of a check, if any
_SHORTEST, _LONGEST = 60, 7 * 86400
_PAGE = 500
Place = tuple[int, float, str, int]

# --- input -----------------------------------------------------------------------------------------------------------


def parse_id(id: str) -> SourceId:
    """Return a normalised source id. Raises NotFound for an invalid one."""
    return SourceId(known_id(id, "source"))


def tags_of(tags: tuple[str, ...], where: str, there: Collection[str] = ()) -> tuple[str, ...]:
    """Return tags with their namespaces. Raises Unprocessable for the service's own, unless the source has them.

    >>> tags_of(("topic:ai", "mine", "mine"), "body.tags")
    ('topic:ai', 'label:mine')
    """
    named: dict[str, None] = {}
    for index, tag in enumerate(tags):
        space, _, value = tag_of(tag.strip()).partition(":")
        if not space or not value or (space in OWN_NAMESPACES and f"{space}:{value}" not in there):
            rule = "write <namespace>:<value>, or a word"
            if space in OWN_NAMESPACES:
                rule = f"the namespace {space!r} is the service's own; take another, or none"
            raise Unprocessable(f"{where}[{index}]: {rule}", f"{where}[{index}]", tag)
        named[f"{space}:{value}"] = None
    return tuple(named)


def title_of(text: str) -> str:
    """Return a title as stored: one line.

    >>> title_of("  Day\\n tickets ")
    'Day tickets'
    """
    return " ".join(text.split())


def check_schedule(schedule: str, where: str) -> None:
    if not _SHORTEST <= seconds_of(schedule) <= _LONGEST:
        raise Unprocessable(f"{where}: an interval is from 1m to 7d", where, schedule)


def _check_distinct(subprotocols: tuple[str, ...], where: str) -> None:
    """Refuse duplicate subprotocols, which RFC 6455 forbids."""
    for index, name in enumerate(subprotocols):
        if name in subprotocols[:index]:
            raise Unprocessable(f"{where}[{index}]: {name} is there already", f"{where}[{index}]", name)


def checked(new: NewSource, where: str = "body") -> NewSource:
    """Return a request with normalised tags and title. Raises Unprocessable."""
    if new.schedule is not None:
        check_schedule(new.schedule, f"{where}.schedule")
    _check_distinct(new.subprotocols, f"{where}.subprotocols")
    return replace(new, tags=tags_of(new.tags, f"{where}.tags"), title=title_of(new.title))


def checked_patch(patch: SourcePatch, there: Collection[str]) -> SourcePatch:
    """Return a patch with normalised tags and title. there: the source's current tags. Raises Unprocessable."""
    if isinstance(patch.schedule, str):
        check_schedule(patch.schedule, "body.schedule")
    if patch.subprotocols is not UNSET:
        _check_distinct(patch.subprotocols, "body.subprotocols")
    if patch.tags is not UNSET:
        patch = replace(patch, tags=tags_of(patch.tags, "body.tags", there))
    return patch if patch.title is UNSET else replace(patch, title=title_of(patch.title))


# --- operations ------------------------------------------------------------------------------------------------------


async def ask_registry(
    call: OperationContext, make: Callable[[Reply[R]], messages.RegistryMessage], *, looks: bool = False
) -> R:
    """Ask the registry. Raises its errors, and TooSlowError (503). looks: allow for the time of a check."""
    settings = call.context.settings
    with trio.fail_after(ANSWER_WITHIN + (settings.look_timeout + wall_limit(settings.parse_deadline)) * looks):
        return await call.context.registry.ask(make)


def reads_sources(call: OperationContext) -> bool:
    """Return whether the caller may see the content of a check with borrowed headers."""
    return call.may("sources:read")


async def add(call: OperationContext, new: NewSource, where: str = "body") -> views.AddedSource:
    """Classify a URL and watch it. Raises Unprocessable, UrlRefused, Overloaded, LibraryFull."""
    wanted, reads = checked(new, where), reads_sources(call)
    return await ask_registry(call, lambda it: messages.AddSource(wanted, it, by=call.by, reads=reads), looks=True)


def _asks(message: Callable[[SourceId, Reply[R]], messages.RegistryMessage]) -> _OfOne[R]:
    """Return the operation that sends the registry one message about a source. Raises NotFound, and its errors."""
    return lambda call, id: ask_registry(call, partial(message, parse_id(id)))


view = _asks(messages.DescribeSource)
restore = _asks(messages.RestoreSource)
"""Restores a deleted source within its rest period. Raises Conflict, LibraryFull."""
check = _asks(messages.CheckNow)  # Checks now; returns when the check is due. Raises Conflict, TooSoon.
examine = _asks(messages.ExamineSource)  # explains a source's score and the time of its next check


async def page(
    call: OperationContext,
    limit: int,
    after: Place | None = None,
    where: SourceSelection = ALL,
    sort: SourceSort = "worst",
) -> views.SourcePage:
    looks = bool(where) or sort != "worst"
    return await ask_registry(call, lambda reply: messages.ListSources(limit, reply, after, where, sort), looks=looks)


async def every(call: OperationContext, most: int, where: SourceSelection = ALL) -> list[Source]:
    found: list[Source] = []
    after = None
    while len(found) < most:
        answer = await page(call, _PAGE, after, where)
        found += [view.source for view in answer.views]
        if (after := answer.next_after) is None:
            break
    return found[:most]


async def tags(call: OperationContext) -> Mapping[str, int]:
    """Return the number of sources per tag, and below each tag: "news/*", "topic:*"."""
    return await ask_registry(call, messages.CountTags)


async def change(call: OperationContext, id: str, patch: SourcePatch, expected: Expected = None) -> views.SourceView:
    """Change a source, from an expected revision. Raises NotFound, Stale, Unprocessable."""
    source = parse_id(id)
    there = (await view(call, id)).source.tags if patch.tags else ()
    wanted = checked_patch(patch, there)
    return await ask_registry(call, lambda it: messages.EditSource(source, wanted, it, expected, call.by), looks=True)


async def pause(call: OperationContext, id: str) -> str:
    """Pause a source; return its id, or "" if it was paused already. Raises as `change` does."""
    if not (await view(call, id)).source.enabled:
        return ""
    return (await change(call, id, SourcePatch(enabled=False))).source.id


async def resume(call: OperationContext, id: str) -> str:
    """Resume a source; return its id. Raises as `change` does."""
    return (await change(call, id, SourcePatch(enabled=True))).source.id


async def retag(
    call: OperationContext, id: str, change_tags: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> views.SourceView:
    """Change a source's tags, again if someone else has edited it. Raises NotFound, Unprocessable, Stale."""
    for last in (False, False, True):
        found = await view(call, id)
        tags = change_tags(found.source.tags)
        if tags == found.source.tags:
            return found
        try:
            return await change(call, id, SourcePatch(tags=tags), frozenset((revision_of(found.source),)))
        except Stale:
            if last:
                raise
    raise AssertionError


async def mark(call: OperationContext, id: str, tag: str, *, on: bool) -> views.SourceView:
    """Add or remove a source's tag; a bare word is a label. Raises as `retag` does."""
    wanted = tag_of(tag.strip())
    if on:
        return await retag(call, id, lambda tags: tags if wanted in tags else (*tags, wanted))
    return await retag(call, id, lambda tags: tuple(each for each in tags if each != wanted))


async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete a source, restorable for a while; its events stay. Raises NotFound, Stale."""
    source = parse_id(id)
    await ask_registry(call, lambda reply: messages.DeleteSource(source, reply, expected))


async def deleted(call: OperationContext, limit: int) -> Sequence[Source]:
    since = Millis(call.context.world.now() - RESTS + 1)
    return await call.context.storage.sources.deleted(since, limit)


async def detect(call: OperationContext, request: DetectRequest) -> wire.DetectAnswer:
    """Classify a URL without adding it, and preview its events. Raises as `add`."""
    wish, url = replace(request, tags=tags_of(request.tags, "body.tags")), request.url
    reads = reads_sources(call)
    found: Previewed = await ask_registry(call, lambda reply: messages.DetectUrl(wish, reply, reads), looks=True)
    return made_of(
        wire.DetectAnswer,
        found.detection,
        url=url,
        supported=True,
        discovered_feed_url=found.detection.feed_url,
        source_id=found.source,
        final_url=where_it_led(found.detection.final_url, url),
        preview=made_of(wire.Preview, found.preview),
    )


async def preview(call: OperationContext, id: str, request: PreviewRequest) -> wire.Preview:
    """Preview another part of a watched page. Raises NotFound, Unprocessable, TooSoon, Overloaded."""
    source = parse_id(id)
    now = (await view(call, id)).source
    selector = now.selector if request.selector is UNSET else request.selector
    ignore = now.ignore if request.ignore is UNSET else request.ignore
    asked = partial(messages.PreviewSource, source, selector, ignore)
    return made_of(wire.Preview, await ask_registry(call, asked, looks=True))


async def reported_page(call: OperationContext, id: str, *, values: bool = False) -> views.ReportedPage | None:
    """Return a page as last reported, None for no page or an unread one. Raises NotFound; with `values`, Overloaded."""
    source = parse_id(id)
    return await ask_registry(call, lambda reply: messages.GetReportedPage(source, reply, values))


async def explain(call: OperationContext, id: str, text: str = "", *, look: bool = False) -> views.SourceExplanation:
    """Explain why a text was not reported. look: check now too, if politeness allows. Raises NotFound."""
    source = parse_id(id)
    return await ask_registry(call, lambda reply: messages.ExplainSource(source, reply, text.strip(), look))


async def teach(call: OperationContext, source: SourceId, texts: tuple[str, ...], *, noise: bool) -> views.TeachResult:
    """Add blocks of a page to the source's learned churn, or remove them. Raises NotFound, Unprocessable."""
    return await ask_registry(call, lambda reply: messages.Teach(source, texts, noise, reply))


async def each(call: OperationContext, ids: Sequence[str], act: _OfOne[R]) -> Sequence[R | Failed]:
    return await for_each(call, ids, lambda number: act(call, ids[number]))


MOST_NAMED = 100  # private sources to list in the details of an alert or a publication


async def private_sources(
    call: OperationContext, scope: Scope, has_left: Callable[[Source, SourceRuntime], bool]
) -> Mapping[str, Sequence[str]]:
    """Return names of private sources of a scope, `MOST_NAMED` at most: `named`, `included` (by name, or as they were
    private before), `left_out`, `gone` since the last edit.
    """
    found = (await page(call, MOST_NAMED, where=SourceSelection(private=True))).views
    names = distinct_names((view.source.id, view.source.called, view.source.url) for view in found)
    since = call.context.private_since
    has = [view for view in found if scope.has(view.source.id, view.source.tags)]
    out = [view for view in has if not scope.includes(view.source.id, since(view.source.id))]
    return {
        "named": [names[view.source.id] for view in found if scope.names(view.source.id)],
        "included": [names[view.source.id] for view in has if view not in out],
        "left_out": [names[view.source.id] for view in out],
        "gone": [names[view.source.id] for view in out if has_left(view.source, view.hot)],
    }


# --- records to answers ----------------------------------------------------------------------------------------------


def time_or_null(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)


def health_of(view: views.SourceView) -> wire.SourceHealth:
    health, hot = view.hot.health, view.hot
    return made_of(
        wire.SourceHealth,
        health,
        score=round(health.score, 4),
        last_success_at=rfc3339(view.source.created_at if hot.last_success_at is None else hot.last_success_at),
        rank=RANK[health.flag],
        last_checked_at=time_or_null(hot.last_look_at),
    )


def record_of(view: views.SourceView) -> wire.SourceRecord:
    source, health = view.source, health_of(view)
    led = where_it_led(source.detection.final_url, source.url, source.watch_url)
    return made_of(
        wire.SourceRecord,
        view,
        source,
        view.hot,
        detection=made_of(wire.Detected, source.detection, final_url=led),
        detected_type=source.detection.type,
        has_hello=source.hello is not None,
        has_headers=source.headers is not None,
        follow_one_hop=source.follow != "none",
        noise_count=len(source.noise),
        last_fetch_at=time_or_null(view.hot.last_look_at),
        next_fetch_at=time_or_null(view.hot.next_look_at),
        health=health,
        health_score=health.score,
        health_flag=health.flag,
        health_reason=health.reason,
        health_rank=health.rank,
        detection_confidence=source.detection.confidence,
        detection_evidence=source.detection.evidence,
        discovered_feed_url=source.detection.feed_url,
        inherited={str(name): tags for name, tags in origins_of(view.effective).items()},
        mode="poll" if source.tier.polled else "push",
        revision=revision_of(source),
    )


ROUTES = Routes("/v1/sources", "sources")
_ONE = {200: wire.SourceRecord}
_PAUSE, _RESUME = SourcePatch(enabled=False), SourcePatch(enabled=True)
_UNLESS_STALE, _WRONG = ("precondition-failed",), ("url-refused", "unprocessable")
_ADDED = {201: (wire.SourceRecord, wire.BatchAnswer), 200: wire.SourceRecord, 207: wire.BatchAnswer}


@ROUTES("POST", "", _ADDED, body=(NewSource, wire.SourceBatch), refuses=("library-full", *_WRONG), repeatable=True)
async def create(call: Call) -> Answer:
    """Classify a URL and watch it; or up to 20 at once."""
    if isinstance(call.body, wire.SourceBatch):
        batch = call.body.sources
        urls = [new.url for new in batch]
        outcomes = await for_each(call, urls, lambda number: add(call, batch[number], place_of(number)))
        base_url = call.context.settings.public_url()
        results = tuple(_result(new, outcome, base_url) for new, outcome in zip(batch, outcomes, strict=True))
        well = all(isinstance(outcome, views.AddedSource) for outcome in outcomes)
        settled = not any(result.status == "timeout" for result in results)
        return Answer(wire.BatchAnswer(results), 201 if well else 207, settled=settled)
    added = await add(call, call.body)
    record = record_of(added.view)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/sources/{added.view.source.id}"}
    return Answer(record, 201 if added.created else 200, headers=headers | etag_of(added.view.source))


def _result(new: NewSource, outcome: views.AddedSource | Failed, base_url: str) -> wire.BatchResult:
    if isinstance(outcome, Failed):
        status: Literal["timeout", "failed"] = "timeout" if outcome.late else "failed"
        return wire.BatchResult(new.url, status, error=outcome.refusal.document(base_url))
    record = record_of(outcome.view)
    done: Literal["created", "attached_existing"] = "created" if outcome.created else "attached_existing"
    return wire.BatchResult(new.url, done, record.detected_type, source=record)


@ROUTES("GET", "", {200: list[wire.SourceRecord]}, query=wire.SourcesQuery)
async def list_sources(call: Call) -> Answer:
    """List sources, worst health first."""
    query: wire.SourcesQuery = call.query
    where = SourceSelection(words=tuple(query.q.split()), states=() if query.state is None else (query.state,))
    found = await page(call, query.limit, place(call, tuple[int, float, str, int]), where, query.sort)
    return Answer([record_of(view) for view in found.views], headers=next_page(call, found.next_after))


@ROUTES("GET", "/{id}", _ONE | {304: None})
async def describe(call: Call) -> Answer:
    """Read one source."""
    found = await view(call, call.path["id"])
    return shown(call, found.source, record_of(found))


@ROUTES("PATCH", "/{id}", _ONE, body=(SourcePatch,), refuses=(*_UNLESS_STALE, *_WRONG))
async def _change(call: Call, patch: SourcePatch | None = None) -> Answer:
    """Change one source; its URL is fixed."""
    view = await change(call, call.path["id"], call.body if patch is None else patch, expected(call))
    return Answer(record_of(view), headers=etag_of(view.source))


_DELETES = "Delete one source; its events stay."
ROUTES("DELETE", "/{id}", {204: None}, says=_DELETES, refuses=_UNLESS_STALE)(deleting(delete))
ROUTES("POST", "/{id}/disable", _ONE, says="Pause one source.", refuses=_UNLESS_STALE)(partial(_change, patch=_PAUSE))
ROUTES("POST", "/{id}/enable", _ONE, says="Resume one source.", refuses=_UNLESS_STALE)(partial(_change, patch=_RESUME))


@ROUTES("POST", "/{id}/restore", _ONE, refuses=("conflict", "library-full"))
async def _restore(call: Call) -> Answer:
    """Restore a source deleted less than ten minutes ago."""
    view = await restore(call, call.path["id"])
    return Answer(record_of(view), headers=etag_of(view.source))


@ROUTES("GET", "/{id}/health", {200: wire.SourceHealth})
async def health(call: Call) -> Answer:
    """Read the health of a source."""
    return Answer(health_of(await view(call, call.path["id"])))


@ROUTES("POST", "/{id}/check", {202: wire.CheckAnswer}, refuses=("conflict",))
async def _check(call: Call) -> Answer:
    """Check a source now, if politeness allows."""
    due = await check(call, call.path["id"])
    return Answer(wire.CheckAnswer(parse_id(call.path["id"]), rfc3339(due)), 202)


PREVIEWS = Routes("/v1/sources", "sources")


@PREVIEWS("POST", "/detect", {200: wire.DetectAnswer}, body=(DetectRequest,), refuses=_WRONG)
async def _detect(call: Call) -> Answer:
    """Classify a URL without watching it, and preview its events."""
    return Answer(await detect(call, call.body))


@PREVIEWS(
    "POST", "/{id}/preview", {200: wire.Preview}, beside=("sources:read",), body=(PreviewRequest,), refuses=_WRONG
)
async def _preview(call: Call) -> Answer:
    """Preview another selector on a watched page."""
    return Answer(await preview(call, call.path["id"], call.body))
