"""A page's text as last reported, in the order of the page."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from actors.errors import NotFound
from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Screen, Visit
from api.dashboard.sources import words
from api.operations import sources
from api.operations.events import END
from storage.records.event import REVERTED, Filter
from storage.records.tiers import Kind

PATH: Final = "/sources/{id}/text"


class _Told(Struct):
    id: str
    emitted_at: str
    tags: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(_Told).decode


async def show(visit: Visit) -> Page:
    """Show a page's text as last reported. Raises NotFound if the source is no page."""
    view = await sources.view(visit, visit.path["id"])
    told = await sources.told_page(visit, view.source.id)
    if told is None:
        raise NotFound(say("There is no text of this source: it is no page, or has not been read yet."))
    where = Filter(sources=(view.source.id,), kinds=(Kind.HTML, Kind.PRACTICE))
    last = (await visit.context.storage.log.read_back(END, 1, where)).events
    event = _decode(last[0].body) if last else None
    name = words.name_of(view.source)
    shows = {
        "id": view.source.id,
        "name": name,
        "url": view.source.watch_url,
        "told": told,
        "seen": view.hot.last_success_at,
        "event": event,
        "went_back": event is not None and REVERTED in event.tags,
    }
    return Page("sources/text.html", say("What %(name)s says now", name=name), shows)


SCREENS = (Screen(path=PATH, run=show),)
