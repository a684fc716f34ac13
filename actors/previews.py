"""Previews: the events that watching a URL would bring, before anything is watched. Records only.

Made in a worker (`content/pages/preview.py`) and by the tiers (`sources/page/preview.py`, `feed/preview.py`,
`push/preview.py`), written by the front end. Texts are cut for showing; nothing here is stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from storage.records.identity import Millis, SourceId
from storage.records.source import Detection

EXCERPT = 500
"""Characters of a text that are shown."""


class DraftEvent(Struct, frozen=True):
    """An event as it would be emitted. `content` is an excerpt.

    identity: what tells it from others: "guid", "link", "hash" (of its text), "guid and link". told: whether it would
    become an event; a push source's frame only does when somebody wants it.
    """

    title: str
    url: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]
    identity: str
    told: bool = True


class FeedPreview(Struct, frozen=True):
    """A feed. `newest` is newest first: a backfill of n emits the first n of them, oldest first.

    undated: entries without a readable date. identities: how many entries have which. backfill: how many entries the
    largest backfill would emit. damaged: ill-formed and recovered, or with bytes that were no text. hubs: WebSub.
    paging: the links of RFC 5005 by their relation. Both are shown only; nothing follows them.
    """

    title: str
    format: str
    url: str
    entries: int
    undated: int
    identities: Mapping[str, int]
    newest: tuple[DraftEvent, ...]
    backfill: int
    damaged: bool
    hubs: tuple[str, ...]
    paging: Mapping[str, str]


class PageBlock(Struct, frozen=True):
    """A block of a page. `why` says in a word why it is left out, "" for one that is watched."""

    text: str
    watched: bool
    why: str


class Removed(Struct, frozen=True):
    """How many elements an `ignore` selector takes out of the page."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: what the list calls it, "" where it has no name there, and where it leads."""

    title: str
    url: str


class PagePreview(Struct, frozen=True):
    """A page as it would be watched. `blocks` are the first of them; `watched` and `left_out` count all. listed: how
    many items it has, read as a list; `items` are the first of them.

    matched: how many elements the selector keeps, None without one. has: selectors that would match something large,
    filled in when this one matches nothing. partial: the page is longer or deeper than what is read of it.
    """

    title: str
    author: str
    published_at: Millis | None
    content: str
    blocks: tuple[PageBlock, ...]
    watched: int
    left_out: int
    matched: int | None
    ignored: tuple[Removed, ...]
    has: tuple[str, ...]
    partial: bool
    trouble: str | None
    listed: int = 0
    items: tuple[ListedItem, ...] = ()


class PartShown(Struct, frozen=True):
    """Which part of a page is shown. inherited: from which tags `selector` and `ignore` come, where tags have a say."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    inherited: Mapping[str, tuple[str, ...]] = {}


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames. waited: seconds; ended: why the session ended meanwhile, if it did."""

    subprotocol: str | None
    waited: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """When it would be looked at again, and what the origin says about that itself. Seconds; hours and days in UTC."""

    interval: float
    next_look_at: Millis
    max_age: float
    ttl: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsWord(Struct, frozen=True):
    """What robots.txt says about a page; feeds are not asked about."""

    allowed: bool
    crawl_delay: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that filled a page while a browser showed it; size: in bytes. It may be watched in the page's stead."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """What is to be said of a page and browsers. says: a sentence or two, for a person.

    empty: by what the page shows that it is empty without its scripts, "" when it is not. done: what is shown is the
    page as a browser showed it. costs: plain looks that a rendered one costs. filled_by: the largest first.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...] = ()


class Preview(Struct, frozen=True):
    """What a look at `fetched_at` would have told, by the kind of source; one of the first three is set. part: of a
    page, with what its tags say.
    """

    fetched_at: Millis
    feed: FeedPreview | None = None
    page: PagePreview | None = None
    push: PushPreview | None = None
    pace: PacePreview | None = None
    robots: RobotsWord | None = None
    rendering: Rendering | None = None
    part: PartShown | None = None


class Previewed(Struct, frozen=True):
    """What a URL is and would give. source: the one that watches it already."""

    detection: Detection
    preview: Preview
    source: SourceId | None = None
