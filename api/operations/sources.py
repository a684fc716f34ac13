"""Sources, for any face: validate each request and pass it to the registry's actor; return records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.errors import Stale, Unprocessable
from actors.messages.requests import DetectRequest, NewSource, SourcePatch
from actors.messages.sources import (
    AddSource,
    CheckNow,
    CountTags,
    DeleteSource,
    DescribeSource,
    DetectUrl,
    EditSource,
    ExamineSource,
    ExplainSource,
    ListSources,
    PickFromSource,
    PickFromUrl,
    PreviewSource,
    RegistryMessage,
    RestoreSource,
    ShowTold,
    Teach,
)
from actors.messages.views import (
    AddedSource,
    SourceExamination,
    SourceExplanation,
    SourcePage,
    SourceView,
    TeachResult,
    ToldPage,
)
from actors.previews import Picked, PickWish, Preview, Previewed
from actors.selection import ALL, SourceSelection, SourceSort
from actors.settings import wall_limit
from api.operations.batches import Failed, for_each, place_of
from api.operations.context import OperationContext, known_id
from api.schemas.previews import PreviewRequest
from storage.records.alert import Scope
from storage.records.identity import Millis, SourceId, seconds_of
from storage.records.revision import Expected, revision_of
from storage.records.source import OWN_NAMESPACES, RESTS, Source, SourceRuntime, tag_of
from supervision import Reply

R = TypeVar("R")
ANSWER_WITHIN = 15.0
"""Seconds for the registry's answer, in addition to the time of a check, if any."""
_SHORTEST, _LONGEST = 60, 7 * 86400
Place = tuple[int, float, str, int]

# --- input -----------------------------------------------------------------------------------------------------------


def known(id: str) -> SourceId:
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
            ours = space in OWN_NAMESPACES
            rule = (
                f"the namespace {space!r} is the service's own; take another, or none"
                if ours
                else "write <namespace>:<value>, or a word"
            )
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
    """Raise Unprocessable for an interval out of range."""
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
    """Return a patch with normalised tags and title. there: the source's current tags.

    Raises Unprocessable.
    """
    if isinstance(patch.schedule, str):
        check_schedule(patch.schedule, "body.schedule")
    if patch.subprotocols is not UNSET:
        _check_distinct(patch.subprotocols, "body.subprotocols")
    if patch.tags is not UNSET:
        patch = replace(patch, tags=tags_of(patch.tags, "body.tags", there))
    return patch if patch.title is UNSET else replace(patch, title=title_of(patch.title))


# --- operations ------------------------------------------------------------------------------------------------------


async def asked(call: OperationContext, make: Callable[[Reply[R]], RegistryMessage], *, looks: bool = False) -> R:
    """Ask the registry. Raises its errors, and TooSlowError (503). looks: allow for the time of a check."""
    settings = call.context.settings
    with trio.fail_after(ANSWER_WITHIN + (settings.look_timeout + wall_limit(settings.parse_deadline)) * looks):
        return await call.context.registry.ask(make)


def _reads(call: OperationContext) -> bool:
    """Return whether the caller may see the content of a check with borrowed headers."""
    return call.may("sources:read")


async def add(call: OperationContext, new: NewSource, where: str = "body") -> AddedSource:
    """Classify a URL and watch it. Raises Unprocessable, UrlRefused, Overloaded, LibraryFull."""
    wanted = checked(new, where)
    return await asked(call, lambda reply: AddSource(wanted, reply, by=call.by, reads=_reads(call)), looks=True)


async def add_each(call: OperationContext, batch: Sequence[NewSource]) -> Sequence[AddedSource | Failed]:
    """Add several sources, each isolated, and return the outcomes."""
    urls = [new.url for new in batch]
    return await for_each(call, urls, lambda number: add(call, batch[number], place_of(number)))


async def view(call: OperationContext, id: str) -> SourceView:
    """Return a source's current state. Raises NotFound."""
    source = known(id)
    return await asked(call, lambda reply: DescribeSource(source, reply))


async def page(
    call: OperationContext,
    limit: int,
    after: Place | None = None,
    where: SourceSelection = ALL,
    sort: SourceSort = "worst",
) -> SourcePage:
    """Return a page of sources, by default with the worst health first."""
    looks = bool(where) or sort != "worst"
    return await asked(call, lambda reply: ListSources(limit, reply, after, where, sort), looks=looks)


async def tags(call: OperationContext) -> Mapping[str, int]:
    """Return the number of sources per tag, and below each tag: "news/*", "topic:*"."""
    return await asked(call, CountTags)


async def change(call: OperationContext, id: str, patch: SourcePatch, expected: Expected = None) -> SourceView:
    """Change a source, from an expected revision. Raises NotFound, Stale, Unprocessable."""
    source = known(id)
    there = (await view(call, id)).source.tags if patch.tags else ()
    wanted = checked_patch(patch, there)
    return await asked(call, lambda reply: EditSource(source, wanted, reply, expected, call.by), looks=True)


async def pause(call: OperationContext, id: str) -> str:
    """Pause a source; return its id, or "" if it was paused already. Raises as `change` does."""
    if not (await view(call, id)).source.enabled:
        return ""
    return (await change(call, id, SourcePatch(enabled=False))).source.id


async def resume(call: OperationContext, id: str) -> str:
    """Resume a source; return its id. Raises as `change` does."""
    return (await change(call, id, SourcePatch(enabled=True))).source.id


async def mark(call: OperationContext, id: str, tag: str, *, on: bool) -> SourceView:
    """Add or remove a source's tag; a bare word is a label. Raises NotFound, Unprocessable, Stale."""
    wanted = tag_of(tag.strip())
    for last in (False, False, True):
        found = (await view(call, id)).source
        if (wanted in found.tags) is on:
            return await view(call, id)
        tags = (*found.tags, wanted) if on else tuple(each for each in found.tags if each != wanted)
        try:
            return await change(call, id, SourcePatch(tags=tags), frozenset((revision_of(found),)))
        except Stale:
            if last:
                raise
    raise AssertionError


async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete a source, restorable for a while; its events stay. Raises NotFound, Stale."""
    source = known(id)
    await asked(call, lambda reply: DeleteSource(source, reply, expected))


async def restore(call: OperationContext, id: str) -> SourceView:
    """Restore a deleted source within its rest period. Raises NotFound, Conflict, LibraryFull."""
    source = known(id)
    return await asked(call, lambda reply: RestoreSource(source, reply))


async def deleted(call: OperationContext, limit: int) -> Sequence[Source]:
    """Return the deleted sources that can be restored, the newest first."""
    since = Millis(call.context.world.now() - RESTS + 1)
    return await call.context.storage.sources.deleted(since, limit)


async def check(call: OperationContext, id: str) -> Millis:
    """Check now; return when the check is due. Raises NotFound, Conflict, TooSoon."""
    source = known(id)
    return await asked(call, lambda reply: CheckNow(source, reply))


async def detect(call: OperationContext, request: DetectRequest) -> Previewed:
    """Classify a URL without adding it, and preview its events. Raises as `add`."""
    request = replace(request, tags=tags_of(request.tags, "body.tags"))
    return await asked(call, lambda reply: DetectUrl(request, reply, _reads(call)), looks=True)


async def detect_each(call: OperationContext, urls: Sequence[str]) -> Sequence[Previewed | Failed]:
    """Detect several URLs, each isolated, and return the outcomes."""
    return await for_each(call, urls, lambda number: detect(call, DetectRequest(urls[number])))


async def preview(call: OperationContext, id: str, request: PreviewRequest) -> Preview:
    """Preview another part of a watched page. Raises NotFound, Unprocessable, TooSoon, Overloaded."""
    source = known(id)
    now = (await view(call, id)).source
    selector = now.selector if request.selector is UNSET else request.selector
    ignore = now.ignore if request.ignore is UNSET else request.ignore
    return await asked(call, partial(PreviewSource, source, selector, ignore), looks=True)


async def pick_from_url(call: OperationContext, request: DetectRequest, wish: PickWish) -> Picked:
    """Show the blocks of a URL's page to choose from. Raises as `detect` does."""
    request = replace(request, tags=tags_of(request.tags, "body.tags"))
    return await asked(call, lambda reply: PickFromUrl(request, wish, reply, _reads(call)), looks=True)


async def pick_from_source(call: OperationContext, id: str, wish: PickWish) -> Picked:
    """Show the blocks of a watched page to choose from. Raises as `preview` does."""
    source = known(id)
    return await asked(call, lambda reply: PickFromSource(source, wish, reply), looks=True)


async def examine(call: OperationContext, id: str) -> SourceExamination:
    """Explain a source's score and the time of its next check. Raises NotFound."""
    source = known(id)
    return await asked(call, lambda reply: ExamineSource(source, reply))


async def reported_page(call: OperationContext, id: str, *, values: bool = False) -> ToldPage | None:
    """Return a page as last reported, or None if the source is no page or unread. Raises NotFound.

    values: include its current values. Raises Overloaded if no worker could read them.
    """
    source = known(id)
    return await asked(call, lambda reply: ShowTold(source, reply, values))


async def explain(call: OperationContext, id: str, text: str = "", *, look: bool = False) -> SourceExplanation:
    """Explain why a text was not reported. look: check now too, if politeness allows. Raises NotFound."""
    source = known(id)
    return await asked(call, lambda reply: ExplainSource(source, reply, text.strip(), look))


async def teach(call: OperationContext, source: SourceId, texts: tuple[str, ...], *, noise: bool) -> TeachResult:
    """Add blocks of a page to the source's learned churn, or remove them. Raises NotFound, Unprocessable."""
    return await asked(call, lambda reply: Teach(source, texts, noise, reply))


async def each(
    call: OperationContext, ids: Sequence[str], act: Callable[[OperationContext, str], Awaitable[R]]
) -> Sequence[R | Failed]:
    """Run `act` for several sources, each isolated, and return the outcomes."""
    return await for_each(call, ids, lambda number: act(call, ids[number]))


MOST_NAMED = 100
"""Private sources to list in the details of an alert or a publication."""


async def private_sources(
    call: OperationContext, scope: Scope, has_left: Callable[[Source, SourceRuntime], bool]
) -> Mapping[str, Sequence[Source]]:
    """Return private sources of a scope, a few hundred at most: `named`, `left_out`, `gone` since the last edit."""
    found = (await page(call, MOST_NAMED, where=SourceSelection(private=True))).views
    since = call.context.private_since
    has = (view for view in found if scope.has(view.source.id, view.source.tags))
    out = [view for view in has if not scope.includes(view.source.id, since(view.source.id))]
    return {
        "named": [view.source for view in found if scope.names(view.source.id)],
        "left_out": [view.source for view in out],
        "gone": [view.source for view in out if has_left(view.source, view.hot)],
    }
