"""Records of previews and picks: the events of watching a URL, the blocks to choose from, and the effect of choosing.

A worker (`content/pages/page.py`, `content/picking/picker.py`) and the tiers (`sources/<tier>/preview.py`) make
them, the front end shows them. Texts are excerpts; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from storage.records.event import Delta, Value
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


class PageBlock(Struct, frozen=True):
    """A block of a page. `why` is a word for why it is left out, "" for a watched one."""

    text: str
    watched: bool
    why: str


class Removed(Struct, frozen=True):
    """The number of elements that an `ignore` selector removes."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: its title there, or "", and its link."""

    title: str
    url: str


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
    """The shown part of a page. inherited: the tags behind `selector` and `ignore`."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    inherited: Mapping[str, tuple[str, ...]] = {}


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames. waited: seconds; ended: why the session ended early, if it did."""

    subprotocol: str | None
    waited: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """The time of the next check, and the origin's own hints. Seconds; hours and days in UTC."""

    interval: float
    next_look_at: Millis
    max_age: float
    ttl: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsWord(Struct, frozen=True):
    """The verdict of robots.txt on a page; feeds are exempt."""

    allowed: bool
    crawl_delay: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that a browser fetched for a page; size: in bytes. It may be watched instead of the page."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """Facts about a page and browsers. says: a sentence or two, for a person.

    empty: the sign that the page is empty without scripts, or "". done: the preview is of the rendered page. costs:
    plain checks that a rendered one costs. filled_by: largest first.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...] = ()


class Preview(Struct, frozen=True):
    """The result of a check at `fetched_at`, by tier; one of the first three is set. part: the part of a page, with
    its tags' settings.
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
    """A URL's tier and preview. source: the one that already watches it."""

    detection: Detection
    preview: Preview
    source: SourceId | None = None


BLOCK_EXCERPT: Final = 2_000
"""Characters shown of a block."""
MOST_BLOCKS: Final = 100
"""Blocks of one answer."""

BlockKind = Literal["heading", "cell", "item", "control", "text"]
ReachName = Literal["this", "like", "part"]
"""This block alone; all similar ones; the part of the page around it."""
ActName = Literal["only", "also", "without"]
"""Watch only this; watch this too; watch all but this."""


class Press(Struct, frozen=True):
    """A pressed block: its number and mark, the act, and its reach. cell: which cell is meant, from 1; 0 for the block
    itself.
    """

    block: int
    mark: str
    act: ActName = "only"
    reach: ReachName = "this"
    cell: int = 0


class PastChange(Struct, frozen=True):
    """A reported change of a page. at: when the previous version began, as far as known."""

    at: Millis
    delta: Delta


class PastPage(Struct, frozen=True):
    """Earlier versions of a page: the last reported texts, and the changes that led to them, newest first."""

    told: tuple[str, ...]
    changes: tuple[PastChange, ...]


class PickWish(Struct, frozen=True):
    """A request to show a page. selector, ignore: the current choice. find: words that blocks must have.

    selectors: also compute a selector for each shown block. past: the versions that selectors are tried on, None
    without any. inherited_selector: from tags, when there is no `selector`. inherited_ignore: from tags, added to
    `ignore`.
    """

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    first: int = 0
    find: str = ""
    press: Press | None = None
    selectors: bool = False
    past: PastPage | None = None
    inherited_selector: str | None = None
    inherited_ignore: tuple[str, ...] = ()


class PickedValue(Struct, frozen=True):
    """A value of a block. subject: its name in conditions (`price`). place: the condition on its place, "" if it has
    no name.
    """

    value: Value
    subject: str
    place: str


class PickCell(Struct, frozen=True):
    """A cell of a row: its number from 1, its column's heading and its text."""

    number: int
    column: str
    text: str


class PickBlock(Struct, frozen=True):
    """A block of a page. `number` counts from 0, `mark` identifies it across fetches.

    length: characters of the whole text. heading: the one above it; row, column: in a table or a document with paths.
    why: the reason it is left out when the whole page is watched ("furniture", "control"), else "". watched: by the
    current choice. selector: for this block alone, "" if impossible or not requested. item: it links to an item of the
    page, read as a list. cells: of a row that can be chosen by cell.
    """

    number: int
    mark: str
    text: str
    length: int
    kind: BlockKind
    heading: str
    row: str
    column: str
    why: str
    watched: bool
    selector: str
    item: bool
    values: tuple[PickedValue, ...]
    cells: tuple[PickCell, ...] = ()


class PickHeld(Struct, frozen=True):
    """A selector's result on the earlier versions that have the block: how many yield the same place, how many
    nothing; the rest yield another place. since: the start of the oldest.
    """

    versions: int
    same: int
    nothing: int
    since: Millis


class PickReach(Struct, frozen=True):
    """The reach of a choice: its selector, and how many blocks that matches. held: None without earlier versions."""

    name: ReachName
    selector: str
    blocks: int
    held: PickHeld | None = None


class PickKept(Struct, frozen=True):
    """The result of a choice together with tags: the first blocks as a check would read them, and their count.
    selector, ignore: the choice as it would be saved. digest: changes with the text, but not with running figures.
    items: the number of items, read as a list.
    """

    selector: str | None
    ignore: tuple[str, ...]
    texts: tuple[str, ...]
    count: int
    digest: str
    items: int = 0


class PickChoice(Struct, frozen=True):
    """A pressed block as it is now, the possible reaches, and the result of the requested one.

    kept: None if no selector can match it.
    """

    block: PickBlock
    reaches: tuple[PickReach, ...]
    reach: ReachName
    kept: PickKept | None


class PickPage(Struct, frozen=True):
    """A page's blocks to choose from. total: all of them; found: those with the words; blocks: from `first` on.

    no_parts: why no part of this document can be chosen, or "". now: the result of the current choice, None if it
    matches nothing. choice: None if no block was pressed; gone: the pressed block no longer exists. listed: items of
    the page, read as a list. trouble: why this is not the real page.
    """

    title: str
    format: str
    total: int
    found: int
    first: int
    blocks: tuple[PickBlock, ...]
    no_parts: str
    now: PickKept | None
    choice: PickChoice | None = None
    gone: bool = False
    listed: int = 0
    partial: bool = False
    trouble: str | None = None


class Picked(Struct, frozen=True):
    """The page as fetched, to choose from. selector, ignore: the choice including tags; inherited: the tags behind
    each.
    """

    fetched_at: Millis
    page: PickPage
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    inherited: Mapping[str, tuple[str, ...]] = {}
