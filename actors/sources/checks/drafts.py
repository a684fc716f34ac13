"""The draft of an event from a feed's entry or a frame, and its preview."""

from __future__ import annotations

from actors.content.bodies.frames import Frame
from actors.content.messages.readings import Entry
from actors.content.values.kinds import values_of_entry
from actors.messages.previews import EXCERPT, DraftEvent
from storage.records.event import NEW, Draft
from storage.records.identity import Millis
from storage.records.source import Source


def draft_of(source: Source, piece: Entry | Frame, change: str, at: Millis) -> Draft:
    return Draft(
        source_type=source.type,
        source_url=source.url,
        url=piece.url or source.watch_url,
        title=piece.title,
        author=piece.author,
        content=piece.content,
        content_truncated=piece.content_truncated,
        content_hash=piece.content_hash,
        simhash=piece.simhash,
        tags=tuple(dict.fromkeys((*source.tags, change, *piece.tags))),
        published_at=piece.published_at,
        fetched_at=at,
        practice=source.practice is not None,
        changes=values_of_entry(piece.title, piece.content),
    )


def draft_event(piece: Entry | Frame, url: str, identity: str, told: bool = True) -> DraftEvent:
    content, tags, at = piece.content[:EXCERPT], (NEW, *piece.tags), piece.published_at
    return DraftEvent(piece.title, piece.url or url, piece.author, content, at, tags, identity, told)
