"""The drafts and the note from a check of a list. Pure."""

from __future__ import annotations

from typing import NamedTuple

from actors.content.messages.listings import Item, ListLook
from actors.content.wording.fingerprint import content_hash, simhash
from actors.notices import draft
from actors.sources.looks.drafts import draft_of
from storage.records.event import NEW, Draft
from storage.records.identity import Millis
from storage.records.note import MOST_PARTS, Came, Note, Part
from storage.records.source import Source

NEW_ITEM = "new: its address had not been on the list"
HELD_ITEM = "held, and named in the notice `source_reset`: all of the list was new at once, as after a move"
_NAMED = 20
"""Items that a notice names."""
_CAME: dict[str, Came] = {"baseline": "baseline", "unchanged": "churn", "news": "told", "reset": "held"}


class _Piece(NamedTuple):
    """An item before its page is read: a title and a URL."""

    url: str
    title: str
    content_hash: str
    simhash: int
    published_at: Millis | None
    author: str = ""
    content: str = ""
    content_truncated: bool = False
    tags: tuple[str, ...] = ()


def drafts_of(source: Source, look: ListLook, at: Millis) -> tuple[Draft, ...]:
    """Return the drafts from a check of a list, oldest first: lists have the newest on top."""
    said = (_reset(source, look, at),) if look.say else ()
    new = (draft_of(source, _piece(item), NEW, at) for item in reversed(look.new))
    return (*said, *new)


def _piece(item: Item) -> _Piece:
    return _Piece(item.url, item.title, content_hash(""), simhash(item.title), item.published_at)


def note_of(look: ListLook, at: Millis, since: Millis | None) -> Note:
    """Return the note on a check of a list: the number of items, and the new ones."""
    came = _CAME[look.kind]
    if came == "baseline":
        return Note(at, came, look.reason, parts=(), counts={"entries": look.count})
    parts = [Part(item.title or item.url, NEW_ITEM, item.url, told=True) for item in look.new]
    parts += [Part(item.title or item.url, HELD_ITEM, item.url) for item in look.held]
    counts = {"entries": look.count, "new": len(look.new), "told": len(look.new), "held": len(look.held) + look.bulk}
    return Note(at, came, look.reason, since, parts=tuple(parts[:MOST_PARTS]), counts=counts)


def _reset(source: Source, look: ListLook, at: Millis) -> Draft:
    if look.bulk:
        says = (
            f"{look.bulk:,} addresses of the sitemap {source.watch_url} are new at once, too many to be told one by "
            "one. Whatever comes next is told as always."
        )
    else:
        named = "\n".join(f"{item.title or item.url} ({item.url})" for item in look.held[:_NAMED])
        says = (
            f"All {len(look.held)} items of {source.watch_url} are new at once, as after a move to another system. "
            f"They are not told one by one; whatever comes next is told as always. The first of them:\n{named}"
        )
    title = f"Most of a list is new at once: {source.called}"
    return draft("source_reset", source.url, title, says, at, of_source=source.tags)
