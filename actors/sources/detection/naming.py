"""The name that a page or a feed gives itself: kept with the source, and shown until the user names it."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from actors.sources.ports import LiveSource, Ports, drawn
from storage.errors import StorageError
from storage.records.source import Source

LONGEST: Final = 200
_NUMBER: Final = re.compile(r"\d+")


def named(source: Source, title: str) -> Source:
    """Return a source by the title that a look has found; itself when it is the one that is known, or none.

    A title in which but numbers differ ("(3) Notices") is the one that is known: it would be saved at every look.
    """
    title = " ".join(title.split())[:LONGEST].rstrip()
    if not title or (source.found_title and _NUMBER.sub("", title) == _NUMBER.sub("", source.found_title)):
        return source
    return replace(source, found_title=title)


async def follow(ports: Ports, live: LiveSource, title: str) -> None:
    """Save a title that is new. What can't be saved now is with the next look at a changed body."""
    after = named(live.source, title)
    if after is live.source:
        return
    version = drawn(ports.world)
    try:
        await ports.storage.sources.update(after, ports.storage.lease, version, before=live.source)
    except StorageError as error:
        ports.world.log("title.unsaved", source_id=after.id, error=str(error))
    else:
        live.source, live.version = after, version
