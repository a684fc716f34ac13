"""Records of previews: the events of watching a URL.

Answers show some of them as they are, so their docstrings are the API's; `api/fields/previews.py` has the others.

A worker (`content/pages/page.py`) and the tiers (`sources/<tier>/preview.py`) make them, the front end shows them.
Texts are excerpts; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from storage.records.event import ValueType
from storage.records.identity import Millis, SourceId
from storage.records.source import Detection

EXCERPT = 500
"""Characters shown of a text."""


class DraftEvent(Struct, frozen=True):
    """An event as it would be emitted. `content` is an excerpt.

    identity: how it is distinguished: "guid", "link", "hash" (of its text), "guid and link". told: whether it would
    become an event; a push source's frame only does if an alert wants it.
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

    undated: entries without a readable date. identities: entries by kind of identity. backfill: entries that the
    largest backfill would emit. damaged: ill-formed and recovered, or with undecodable bytes. hubs: WebSub. paging:
    the links of RFC 5005 by relation. Hubs and paging are shown but not followed.
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


class PreviewBlock(Struct, frozen=True):
    """A paragraph, item, cell or heading. `why`: furniture or control if it is ignored, else ""."""

    text: str
    watched: bool
    why: str


class Ignored(Struct, frozen=True):
    """The number of elements that one selector of `ignore` removes."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: its title there, and its link."""

    title: str
    url: str


class FoundValue(Struct, frozen=True):
    """A price, number, state, version or date on a page. `text`: as written there. `value`: its digits, its date, the
    numbers of a version, or a state. `label`: its name in the page's own words. `path`: its place in a structured
    document. `unit`: a currency, "%", a unit of measure, or "".
    """

    type: ValueType
    text: str
    value: str
    label: str
    path: str
    unit: str


class PagePreview(Struct, frozen=True):
    """A page as it would be watched. `blocks` and `items` are the first ones; `watched`, `left_out` and `listed` count
    all, `listed` when read as a list.

    matched: elements that the selector matches, None without one. has: selectors that would match something large, if
    this one matches nothing. partial: the page exceeds the limits on length or depth.
    """

    title: str
    author: str
    published_at: Millis | None
    content: str
    blocks: tuple[PreviewBlock, ...]
    watched: int
    left_out: int
    matched: int | None
    ignored: tuple[Ignored, ...]
    has: tuple[str, ...]
    partial: bool
    trouble: str | None
    listed: int = 0
    items: tuple[ListedItem, ...] = ()
    values: tuple[FoundValue, ...] = ()


class ShownPart(Struct, frozen=True):
    """The shown part of a page: `selector` and `ignore`, including inherited values. `inherited`: the tags that each
    comes from; a missing one is the source's own.
    """

    selector: str | None
    ignore: tuple[str, ...]
    inherited: dict[str, tuple[str, ...]]


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames. ended: why the session ended early, if it did."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """The time of the next check, and the origin's own hints; hours and days in UTC."""

    interval_s: float
    next_look_at: Millis
    max_age_s: float
    ttl_s: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsVerdict(Struct, frozen=True):
    """The verdict of robots.txt on a page; it does not apply to feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that filled the rendered page, with its `size` in bytes. A check of its `url` is a plain one."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """How a browser is involved; null for a page that is read as sent. `says` is the sentence for people.

    `empty`: the sign that the page is empty without JavaScript, "" if rendering was requested. `done`: the preview
    shows the rendered page. `costs`: plain checks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...]


class Preview(Struct, frozen=True):
    """The result of a check at `fetched_at`, by tier; one of the first three is set. part: the part of a page, with
    its tags' settings.
    """

    fetched_at: Millis
    feed: FeedPreview | None = None
    page: PagePreview | None = None
    push: PushPreview | None = None
    pace: PacePreview | None = None
    robots: RobotsVerdict | None = None
    rendering: Rendering | None = None
    part: ShownPart | None = None


class Previewed(Struct, frozen=True):
    """A URL's tier and preview. source: the one that already watches it."""

    detection: Detection
    preview: Preview
    source: SourceId | None = None
