"""The registry's answers to who chooses a part of a page: its blocks, and what pressing one of them would do."""

from __future__ import annotations

from msgspec.structs import replace

from actors.errors import Unprocessable
from actors.messages.sources import PickFromSource, PickFromUrl
from actors.picks import Picked
from actors.sources.page.picking import pick_of
from actors.sources.page.preview import Narrowing, check_selectors
from actors.sources.ports import Ports
from actors.sources.registry.service import SourceService

_FEED = "this is a feed: each entry is told by itself, and there are no parts to choose from"


class Chooser:
    """Shows pages to choose from; nothing is stored and nothing is changed."""

    def __init__(self, ports: Ports, service: SourceService) -> None:
        self._ports, self._service = ports, service

    async def of_url(self, message: PickFromUrl) -> Picked:
        """Return the page of a URL that is watched by nobody yet, as a page even where it advertises a feed."""
        wish = message.wish
        await check_selectors(self._ports, Narrowing(wish.selector, wish.ignore))
        # Whoever chooses a part of a page wants the page. The present choice may match nothing any more.
        asked = replace(message.request, type=message.request.type or "html", selector=None, ignore=())
        found = await self._service.classified(asked)
        if found.fetched is None or found.type != "html":
            raise Unprocessable("this is not watched as a page: it has no parts to choose from", "body.url")
        if found.detection.type == "feed":
            raise Unprocessable(_FEED, "body.url")
        return Picked(found.at, await pick_of(self._ports, found.fetched, wish))

    async def of_source(self, message: PickFromSource) -> Picked:
        """Return the page of a source as it is now, or was a short while ago."""
        wish = message.wish
        fetched, at = await self._service.body_of(message.source, Narrowing(wish.selector, wish.ignore))
        return Picked(at, await pick_of(self._ports, fetched, wish))
