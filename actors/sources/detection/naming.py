"""The title of a page or feed: stored with the source, and shown until the user sets one."""

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
    """Return a source with a newly found title, or unchanged if the title is known or empty.

    A title that differs only in numbers ("(3) Notices") counts as known; otherwise every check would save it.
    """
    title = " ".join(title.split())[:LONGEST].rstrip()
    if not title or (source.found_title and _NUMBER.sub("", title) == _NUMBER.sub("", source.found_title)):
        return source
    return replace(source, found_title=title)


async def follow(ports: Ports, live: LiveSource, title: str) -> None:
    """Save a new title. If that fails, the next check of a changed body retries."""
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
