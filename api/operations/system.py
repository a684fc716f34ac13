"""The service as whoever operates it sees it, for any face: the tree a page at a time, and what takes the space."""

from __future__ import annotations

from actors.overseer.rows import Row
from api.operations.context import OperationContext
from api.schemas import admin as wire
from storage.records.times import rfc3339


def row_of(row: Row) -> wire.TreeRow:
    """Return a row in the wire's words."""
    return wire.TreeRow(
        path=row.path,
        name=row.name,
        kind=row.kind,
        state=row.state,
        health=None if row.health is None else round(row.health, 4),
        flag=row.flag,
        restarts=row.restarts,
        since=rfc3339(row.since),
        error=row.error,
        next=None if row.next is None else rfc3339(row.next),
        title=row.title,
    )


async def tree(call: OperationContext, query: wire.TreeQuery) -> wire.TreePage:
    """Return a page of rows, or those that are named."""
    if query.paths:
        found = call.context.overseer.some(query.paths)
        return wire.TreePage(len(found), 0, tuple(row_of(row) for row in found))
    rows, total = await call.context.overseer.page(query.sort, query.filter, query.start, query.limit)
    return wire.TreePage(total, query.start, tuple(row_of(row) for row in rows))


async def sizes(call: OperationContext, limit: int) -> wire.Sizes:
    """Return what the storage takes, and the heaviest sources."""
    storage = call.context.storage
    room = await storage.log.room()
    found = []
    for id, held in (await storage.log.heaviest(limit)).items():
        watched = await storage.sources.get(id)
        url, title = (None, "") if watched is None else (watched.source.url, watched.source.name)
        found.append(wire.SourceSize(source_id=id, url=url, title=title, events=held.events, bytes=held.bytes))
    return wire.Sizes(room.whole, room.free, tuple(found))
