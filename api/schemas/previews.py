"""Wire shapes of detection and previews: the events that watching a URL would produce."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from actors.messages.requests import Ignore, Selector
from api.schemas.sources import Time
from storage.records.tiers import SourceType


class PreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Another part of the page to try out. What is left out is as it is in the source; null is the whole page."""

    selector: Selector | UnsetType | None = UNSET
    ignore: Ignore | UnsetType = UNSET


class DraftEvent(Struct, frozen=True):
    """An event as it would be emitted, `content` cut to 500 characters.

    `identity`: what tells it from others (guid, link, hash, or two of them). `told` is false for a push source's frame
    that neither an alert nor `filter` wants.
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

    `undated`: entries without a readable date. `identities`: how many entries are told apart by what. `backfill`: how
    many the largest backfill would emit. `damaged`: ill-formed, and recovered. `hubs` (WebSub) and `paging` (RFC 5005)
    are read, not followed.
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


class PreviewBlock(Struct, frozen=True):
    """A paragraph, item, cell or heading. `why`: furniture or control when it is left out, else ""."""

    text: str
    watched: bool
    why: str


class Ignored(Struct, frozen=True):
    """How many elements one of `ignore` takes out."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: what the list calls it, and where it leads."""

    title: str
    url: str


class PagePreview(Struct, frozen=True):
    """A page: its first 40 blocks, and how many of all blocks are watched and left out. `listed`: how many items it has
    when it is read as a list (`follow`); `items` are the first 20.

    `matched`: how many elements `selector` keeps, null without one. `partial`: the page is longer than what is read.
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


class ShownPart(Struct, frozen=True):
    """Which part of a page is shown: `selector` and `ignore` with what tags say of them. `inherited`: from which tags
    each of them comes, where a tag has a say; what is not in it is the source's own.
    """

    selector: str | None
    ignore: tuple[str, ...]
    inherited: dict[str, tuple[str, ...]]


class PushPreview(Struct, frozen=True):
    """The handshake, and the first frames of up to 3 seconds. `ended`: why the server closed meanwhile, if it did."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """When the second look would be, and what the origin says of its pace; hours and days (0 is Monday) in UTC."""

    interval_s: float
    next_look_at: Time
    max_age_s: float
    ttl_s: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsVerdict(Struct, frozen=True):
    """What robots.txt says about a page; it is not asked about feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that filled the page while a browser showed it, and its `size` in bytes: to watch `url` is a plain look."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """What browsers have to do with a page, in the words of `says`; null of one that is read as it is sent.

    `empty`: by what the page shows that it is empty without JavaScript, "" when it was to be rendered anyway. `done`:
    what is shown is the page as a browser showed it. `costs`: plain looks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...]


class Preview(Struct, frozen=True):
    """What a look at `fetched_at` would have told: one of `feed`, `page` and `push` is set. `part` is of a page."""

    fetched_at: Time
    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None
    robots: RobotsVerdict | None
    rendering: Rendering | None
    part: ShownPart | None


class DetectAnswer(Struct, frozen=True):
    """The answer to a detection. `source_id`: the source that watches this URL already.

    `final_url`: where the look was led, with what its query calls a token, a key or the like hidden.
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
