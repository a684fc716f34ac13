"""What takes the room, for whoever operates the service."""

from __future__ import annotations

from api.route import Answer, Call
from api.schemas import admin as wire


async def sizes(call: Call) -> Answer:
    """Return what the storage takes, and the heaviest sources."""
    query: wire.SizesQuery = call.query
    storage = call.context.storage
    room = await storage.log.room()
    found = []
    for id, held in (await storage.log.heaviest(query.limit)).items():
        watched = await storage.sources.get(id)
        url, title = (None, "") if watched is None else (watched.source.url, watched.source.name)
        found.append(wire.SourceSize(source_id=id, url=url, title=title, events=held.events, bytes=held.bytes))
    return Answer(wire.Sizes(room.whole, room.free, tuple(found)))
