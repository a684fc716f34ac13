"""The registry's answers for picking a part of a page: its blocks, and the effect of pressing one."""

from __future__ import annotations

from msgspec.structs import replace

from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.inheriting import part_shown
from actors.messages.sources import PickFromSource, PickFromUrl
from actors.picks import Picked, PickWish
from actors.sources.page.picking import pick_of
from actors.sources.page.preview import Narrowing, check_selectors
from actors.sources.ports import Ports
from actors.sources.registry.previewer import Previewer
from storage.records.identity import Millis
from storage.records.source import Source

_FEED = "this is a feed: each entry is told by itself, and there are no parts to choose from"


class Chooser:
    """Shows pages to choose from; stores and changes nothing."""

    def __init__(self, ports: Ports, previewer: Previewer) -> None:
        self._ports, self._previewer = ports, previewer

    async def of_url(self, message: PickFromUrl) -> Picked:
        """Return the page of an unwatched URL, as a page even if it advertises a feed."""
        wish = message.wish
        await check_selectors(self._ports, Narrowing(wish.selector, wish.ignore))
        # Picking means the page, not its feed. The current choice may no longer match.
        asked = replace(message.request, type=message.request.type or "html", selector=None, ignore=())
        found = await self._previewer.classified(asked, reads=message.reads)
        if found.fetched is None or found.type != "html":
            raise Unprocessable("this is not watched as a page: it has no parts to choose from", "body.url")
        if found.detection.type == "feed":
            raise Unprocessable(_FEED, "body.url")
        would_be = self._previewer.as_watched(found, replace(asked, selector=wish.selector, ignore=wish.ignore))
        return await self._picked(found.at, found.fetched, would_be, wish)

    async def of_source(self, message: PickFromSource) -> Picked:
        """Return a source's page, current or recent."""
        wish = message.wish
        fetched, at = await self._previewer.body_of(message.source, Narrowing(wish.selector, wish.ignore))
        own = self._previewer.known(message.source)
        return await self._picked(at, fetched, replace(own, selector=wish.selector, ignore=wish.ignore), wish)

    async def _picked(self, at: Millis, fetched: FetchedResponse, source: Source, wish: PickWish) -> Picked:
        """Return the blocks, as a source with the current choice would be watched, tags included."""
        of_tags = self._ports.tags.of(replace(source, selector=None, ignore=()))
        wish = replace(wish, inherited_selector=of_tags.selector, inherited_ignore=of_tags.ignore)
        part = part_shown(self._ports.tags.of(source))
        page = await pick_of(self._ports, fetched, wish)
        return Picked(at, page, part.selector, part.ignore, part.inherited)
