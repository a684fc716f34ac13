"""The story of an event: that of another source's event of the last week with the same news.

An event with a diff tells what was added, and has no link of its own: its page is the same at each change. An edited
entry is a story of its own, and so is what was held or is practice.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from actors.content.wording.story import Piece, same_story
from storage.append import Marks
from storage.records.event import UPDATED, Diff, Draft, Stored, kind_of
from storage.records.identity import SourceId
from storage.records.tiers import Kind

_NONE = (Kind.NOTICE, Kind.HEARTBEAT, Kind.PRACTICE, Kind.HELD)
_MOST_READ = 4_000
"""Characters of added texts that are put together."""


class _Seen(Struct, gc=False):
    """What is read of an event."""

    id: str
    source_url: str
    url: str
    title: str
    content: str
    tags: tuple[str, ...]
    diff: Diff | None = None
    story: str = ""


_decode = msgspec.json.Decoder(_Seen).decode


class SameStories:
    """See `storage.append.Stories`."""

    def marks(self, draft: Draft) -> Marks:
        """Return a draft's marks; see Stories."""
        return () if kind_of(draft) in _NONE else _marks(draft)

    def marks_of(self, event: Stored) -> Marks:
        """Return an event's marks, none of one that can't be read; see Stories."""
        seen = None if event.kind in _NONE else _seen(event)
        return () if seen is None else _marks(seen)

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        """Return the id of a story's first event; see Stories."""
        piece = _piece(draft)
        for event in sorted(earlier, key=lambda event: event.seq):
            if event.source != source and (seen := _seen(event)) is not None and same_story(_piece(seen), piece):
                return seen.story or seen.id
        return ""


def _seen(event: Stored) -> _Seen | None:
    try:
        return _decode(event.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # a damaged body must not stop the log


def _marks(news: Draft | _Seen) -> Marks:
    return () if news.diff is None and UPDATED in news.tags else _piece(news).marks()


def _piece(news: Draft | _Seen) -> Piece:
    if news.diff is None:
        return Piece("" if news.url == news.source_url else news.url, news.title, news.content)
    added = "\n".join((*news.diff.added, *(each.after for each in news.diff.changed)))
    return Piece("", "", added[:_MOST_READ])
