"""Picking a part of a page: its blocks as they are shown to choose from, and what a choice would do. Records only.

Made in a worker (`content/picking/picker.py`), shown by the front end. Texts are cut for showing; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from storage.records.event import Delta
from storage.records.identity import Millis
from storage.records.value import Value

EXCERPT: Final = 2_000
"""Characters of a block that are shown."""
MOST_BLOCKS: Final = 100
"""Blocks of one answer."""

BlockKind = Literal["heading", "cell", "item", "control", "text"]
ReachName = Literal["this", "like", "part"]
"""This block alone; all that are like it; the part of the page that it stands in."""
ActName = Literal["only", "also", "without"]
"""Watch only that; that, too, beside what is chosen; all but that."""


class Press(Struct, frozen=True):
    """A block that was pressed: its number and mark, what is to be done with it, and how far that reaches. cell: which
    of its cells is meant, from 1; 0 for the block itself.
    """

    block: int
    mark: str
    act: ActName = "only"
    reach: ReachName = "this"
    cell: int = 0


class PastChange(Struct, frozen=True):
    """A change of a page that was told. at: when the version before it began, as far as that is known."""

    at: Millis
    delta: Delta


class PastPage(Struct, frozen=True):
    """What is kept of a page's earlier versions: its texts as they were told last, and how they came about, the newest
    change first.
    """

    told: tuple[str, ...]
    changes: tuple[PastChange, ...]


class PickWish(Struct, frozen=True):
    """What is to be shown of a page. selector, ignore: the present choice. find: words that blocks must have.

    selectors: whether each block that is shown is to have its own. past: by which the selectors of what was pressed are
    tried, None where nothing is kept. inherited_selector, inherited_ignore: what tags say, where the choice says
    nothing, and beside what it leaves out.
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
    """A value of a block. subject: what a condition calls it (`price`). place: the condition on where it stands, ""
    where nothing names the place.
    """

    value: Value
    subject: str
    place: str


class PickCell(Struct, frozen=True):
    """A cell of a block that is a row: its number from 1, its column's head, and what it says."""

    number: int
    column: str
    text: str


class PickBlock(Struct, frozen=True):
    """A block of a page. `number` counts from 0, `mark` is by what it is known again.

    length: characters of the whole text. heading: the one above it; row, column: of a table or a document with paths.
    why: of what it is left out when the whole page is watched ("furniture", "control"), else "". watched: by the
    present choice. selector: of this block alone, "" where nothing can choose it, or nobody asked. item: it leads to
    an item of the page, read as a list. cells: of a row that can be chosen cell by cell.
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
    """What a selector chooses of the earlier versions that have the block: in how many of them the same place, and in
    how many nothing; in the others it is another place. since: when the oldest of them began.
    """

    versions: int
    same: int
    nothing: int
    since: Millis


class PickReach(Struct, frozen=True):
    """How far a choice may reach: the selector, and how many blocks it chooses. held: None where no version tells."""

    name: ReachName
    selector: str
    blocks: int
    held: PickHeld | None = None


class PickKept(Struct, frozen=True):
    """What a choice keeps, with what tags say of it: the first blocks as a look would read them, and how many there
    are. selector, ignore: the choice itself, as it would be saved. digest: changes when another text is kept, but not
    by figures that run. items: how many it has, read as a list.
    """

    selector: str | None
    ignore: tuple[str, ...]
    texts: tuple[str, ...]
    count: int
    digest: str
    items: int = 0


class PickChoice(Struct, frozen=True):
    """A block that was pressed, as it is now, the reaches of the choice, and what the one that is asked for keeps.

    kept: None where nothing can choose it.
    """

    block: PickBlock
    reaches: tuple[PickReach, ...]
    reach: ReachName
    kept: PickKept | None


class PickPage(Struct, frozen=True):
    """A page's blocks to choose from. total: all of them; found: those that have the words; blocks: from `first` on.

    no_parts: why a part of this document can't be chosen, "" where it can. now: what the present choice keeps; None
    where it matches nothing. choice: None where no block was pressed; gone: the one that was is not there any more.
    listed: items of the page, read as a list. trouble: why this is not the page itself.
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
    """The page as it was fetched at a moment, to choose from. selector, ignore: the choice with what tags say of it;
    inherited: from which tags each comes, where one has a say.
    """

    fetched_at: Millis
    page: PickPage
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    inherited: Mapping[str, tuple[str, ...]] = {}
