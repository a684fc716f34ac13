"""Wire shapes of picking: a page's blocks to choose from, and the effect of pressing one."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.requests import Headers, Ignore, OwnOnly, RenderWish, Selector, Tags, Url, WaitFor
from actors.picks import ActName, BlockKind, ReachName
from api.schemas.previews import ShownPart
from api.schemas.sources import Time
from storage.records.value import ValueType

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
