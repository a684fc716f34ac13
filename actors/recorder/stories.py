"""The story of an event: that of another source's event of the last week with the same news.

For an event with a diff, only the added texts are compared, without its link, since a page's address is the same in
every change. An edited entry is a separate story, and so are held and practice events.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from actors.content.wording.story import NewsItem, same_story
from storage.append import Marks
from storage.records.event import UPDATED, Diff, Draft, Stored, kind_of
from storage.records.identity import SourceId
from storage.records.tiers import Kind

_NONE = (Kind.NOTICE, Kind.HEARTBEAT, Kind.PRACTICE, Kind.HELD)
_MOST_READ = 4_000
"""Maximum characters of added texts that are joined."""


class _StoryFields(Struct, gc=False):
    id: str
    source_url: str
    url: str
    title: str
    content: str
    tags: tuple[str, ...]
    diff: Diff | None = None
    story: str = ""


_decode = msgspec.json.Decoder(_StoryFields).decode


class SameStories:
    """See `storage.append.Stories`."""

    def marks(self, draft: Draft) -> Marks:
        return () if kind_of(draft) in _NONE else _marks(draft)

    def marks_of(self, event: Stored) -> Marks:
        event_fields = None if event.kind in _NONE else _decoded(event)
        return () if event_fields is None else _marks(event_fields)

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        item = _news_item(draft)
        for event in sorted(earlier, key=lambda event: event.seq):
            if (
                event.source != source
                and (other := _decoded(event)) is not None
                and same_story(_news_item(other), item)
            ):
                return other.story or other.id
        return ""


def _decoded(event: Stored) -> _StoryFields | None:
    try:
        return _decode(event.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # a damaged body must not stop the log


def _marks(news: Draft | _StoryFields) -> Marks:
    return () if news.diff is None and UPDATED in news.tags else _news_item(news).marks()


def _news_item(news: Draft | _StoryFields) -> NewsItem:
    if news.diff is None:
        return NewsItem("" if news.url == news.source_url else news.url, news.title, news.content)
    added = "\n".join((*news.diff.added, *(each.after for each in news.diff.changed)))
    return NewsItem("", "", added[:_MOST_READ])
