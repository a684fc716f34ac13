"""Detection and previews: the events that watching a URL would produce."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from actors.messages import previews
from actors.messages.declaring import Time, mirrored
from actors.messages.previews import Ignored, ListedItem, PreviewBlock, Rendering, ShownPart
from actors.messages.requests import DetectRequest
from api.fields.sources import PreviewRequest
from api.nouns import sources
from api.route import Answer, Call, Route
from storage.records.identity import rfc3339
from storage.records.secrecy import where_it_led
from storage.records.tiers import SourceType


class DraftEvent(Struct, frozen=True):
    """An event as a check would emit it, `content` cut to 500 characters.

    `identity`: the property that identifies it (guid, link, hash, or two of them). `told`: false for a push source's
    frame that no alert or `filter` wants.
    """

    title: str
    url: str
    author: str
    content: str
    published_at: Time | None
    tags: tuple[str, ...]
    identity: str
    told: bool


class FeedPreview(Struct, frozen=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.

    `undated`: entries without a readable date. `identities`: the number of entries by identifying property.
    `backfill`: the most entries that a backfill would emit. `damaged`: malformed, but recovered. `hubs` (WebSub) and
    `paging` (RFC 5005) are shown, not followed.
    """

    title: str
    format: str
    url: str
    entries: int
    undated: int
    identities: dict[str, int]
    newest: tuple[DraftEvent, ...]
    backfill: int
    damaged: bool
    hubs: tuple[str, ...]
    paging: dict[str, str]


class PagePreview(Struct, frozen=True):
    """A page: its first 40 blocks, and the numbers of watched and left-out blocks. `listed`: its number of items as a
    list (`follow`); `items` are the first 20.

    `matched`: the number of elements that `selector` keeps, null without one. `partial`: the page is too long and was
    read in part.
    """

    title: str
    author: str
    published_at: Time | None
    content: str
    blocks: tuple[PreviewBlock, ...]
    watched: int
    left_out: int
    matched: int | None
    ignored: tuple[Ignored, ...]
    partial: bool
    listed: int = 0
    items: tuple[ListedItem, ...] = ()


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC."""

    interval_s: float
    next_look_at: Time
    max_age_s: float
    ttl_s: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsVerdict(Struct, frozen=True):
    """The verdict of robots.txt on a page; it does not apply to feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class Preview(Struct, frozen=True):
    """The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`."""

    fetched_at: Time
    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None
    robots: RobotsVerdict | None
    rendering: Rendering | None
    part: ShownPart | None


class DetectAnswer(Struct, frozen=True):
    """The answer to a detection. `source_id`: the existing source with this URL.

    `final_url`: the URL after redirects, with tokens and keys in its query hidden.
    `supported` and `discovered_feed_url` are twins.
    """

    url: str
    type: SourceType
    confidence: Literal["high", "medium", "low"]
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    supported: bool
    discovered_feed_url: str | None
    source_id: str | None
    preview: Preview


def _draft(event: previews.DraftEvent) -> DraftEvent:
    return DraftEvent(**mirrored(event, DraftEvent))


def _feed(feed: previews.FeedPreview) -> FeedPreview:
    newest = tuple(map(_draft, feed.newest))
    return FeedPreview(**mirrored(feed, FeedPreview) | {"newest": newest})


def _push(push: previews.PushPreview) -> PushPreview:
    frames = tuple(map(_draft, push.frames))
    return PushPreview(push.subprotocol, push.waited, push.received, frames, push.ended)


def _pace(pace: previews.PacePreview) -> PacePreview:
    due = rfc3339(pace.next_look_at)
    return PacePreview(round(pace.interval, 1), due, pace.max_age, pace.ttl, pace.skip_hours, pace.skip_days)


def preview_of(shown: previews.Preview) -> Preview:
    robots = shown.robots
    return Preview(
        fetched_at=rfc3339(shown.fetched_at),
        feed=None if shown.feed is None else _feed(shown.feed),
        page=None if shown.page is None else PagePreview(**mirrored(shown.page, PagePreview)),
        push=None if shown.push is None else _push(shown.push),
        pace=None if shown.pace is None else _pace(shown.pace),
        robots=None if robots is None else RobotsVerdict(robots.allowed, robots.crawl_delay, robots.says),
        rendering=shown.rendering,
        part=shown.part,
    )


def detection_of(url: str, found: previews.Previewed) -> DetectAnswer:
    """Return a URL's detected type and its preview in the wire format."""
    detection = found.detection
    return DetectAnswer(
        url=url,
        supported=True,
        discovered_feed_url=detection.feed_url,
        source_id=found.source,
        preview=preview_of(found.preview),
        **mirrored(detection, DetectAnswer) | {"final_url": where_it_led(detection.final_url, url)},
    )


async def detect(call: Call) -> Answer:
    """Classify a URL without adding it, and preview its events."""
    return Answer(detection_of(call.body.url, await sources.detect(call, call.body)))


async def preview(call: Call) -> Answer:
    """Preview another part of a watched page."""
    return Answer(preview_of(await sources.preview(call, call.path["id"], call.body)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/sources/detect",
        scope="sources:write",
        run=detect,
        says="Classify a URL without watching it, and preview its events.",
        answers={200: DetectAnswer},
        body=(DetectRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/preview",
        scope="sources:write",
        beside=("sources:read",),
        run=preview,
        says="Preview another selector on a watched page.",
        answers={200: Preview},
        body=(PreviewRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
)
