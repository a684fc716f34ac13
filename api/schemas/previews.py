"""Wire shapes of detection, previews and picking."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.requests import Headers, Ignore, OwnOnly, RenderWish, Selector, Tags, Url, WaitFor
from actors.previews import ActName, BlockKind, ReachName
from api.schemas.sources import Time
from storage.records.event import ValueType
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


_First = Annotated[int, Meta(ge=0, le=100_000, description="How many of the blocks to skip; an answer has 100")]
_Find = Annotated[str, Meta(max_length=200, description="Only blocks with all of these words", examples=["day ticket"])]
_Act = Annotated[
    ActName,
    Meta(description="`only` this; this `also`, beside what `selector` chooses; all `without` this"),
]
_Reach = Annotated[
    ReachName,
    Meta(description="`this` block alone; all that are `like` it; the `part` of the page that it stands in"),
]


class PressedBlock(Struct, frozen=True, forbid_unknown_fields=True):
    """A block of an earlier answer, by its `number` and `mark`, and what choosing it is to do. `cell`: one of its
    `cells`, by its number; 0 for the block itself.
    """

    number: Annotated[int, Meta(ge=0, le=100_000)]
    mark: Annotated[str, Meta(min_length=1, max_length=16)]
    act: _Act = "only"
    reach: _Reach = "this"
    cell: Annotated[int, Meta(ge=0, le=10_000)] = 0


class UrlBlocksRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A URL whose page is to be chosen from; the fields mean what they do in POST /v1/sources."""

    url: Url
    selector: Selector | None = None
    ignore: Ignore = ()
    headers: Headers | None = None
    render: RenderWish = "auto"
    wait_for: WaitFor | None = None
    tags: Tags = ()
    own_only: OwnOnly = ()
    first: _First = 0
    find: _Find = ""
    press: PressedBlock | None = None

    def __repr__(self) -> str:
        return f"UrlBlocksRequest({self.url!r})"


class SourceBlocksRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be shown of a watched page. What is left out of the choice is as it is in the source."""

    selector: Selector | UnsetType | None = UNSET
    ignore: Ignore | UnsetType = UNSET
    first: _First = 0
    find: _Find = ""
    press: PressedBlock | None = None


class BlockValue(Struct, frozen=True):
    """A value of a block. `condition` is how an alert's query names it: its subject (`price`), and, where something
    names the place, `label:` or `path:`. `number` has `scale` decimal places; null where the value is no number.
    """

    text: str
    type: ValueType
    number: int | None
    scale: int
    unit: str
    subject: str
    condition: str


class BlockCell(Struct, frozen=True):
    """A cell of a row of a CSV document: its number from 1, its column's head, and what it says."""

    number: int
    column: str
    text: str


class PageBlock(Struct, frozen=True):
    """A block: `number` counts from 0, by `mark` it is known again. `text` is cut at 2,000 of `length` characters.

    `heading` is the one above it, `row` and `column` are of its table. `why`: furniture or control when it is left out
    of a page that is watched as a whole. `watched`: by the choice of the request. `selector` chooses this block alone
    if anything does, "" where nothing can. `item`: it leads to an item of the list (`follow`). `cells`: of a row of
    CSV, each of which can be pressed alone.
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
    values: tuple[BlockValue, ...]
    cells: tuple[BlockCell, ...] = ()


class HeldVersions(Struct, frozen=True):
    """A selector tried on the earlier `versions` of a page that have the block, 10 at most: in how many it chooses the
    `same` place, and in how many `nothing`; in the others another place. `since`: when the oldest of them began.

    Of an earlier version its texts are kept. The page as it is now is given these, so another design is not noticed.
    """

    versions: int
    same: int
    nothing: int
    since: Time


class BlockReach(Struct, frozen=True):
    """How far a choice may reach, the selector for it, and how many blocks that chooses. `held`: how the selector did
    on the earlier versions of a source; null where none is kept that has the block.
    """

    name: ReachName
    selector: str
    blocks: int
    held: HeldVersions | None


class KeptBlocks(Struct, frozen=True):
    """What a choice keeps, read as a look would: the first 100 `texts` of `count`.

    `digest` changes when something else is kept; figures that run do not change it. `items`: how many it has, read as a
    list (`follow`).
    """

    selector: str | None
    ignore: tuple[str, ...]
    texts: tuple[str, ...]
    count: int
    digest: str
    items: int


class BlockChoice(Struct, frozen=True):
    """The block that was pressed as it is now, how far the choice may reach, how far it does, and what it keeps; null
    where nothing can choose it.
    """

    block: PageBlock
    reaches: tuple[BlockReach, ...]
    reach: ReachName
    kept: KeptBlocks | None


class PageBlocks(Struct, frozen=True):
    """A page to choose from: `blocks` are 100 at most from `first` on, of the `found` that have the words, of `total`.

    `no_parts`: why a part of this document can't be chosen, "" where it can. `now`: what the present choice keeps, null
    where that is nothing. `choice`: null unless a block was pressed; `gone`: the one that was is not there any more.
    `part`: the choice with what tags say of it. `listed`: items of the page, read as a list. `partial`: the page is
    longer than what is read.
    """

    fetched_at: Time
    title: str
    format: str
    total: int
    found: int
    first: int
    blocks: tuple[PageBlock, ...]
    no_parts: str
    now: KeptBlocks | None
    choice: BlockChoice | None
    gone: bool
    listed: int
    part: ShownPart
    partial: bool
