"""A publication's events as a feed, for readers and for the hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import msgspec
import trio

from actors.world import World
from extras.publish.entry import DeletedEntry, FeedPage, entry_of
from extras.publish.formats import FORMATS
from extras.publish.newest import PublishedPage
from storage.records.event import Stored, id_in
from storage.records.identity import Seq, id_of, millis_of, rfc3339
from storage.records.publication import Publication

T = TypeVar("T")


class FeedPlace(NamedTuple):
    """base: the publication's page. hub: its address. ending: of `FORMATS`. query: "" for the newest document."""

    base: str
    hub: str
    ending: str
    query: str = ""


async def feed_of(world: World, publication: Publication, page: PublishedPage, place: FeedPlace) -> bytes:
    base, hub, ending, query = place
    first = f"{base}.{ending}"
    feed = FeedPage(
        id=publication.id,
        title=publication.title,
        page=base,
        here=first + query,
        first=first,
        older="" if page.older is None else first + query_of(page.older),
        hub=hub,
        updated=_updated(publication, page),
        entries=await told(world, page, lambda event: entry_of(id_in(event.body), event.body)),
        deleted=[DeletedEntry(each.id, rfc3339(each.at)) for each in page.retracted],
    )
    return FORMATS[ending].write(feed)


async def told(world: World, page: PublishedPage, tell: Callable[[Stored], T]) -> list[T]:
    """Apply `tell` to each event. Skip unreadable ones and log them."""
    found = []
    for event in page.events:
        try:
            found.append(tell(event))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            world.log("published.unreadable", seq=event.seq, error=str(error)[:200])
        await trio.lowlevel.checkpoint()
    return found


def query_of(place: Seq) -> str:
    return f"?before={id_of(place, 0)}"


def _updated(publication: Publication, page: PublishedPage) -> str:
    """Return when a page last changed: by an event, a retraction, or an edit of the publication."""
    moments = [publication.updated_at, *(each.at for each in page.retracted)]
    return rfc3339(max(*moments, *(millis_of(event.seq) for event in page.events[:1])) if page.events else max(moments))
