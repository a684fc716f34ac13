"""Answers of detections and previews. Their records are `actors.messages.requests`; fields that differ are here."""

from __future__ import annotations

from actors.messages import requests
from actors.messages.declaring import Declared, record_of, shown_whole
from storage.records.source import Detection


@shown_whole(requests.DraftEvent)
class DraftEvent(Declared, frozen=True):
    """An event as a check would emit it, `content` cut to 500 characters."""


@shown_whole(requests.FeedPreview)
class FeedPreview(Declared, frozen=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them."""

    newest: tuple[DraftEvent, ...]


@record_of(requests.PagePreview, "title author published_at content blocks watched left_out matched ignored partial")
class PagePreview(Declared, frozen=True):
    """A page: its first 40 blocks, and the numbers of watched and left-out blocks."""

    listed: int = 0
    items: tuple[requests.ListedItem, ...] = ()
    values: tuple[requests.FoundValue, ...] = ()


@shown_whole(requests.PushPreview)
class PushPreview(Declared, frozen=True):
    """The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then."""

    frames: tuple[DraftEvent, ...]


@shown_whole(requests.PacePreview)
class PacePreview(Declared, frozen=True):
    """The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC."""


@shown_whole(requests.Preview)
class Preview(Declared, frozen=True):
    """The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`."""

    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None


@record_of(
    Detection,
    "url type confidence evidence final_url content_type feed_url supported discovered_feed_url source_id preview",
)
class DetectAnswer(Declared, frozen=True):
    """The answer to a detection."""

    url: str
    supported: bool
    discovered_feed_url: str | None
    source_id: str | None
    preview: Preview
