"""The blocks of a page to choose from, and the effect of choosing. Texts are excerpts; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from actors.content.messages import BodyRequest
from storage.records.event import Value
from storage.records.identity import Millis

BLOCK_EXCERPT: Final = 2_000  # characters shown of a block

MOST_SHOWN_BLOCKS: Final = 100  # blocks of one answer

BlockKind = Literal["heading", "cell", "item", "control", "text"]

ReachName = Literal["this", "like", "part"]  # this block alone; all similar ones; the part of the page around it

ActName = Literal["only", "also", "without"]  # watch only this; watch this too; watch all but this

_Act = Annotated[ActName, Meta(description="`only` this; this `also`, in addition to `selector`; all `without` this")]

_Reach = Annotated[
    ReachName, Meta(description="`this` block alone; all blocks `like` it; the `part` of the page around it")
]


class PressedBlock(Struct, frozen=True, forbid_unknown_fields=True):
    """A block of an earlier answer, by its `number` and `mark`, and the effect of choosing it. `cell`: the number of
    one of its `cells`; 0 for the block itself.
    """

    number: Annotated[int, Meta(ge=0, le=100_000)]
    mark: Annotated[str, Meta(min_length=1, max_length=16)]
    act: _Act = "only"
    reach: _Reach = "this"
    cell: Annotated[int, Meta(ge=0, le=10_000)] = 0


class PickWish(Struct, frozen=True):
    """selector, ignore: the choice. find: words. selectors: compute each block's. inherited_*: of tags."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    first: int = 0
    find: str = ""
    press: PressedBlock | None = None
    selectors: bool = False
    inherited_selector: str | None = None
    inherited_ignore: tuple[str, ...] = ()


class PickedValue(Struct, frozen=True):
    """subject: a value's name in conditions (`price`). place: the condition on its place, "" without a name."""

    value: Value
    subject: str
    place: str


class BlockCell(Struct, frozen=True):
    """A cell of a row of a CSV document: its number from 1, its column header, and its text."""

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
    cells: tuple[BlockCell, ...] = ()


class PickReach(Struct, frozen=True):
    """The reach of a choice: its selector, and how many blocks that matches."""

    name: ReachName
    selector: str
    blocks: int


class KeptBlocks(Struct, frozen=True):
    """The texts that a choice watches, as a check would read them: the first 100 `texts` of `count`.

    `digest` identifies the watched texts; running counters do not change it. `items`: its number of items as a list
    (`follow`).
    """

    selector: str | None
    ignore: tuple[str, ...]
    texts: tuple[str, ...]
    count: int
    digest: str
    items: int


class PickChoice(Struct, frozen=True):
    """A pressed block as it is now, the reaches, and the requested one. kept: None if no selector can match it."""

    block: PickBlock
    reaches: tuple[PickReach, ...]
    reach: ReachName
    kept: KeptBlocks | None


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
    now: KeptBlocks | None
    choice: PickChoice | None = None
    gone: bool = False
    listed: int = 0
    partial: bool = False
    trouble: str | None = None


class Picked(Struct, frozen=True):
    """The page as fetched. selector, ignore: the choice including tags; inherited: the tags behind each."""

    fetched_at: Millis
    page: PickPage
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    inherited: Mapping[str, tuple[str, ...]] = {}


class PickRequest(BodyRequest, frozen=True):
    """Answered by a `PickPage`."""

    wish: PickWish = PickWish()
