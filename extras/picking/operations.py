"""The blocks of a page to choose from: the questions to the registry, and the operations of the faces."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from actors.egress.failures import CheckFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.inheritance import shown_part
from actors.messages.requests import DetectRequest
from actors.messages.sources import SourceQuestion, UrlQuestion
from actors.sources.checks.fetch import in_jail, page_deadline
from actors.sources.detection import domain_error
from actors.sources.page import PagePart, check_selectors
from actors.sources.ports import Ports
from actors.sources.registry.previewer import Previewer
from api.nouns import sources
from api.nouns.context import OperationContext
from extras.picking.records import Picked, PickPage, PickRequest, PickWish
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.tiers import WITH_DIFF, WITH_ENTRIES
from supervision import Reply

_FEED = "this is a feed: each entry is reported by itself, so there are no parts to choose"
_LARGE = 2  # factor compared with a check: the whole page is read, and the chosen part again


@dataclass(frozen=True, slots=True)
class PickFromUrl(UrlQuestion):
    """As a page even if it has a feed. reads: the caller may read sources; only then are headers borrowed."""

    request: DetectRequest
    wish: PickWish
    reply: Reply[Picked]
    reads: bool = False

    async def answer(self, previewer: Previewer) -> Picked:
        wish = self.wish
        await check_selectors(previewer.ports, PagePart(wish.selector, wish.ignore))
        # Picking means the page, not its feed. The current choice may no longer match.
        asked = replace(self.request, type=self.request.type or "html", selector=None, ignore=())
        found = await previewer.classify_url(asked, reads=self.reads)
        if found.fetched is None or found.type not in WITH_DIFF:
            raise Unprocessable("this is not watched as a page: it has no parts to choose from", "body.url")
        if found.detection.type in WITH_ENTRIES:
            raise Unprocessable(_FEED, "body.url")
        would_be = previewer.as_watched(found, replace(asked, selector=wish.selector, ignore=wish.ignore))
        return await _picked(previewer.ports, found.at, found.fetched, would_be, wish)


@dataclass(frozen=True, slots=True)
class PickFromSource(SourceQuestion):
    """Return the blocks of a source's page to choose from, current or recent."""

    source: SourceId
    wish: PickWish
    reply: Reply[Picked]

    async def answer(self, previewer: Previewer) -> Picked:
        wish = self.wish
        fetched, at = await previewer.body_of(self.source, PagePart(wish.selector, wish.ignore))
        would_be = replace(previewer.known(self.source), selector=wish.selector, ignore=wish.ignore)
        return await _picked(previewer.ports, at, fetched, would_be, wish)


async def _picked(ports: Ports, at: Millis, fetched: FetchedResponse, source: Source, wish: PickWish) -> Picked:
    of_tags = ports.tag_table.of(replace(source, selector=None, ignore=()))
    wish = replace(wish, inherited_selector=of_tags.selector, inherited_ignore=of_tags.ignore)
    part = shown_part(ports.tag_table.of(source))
    return Picked(at, await _read(ports, fetched, wish), part.selector, part.ignore, part.inherited)


async def _read(ports: Ports, fetched: FetchedResponse, wish: PickWish) -> PickPage:
    request = PickRequest(fetched.body, fetched.content_type, fetched.url, wish)
    deadline = _LARGE * page_deadline(ports.settings.parse_deadline, fetched.body)
    try:
        page = await in_jail(ports.world.jail, "pick", request, PickPage, deadline=deadline)
    except CheckFailed as failure:
        if isinstance(failure, ReadingStopped) and failure.too_slow:
            raise Unprocessable("this page is too large to choose from: write a selector", "body.url") from None
        raise domain_error(failure, fetched.url) from None
    if page.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {page.trouble}", "body.url", fetched.url)
    return page


async def of_url(call: OperationContext, request: DetectRequest, wish: PickWish) -> Picked:
    """Show the blocks of a URL's page to choose from. Raises as `sources.detect` does."""
    request = replace(request, tags=sources.tags_of(request.tags, "body.tags"))
    reads = sources.reads_sources(call)
    return await sources.ask_registry(call, lambda reply: PickFromUrl(request, wish, reply, reads), looks=True)


async def of_source(call: OperationContext, id: str, wish: PickWish) -> Picked:
    """Show the blocks of a watched page to choose from. Raises as `sources.preview` does."""
    source = sources.parse_id(id)
    return await sources.ask_registry(call, lambda reply: PickFromSource(source, wish, reply), looks=True)
