"""Pictures of rendered pages, for any face: of an event its before and after, of a source the newest."""

from __future__ import annotations

from typing import NamedTuple

from actors.errors import NotFound
from api.operations import events, sources
from api.operations.context import OperationContext
from storage.records.identity import Seq
from storage.records.picture import KeptPicture, Picture, Side
from storage.records.source import Source


class EventPictures(NamedTuple):
    """What there is of a page's pictures around an event; None where none is kept."""

    before: KeptPicture | None = None
    after: KeptPicture | None = None


async def of_event(call: OperationContext, id: str) -> EventPictures:
    """Return what is kept around an event. Raises NotFound."""
    event = await events.named(call, id)
    return EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))


async def picture(call: OperationContext, id: str, side: Side) -> Picture:
    """Return a picture of the page before an event, or after it. Raises NotFound."""
    event = await events.named(call, id)
    kept = EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))
    wanted = kept.before if side == "before" else kept.after
    found = None if wanted is None else await call.context.storage.pictures.get(event.source, wanted.seq)
    if found is None:
        raise NotFound("There is no such picture, or it is no longer kept.")
    return found


async def newest(call: OperationContext, source: Source) -> KeptPicture | None:
    """Return what there is of a source's newest picture."""
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
    """Return the headers with which a picture is sent: shown as one, to nobody else, and taken for nothing else."""
    ending = found.media.partition("/")[2]
    return {
        "Content-Disposition": f'inline; filename="{name}.{ending}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
