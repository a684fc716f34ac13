"""Pictures of rendered pages, for any face: before and after an event, and a source's newest."""

from __future__ import annotations

from typing import NamedTuple

from actors.errors import NotFound
from api.operations import events, sources
from api.operations.context import OperationContext
from storage.records.identity import Seq
from storage.records.picture import KeptPicture, Picture, Side
from storage.records.source import Source


class EventPictures(NamedTuple):
    """A page's stored pictures around an event; None if not stored."""

    before: KeptPicture | None = None
    after: KeptPicture | None = None


async def of_event(call: OperationContext, id: str) -> EventPictures:
    """Return the stored pictures around an event. Raises NotFound."""
    event = await events.named(call, id)
    return EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))


async def picture(call: OperationContext, id: str, side: Side) -> Picture:
    """Return the picture of the page before or after an event. Raises NotFound."""
    event = await events.named(call, id)
    kept = EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))
    wanted = kept.before if side == "before" else kept.after
    found = None if wanted is None else await call.context.storage.pictures.get(event.source, wanted.seq)
    if found is None:
        raise NotFound("There is no such picture, or it is no longer kept.")
    return found


async def newest(call: OperationContext, source: Source) -> KeptPicture | None:
    """Return the record of a source's newest picture."""
    return await call.context.storage.pictures.newest(source.id)


async def newest_picture(call: OperationContext, id: str) -> Picture:
    """Return a source's newest picture. Raises NotFound."""
    source = (await sources.view(call, id)).source
    kept = await newest(call, source)
    found = None if kept is None else await call.context.storage.pictures.get(source.id, Seq(kept.seq))
    if found is None:
        raise NotFound("There is no such picture, or it is no longer kept.")
    return found


def headers_of(found: Picture, name: str) -> dict[str, str]:
    """Return a picture's headers: display it inline, only on our own site, with no active content."""
    ending = found.media.partition("/")[2]
    return {
        "Content-Disposition": f'inline; filename="{name}.{ending}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
