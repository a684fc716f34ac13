"""Traits of a block from its place in the page, as bits; and the sign that made a block furniture.

*Furniture* surrounds content. Its signs are tags, ARIA roles, words in class and id, and a label at the start of a box
("Related articles"). Any sign can be wrong, so it counts only if the whole page supports it: names that would cover
most of a page (a body with class "nav-open") are ignored, and so are tags that would cover nearly all.

The sign is only for explanations. The decision reads FURNITURE alone, and bits above `STORED` are not stored.

The place of a block in a table or definition list: its row's label and its column's head, as worded on the page.
Tables are read in HTML's layout: `colspan` and `rowspan` shift later cells, and a cell belongs to the innermost table.
Column heads are the cells of a `thead`, a `th` with `scope=col`, and rows of only `th`. Row labels are the `th` to the
left; in a row without any, its first cell if it reads like a label. The label of a `dd` is the `dt` before it. The
work is bounded: a cell costs at most `_MOST_COLUMNS` steps. A row's label is nearly always that of the previous block
or the next new one, and column heads repeat in every row, so a table of a thousand cells needs some hundred bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from actors.content.bodies.text import normalise
from actors.content.values.reading import has_price
from actors.content.wording.canonical import COUNT_SIGNS
from actors.content.wording.words import word_lists
from storage.records.event import MOST_CONTEXT

if TYPE_CHECKING:
    from actors.content.bodies.markup import Element


STORED = 0xFF  # the stored bits of a trait
SIGN = 0xFF00
INSIDE = 0x10000  # Inside the page's <main>. Only `mark_furniture` reads it.

TAGS = ("nav", "footer", "aside", "dialog", "menu", "header")
ROLES = (
    "navigation", "contentinfo", "complementary", "dialog", "alertdialog", "search", "banner", "menu", "menubar",
    "tooltip", "toolbar", "tablist", "status",
)  # fmt: skip
_LISTS = word_lists("parts")["furniture"]
_WORDS = _LISTS["signs"].split("|")
ARIA_HIDDEN, BOX, OFFER = "hidden from screen readers", "a box of links that leads elsewhere", "labelled as an offer"
ENCLOSED = "a few links between menus"
_ALL = (
    "",
    *(f"<{tag}>" for tag in TAGS),
    *(f"role={role}" for role in ROLES),
    *(f"named {word!r} by the page" for word in _WORDS),
    ARIA_HIDDEN,
    BOX,
    OFFER,
    ENCLOSED,
)
_CODES = {words: code << 8 for code, words in enumerate(_ALL)}


def by_name(name: str) -> int:
    name = name.strip(" _-\t\n\r\f").lower()
    known = max((word for word in _WORDS if name.startswith(word)), key=len, default="")
    return _CODES.get(f"named {known!r} by the page", 0)


def signed(trait: int, sign: int) -> int:
    return trait if trait & SIGN else trait | sign


def words_of(trait: int) -> str:
    return _ALL[(trait & SIGN) >> 8]


FURNITURE = 1
HEADING = 2
CELL = 4  # directly in a td, th, dd or dt
ITEM = 8
LINK = 16  # most of its text is a link
TOP = 32  # the page's own heading (h1)
CONTROL = 64  # a button or a field's label
NAMED = 128  # furniture only by the words of a class or id, the weakest sign; comes with FURNITURE

ASIDE = FURNITURE | CONTROL

_BY_TAG = {
    **dict.fromkeys(("h2", "h3", "h4"), HEADING),
    **dict.fromkeys(("td", "th", "dd", "dt"), CELL),
    "h1": HEADING | TOP,
    "li": ITEM,
    "option": ITEM,
}
_INHERITED = FURNITURE | CONTROL | NAMED | ~STORED
_FURNITURE_TAGS = frozenset(TAGS) - {"header"}
_CONTROL_TAGS = frozenset({"button", "label", "option", "legend", "input"})
_CONTENT_TAGS = frozenset({"main", "body", "html"})
_FURNITURE_ROLES = frozenset(ROLES)
_FURNITURE_WORDS = re.compile(_LISTS["named"], re.I)
_LEADS = re.compile(_LISTS["leads"], re.I)
_OFFER = re.compile(_LISTS["offer"], re.I)
_LONGEST_BOX = 16  # blocks of a box; on a list page it would otherwise continue to the last link
_PARAGRAPH = 120
_MINUTES = r"\d[:.][0-5]\d(?!\d|[.:%]\d)"
_TIME = re.compile(rf"[0-2]?{_MINUTES}")
# A search is faster without the first figure of an hour.
_HOURS = re.compile(
    rf"{_MINUTES}\s?(?:[ap]\.?m\.?|uhr|h)?\s?(?:[-–—~〜～]|to|bis|till|à|a|do|до|tot|til)\s?{_TIME.pattern}", re.I
)
_TIMETABLE, _LONGEST_ROW = 3, 120
_DIGIT, _FIGURE = re.compile(r"\d"), re.compile(r"\d+(?:[.,]\d+)*")
_LONGEST_LIMIT = 60
_SMALL, _DIGITS = 10, 2  # every figure up to this is round; a larger one has at most this many digits before its zeros
_FEWEST_LIMITS, _BESIDE_PRICE = 2, 6  # plans that name their limits, and blocks within which each has a price
_LONGEST_ENCLOSED = 4
_ENCLOSING = 6  # blocks of furniture before and after enclosed links
_MOST_ENCLOSED, _LITTLE, _MOST_KNOWN = 0.1, 0.1, 8192
TOLD = frozenset({"role", "aria-hidden"})  # attributes, other than class and id, that mark furniture
_MOST_BY_NAME = 0.5
_RICH, _RICH_TEXT, _SENTENCE = 12, 4, 60
"""A page has a main part outside its boxes with this many blocks of content, or sentences of this length."""
_FEW_PRICES, _MOST_INSIDE = 3, 30
"""Prices of a box that is the page's offer; maximum blocks of boxes, or of a page without <main>."""
_MOST = 0.9


def plain_traits(element: Element, tag: str, outer: int, attributes: Mapping[str, str]) -> int:
    """Return the traits of a tag, without furniture: for a part of the page that the user chose."""
    return _by_tag(tag, outer)


def traits_of(element: Element, tag: str, outer: int, attributes: Mapping[str, str]) -> int:
    """Return the traits of the block that starts with this element. outer: those of the surrounding block."""
    get = attributes.get
    classes, id = get("class", ""), get("id", "")
    if tag != "header" and TOLD.isdisjoint(attributes):
        return BY_NAME[tag, outer, classes, id]
    is_head = tag == "header" and getattr(element.getparent(), "tag", "") == "body"
    named = _named(tag, outer, classes, id)
    return _traits(tag, outer, is_head, get("role", ""), get("aria-hidden") == "true", named)


def _by_tag(tag: str, outer: int) -> int:
    return _BY_TAG.get(tag, outer & CELL if tag == "p" else 0)


def _named(tag: str, outer: int, classes: str, id: str) -> str:
    return "" if outer & FURNITURE or tag == "article" else f"{classes} {id}"


@lru_cache(maxsize=8192)
def _traits(tag: str, outer: int, head: bool, role: str, aria_hidden: bool, named: str) -> int:  # noqa: PLR0917  a key
    trait = _by_tag(tag, outer) | (outer & _INHERITED)
    if tag in _CONTROL_TAGS:
        return trait | CONTROL
    role = role.lower()
    if tag in _CONTENT_TAGS or role == "main":
        inside = INSIDE if tag == "main" or role == "main" else 0
        return trait & ~(FURNITURE | NAMED) & STORED | inside
    if head or tag in _FURNITURE_TAGS:
        return signed(trait | FURNITURE, _CODES[f"<{tag}>"]) & ~NAMED
    if role in _FURNITURE_ROLES:
        return signed(trait | FURNITURE, _CODES[f"role={role}"]) & ~NAMED
    if aria_hidden:
        return signed(trait | FURNITURE, _CODES[ARIA_HIDDEN]) & ~NAMED
    if not trait & FURNITURE and named and (word := _FURNITURE_WORDS.search(named[:400])):
        return trait | FURNITURE | NAMED | by_name(word[0])
    return trait


class _ByName(dict[tuple[str, int, str, str], int]):
    """The traits of a block by tag, outer traits, class and id, if no other attribute matters: a lookup, not a call."""

    def __missing__(self, place: tuple[str, int, str, str]) -> int:
        tag, outer, classes, id = place
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[place] = trait = _traits(tag, outer, False, "", False, _named(tag, outer, classes, id))
        return trait


BY_NAME = _ByName()


def mark_cells(texts: Sequence[str], traits: list[int]) -> None:
    """Mark the rows of timetables, and the limits of plans, as cells."""
    figured = [i for i, text in enumerate(texts) if _DIGIT.search(text)]
    for i in [*_timetable(texts, figured), *_limits(texts, figured)]:
        traits[i] |= CELL


def _timetable(texts: Sequence[str], figured: Sequence[int]) -> Iterator[int]:
    """Yield a timetable's rows: spans of hours, and leading times if several blocks have one."""
    begins = []
    for i in figured:
        text = texts[i]
        marks = text.count(":") + text.count(".")
        if marks and text[0].isdecimal() and _TIME.match(text):
            begins.append(i)
        # "20.48 -1.66 %" is a share price that fell.
        if marks > 1 and len(text) <= _LONGEST_ROW and "%" not in text and _HOURS.search(text):
            yield i
    yield from begins if len(begins) >= _TIMETABLE else ()


def _limits(texts: Sequence[str], figured: Sequence[int]) -> Iterator[int]:
    """Yield the limits of plans near prices ("1,000 subscribers"). They are round; counters do not stay round."""
    found: dict[str, list[int]] = {}
    for i in figured:
        if len(texts[i]) <= _LONGEST_LIMIT:
            for word in COUNT_SIGNS.intersection(texts[i].lower().replace(":", " ").split()):
                found.setdefault(word, []).append(i)
    for places in found.values():
        near = (texts[max(0, i - _BESIDE_PRICE) : i + _BESIDE_PRICE + 1] for i in places)
        if len(places) >= _FEWEST_LIMITS and all(is_round(texts[i]) for i in places):
            yield from places if all(any(map(has_price, beside)) for beside in near) else ()


def is_round(text: str) -> bool:
    figures = _FIGURE.findall(text)
    if len(figures) != 1:
        return False
    value = int(re.sub(r"\D", "", figures[0]))
    return (value <= _SMALL or value % 5 == 0) and len(str(value).rstrip("0")) <= _DIGITS


def mark_furniture(texts: Sequence[str], traits: Sequence[int]) -> list[int]:
    """Return the traits of a whole page: drop unsupported marks, add those of labelled boxes."""
    sizes = list(map(len, texts))
    kept = _with_only_content(texts, _named_borne_out(traits, sizes))
    if _size(sizes, kept, FURNITURE) > _MOST * sum(sizes):
        return [trait & ~(FURNITURE | NAMED) & STORED for trait in kept]
    return _with_enclosed(_with_boxes(texts, kept), sizes)


def _size(sizes: Sequence[int], traits: Sequence[int], wanted: int) -> int:
    return sum([size for size, trait in zip(sizes, traits, strict=True) if trait & wanted])


def _with_only_content(texts: Sequence[str], kept: list[int]) -> list[int]:
    """Mark boxes near the main text as content if there is little else, or no other price."""
    main = frozenset(i for i, bits in enumerate(kept) if bits & INSIDE)
    kept = [bits & ~INSIDE for bits in kept] if main else kept
    top = next((i for i, bits in enumerate(kept) if bits & TOP), len(kept))
    boxes = [i for i, bits in enumerate(kept) if bits & FURNITURE and (i in main if main else bits & NAMED and i > top)]
    if not boxes:
        return kept
    content = [i for i, bits in enumerate(kept) if not bits & ASIDE and (i in main or not main)]
    is_rich = len(content) >= _RICH or sum(len(texts[i]) >= _SENTENCE for i in content) >= _RICH_TEXT
    if len(boxes) > _MOST_INSIDE or not (main or len(kept) <= _MOST_INSIDE):
        return kept
    if is_rich:
        priced = [i for i in boxes if has_price(texts[i]) and not kept[i] & NAMED]
        if not priced or len(priced) > _FEW_PRICES or any(has_price(texts[i]) for i in content):
            return kept
        boxes = [i for i in boxes if priced[0] - 1 <= i <= priced[-1] + 2]
    for i in boxes:
        kept[i] &= ~(FURNITURE | NAMED | SIGN)
    return kept


def _named_borne_out(traits: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Drop names that cannot be right: those that wrap the content, or most parts of a page. A mega menu may be most of
    a page's text, but not most of its paragraphs, and does not contain its heading.
    """
    kept = list(traits)
    if not any(trait & NAMED for trait in set(kept)):
        return kept
    total, menus, end = sum(sizes), 0, 0
    linked = LINK | CONTROL
    running = [n if n >= _PARAGRAPH and not bits & linked else 0 for n, bits in zip(sizes, kept, strict=True)]
    long, has_top = sum(running), any(trait & TOP for trait in kept)
    for is_furniture, run in groupby(traits, FURNITURE.__and__):
        start, end = end, end + len(list(run))
        named = [i for i in range(start, end) if kept[i] & NAMED] if is_furniture else []
        size = sum(sizes[i] for i in named)
        is_most = size > _MOST_BY_NAME * total
        wraps = is_most and (not has_top or any(kept[i] & TOP for i in named))
        if long > _LITTLE * total:
            wraps = sum(running[i] for i in named) > _MOST_BY_NAME * long
        if wraps:
            for i in named:
                kept[i] &= ~(FURNITURE | NAMED) & STORED
        elif is_most:
            menus += size
    if _size(sizes, kept, NAMED) - menus > _MOST_BY_NAME * total:
        kept = [trait & ~(FURNITURE | NAMED) & STORED if trait & NAMED else trait for trait in kept]
    return kept


def _with_enclosed(kept: list[int], sizes: Sequence[int]) -> list[int]:
    """Mark short runs of links between long runs of furniture, but never a large part of the content or its heading."""
    runs = [(aside, len(list(run))) for aside, run in groupby(kept, ASIDE.__and__)]
    starts = accumulate((size for _, size in runs), initial=0)
    found = [
        i
        for start, (_, before), (aside, size), (_, after) in zip(starts, [(0, 0), *runs], runs, runs[1:], strict=False)
        if not aside and size <= _LONGEST_ENCLOSED and min(before, after) >= _ENCLOSING
        if all(kept[i] & LINK and not kept[i] & TOP for i in range(start, start + size))
        for i in range(start, start + size)
    ]
    if found and sum(sizes[i] for i in found) <= _MOST_ENCLOSED * (sum(sizes) - _size(sizes, kept, ASIDE)):
        for i in found:
            kept[i] = signed(kept[i] | FURNITURE, _CODES[ENCLOSED])
    return kept


def _with_boxes(texts: Sequence[str], kept: list[int]) -> list[int]:
    """Mark boxes: links below a label such as "Related", and labelled offers."""
    leads = [i for i, text in enumerate(texts) if len(text) <= 40 and _LEADS.fullmatch(text) and not kept[i] & LINK]
    begins = dict.fromkeys((i for i, text in enumerate(texts) if _OFFER.match(text)), (2, _CODES[OFFER]))
    begins |= dict.fromkeys(leads, (_LONGEST_BOX, _CODES[BOX]))
    for start, (size, sign) in begins.items():
        last = start + size - 1
        for i in range(start, min(last + 1, len(kept))):
            if i > start and (i in begins or not kept[i] & LINK or (kept[i] & HEADING and i == last)):
                break
            kept[i] = signed(kept[i] | FURNITURE, sign)
    return kept


PLACING = frozenset({"table", "thead", "tr", "td", "th", "dl", "dt", "dd"})
"""Elements that `Tables` needs; all of them are breaks."""

MARKED = frozenset({"colspan", "rowspan", "scope", "role"})  # their attributes that `Tables` reads

_MOST_CELLS, _MOST_COLUMNS, _MOST_ROWS, _MOST_LABELS = 20_000, 64, 65_534, 3
_LONGEST_LABEL = 60  # characters of a cell without `th` that may be its row's label
BETWEEN = " / "
_LABEL = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]|\b(?:19|20)\d\d\b")
_LAYING = frozenset({"colspan", "rowspan", "scope"})
_COLUMN_SCOPES, _ROW_SCOPES = frozenset({"col", "colgroup"}), frozenset({"row", "rowgroup"})


class CellLabels(NamedTuple):
    """The label of a block's row and the head of its column; "" if missing, never both."""

    row: str = ""
    column: str = ""


_labels_of = partial(tuple.__new__, CellLabels)
"""Makes labels of a pair, three times as fast as the class: a page has thousands."""


class _Cell:
    __slots__ = ("column", "end", "id", "is_head", "scope", "width")

    def __init__(self, id: int, column: int, width: int, end: int, is_head: bool, scope: str) -> None:  # noqa: PLR0917
        self.id, self.column, self.width, self.is_head, self.scope = id, column, width, is_head, scope
        self.end = end
        """The first row below the cell."""


class _Table:
    """One table, or one definition list (which uses only `term`), as read so far."""

    __slots__ = ("cells", "column", "head", "heads", "in_thead", "is_layout", "owners", "row", "term")

    def __init__(self, is_layout: bool = False) -> None:
        self.is_layout, self.in_thead = is_layout, False
        self.row = -1
        self.column = 0
        """The next column of the row, unless a cell from above covers it."""
        self.cells: list[_Cell] = []
        self.owners: list[_Cell] = []
        """The latest cell in each column."""
        self.heads: list[tuple[int, ...]] = []
        """The heads of each column, the outermost first."""
        self.head = False
        """Whether the previous row was one of heads: the next one adds to it, a later one replaces it."""
        self.term = 0

    def lay(self, cell: int, is_head: bool, named: Mapping[str, str]) -> None:
        owners, row, column = self.owners, self.row, self.column
        while column < len(owners) and owners[column].end > row:
            column += 1
        if column >= _MOST_COLUMNS:
            return
        if is_head or (named and not _LAYING.isdisjoint(named)):
            width = min(_number(named.get("colspan")) or 1, _MOST_COLUMNS - column)
            end = row + (_number(named.get("rowspan", "1")) or _MOST_ROWS)
            laid = _Cell(cell, column, width, end, is_head, named.get("scope", "").lower())
            owners[column : column + width] = [laid] * width
        else:
            laid = _Cell(cell, column, 1, row + 1, is_head, "")
            owners[column : column + 1] = [laid]
        self.column = column + laid.width
        self.cells.append(laid)

    def heads_of(self, column: int) -> tuple[int, ...]:
        return self.heads[column] if column < len(self.heads) else ()

    def end_row(self) -> Iterator[tuple[_Cell, tuple[int, ...]]]:
        """End a row: yield its cells with the ids of their labels. A negative id must read like a label."""
        cells, self.cells, self.column = self.cells, [], 0
        if self.in_thead or (
            cells[0].is_head and all(each.is_head and each.scope not in _ROW_SCOPES for each in cells)
        ):
            self._take_heads(cells)
            return
        self.head = False
        for cell in cells:
            if cell.scope in _COLUMN_SCOPES:
                self._set_heads(cell, (cell.id,))
        there = [owner for column, owner in enumerate(self.owners) if owner.end > self.row and owner.column == column]
        marked = [owner for owner in there if owner.is_head and owner.scope not in _COLUMN_SCOPES]
        labels: tuple[int, ...] = ()
        first, done = there[0], 0
        for cell in cells:
            while done < len(marked) and marked[done].column < cell.column:
                labels = (*labels, marked[done].id)[-_MOST_LABELS:]
                done += 1
            yield cell, labels if marked else (-first.id,) if cell is not first else ()

    def _take_heads(self, cells: Sequence[_Cell]) -> None:
        if len(cells) == 1 and self.heads and not self.head and not self.in_thead:
            return  # a title across the table, between its rows
        for cell in cells:
            outer = self.heads_of(cell.column) if self.head else ()
            self._set_heads(cell, (*outer, cell.id)[-_MOST_LABELS:])
        self.head = True

    def _set_heads(self, cell: _Cell, heads: tuple[int, ...]) -> None:
        end = cell.column + cell.width
        self.heads += [()] * (end - len(self.heads))
        self.heads[cell.column : end] = [heads] * cell.width


class Tables:
    """The tables and definition lists of a page during the walk. at: the id of the current cell, or 0."""

    __slots__ = ("_columns", "_left", "_rows", "_tables", "at")

    def __init__(self) -> None:
        self.at = 0
        self._tables = [_Table()]
        self._left: list[int] = []
        self._rows: list[tuple[int, ...]] = [()]
        self._columns: list[tuple[int, ...]] = [()]

    def enter(self, tag: str, named: Mapping[str, str]) -> None:
        table = self._tables[-1]
        if tag == "tr":
            if table.cells:
                self._end_row(table)
            table.column = 0
            table.row += 1
        elif tag == "thead":
            table.in_thead = True
        elif tag in ("table", "dl"):
            self._left.append(self.at)
            self.at = 0
            self._tables.append(_Table(is_layout=named.get("role") in ("presentation", "none")))
        else:
            self._left.append(self.at)
            self._enter_cell(table, tag, named)

    def leave(self, tag: str) -> None:
        if tag == "thead":
            self._end_row(self._tables[-1])
            self._tables[-1].in_thead = False
        elif tag == "tr":
            if (table := self._tables[-1]).cells:
                self._end_row(table)
            table.column = 0
        else:
            if tag in ("table", "dl"):
                self._end_row(self._tables.pop())
            self.at = self._left.pop()

    def places(self, cells: Mapping[int, int], texts: Sequence[str]) -> tuple[CellLabels | None, ...]:
        """Return the place of each block, given its cell by block number; () if there are none."""
        if not cells:
            return ()
        first: dict[int, str] = {}
        for block, cell in cells.items():
            first.setdefault(cell, texts[block])
        labels = _Labels(first)
        places: list[CellLabels | None] = [None] * len(texts)
        for block, cell in cells.items():
            row, column = labels[self._rows[cell]], labels[self._columns[cell]]
            if row or column:
                places[block] = _labels_of((row, column))
        return tuple(places) if any(places) else ()

    def _enter_cell(self, table: _Table, tag: str, named: Mapping[str, str]) -> None:
        if table.is_layout or len(self._rows) > _MOST_CELLS:
            self.at = 0
            return
        self.at = len(self._rows)
        term = (table.term,) if tag == "dd" and table.term else ()
        self._rows.append(term)
        self._columns.append(())
        if tag == "dt":
            table.term = self.at
        elif tag != "dd":
            table.lay(self.at, tag == "th", named)

    def _end_row(self, table: _Table) -> None:
        if not table.cells:
            table.column = 0
            return
        for cell, labels in table.end_row():
            self._rows[cell.id] = labels
            if table.heads:
                heads = table.heads_of(cell.column)
                self._columns[cell.id] = heads if cell.id not in heads else ()


class _Labels(dict[tuple[int, ...], str]):
    """Label texts by their cells, each built once, since cells share them."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, cells: tuple[int, ...]) -> str:
        texts = dict.fromkeys(filter(None, map(self._text, cells)))
        self[cells] = label = BETWEEN.join(texts)[:MOST_CONTEXT]
        return label

    def _text(self, cell: int) -> str:
        text = normalise(self._texts.get(abs(cell), "")[: 2 * MOST_CONTEXT])[:MOST_CONTEXT]
        return text if cell > 0 or (len(text) <= _LONGEST_LABEL and _LABEL.search(text) is not None) else ""


def _number(text: str | None) -> int:
    text = (text or "").strip()
    return min(int(text), _MOST_ROWS) if text.isascii() and text.isdigit() and len(text) <= 6 else 0


MOST_LABELS = 64 * 1024  # characters of labels to store; the blocks beyond them have no place
_MOST_BYTES = 8 * MOST_LABELS
_NONE, _SAME, _NEXT, _KNOWN = 0, 1, 2, 3


class _Packed(Struct, array_like=True):
    rows: list[str]
    columns: list[str]
    row_steps: list[int]
    """For each block: none, the previous block's row, the next new row, or `_KNOWN` plus the row's number."""
    column_steps: list[int]
    """For each block: none, or the number of the column plus 1."""


def pack_places(places: Sequence[CellLabels | None], texts: bytes) -> bytes:
    """Pack places, b"" for none. texts: the same that `unpack_places` will get."""
    if not any(places):
        return b""
    rows: dict[str, int] = {}
    columns: dict[str, int] = {}
    row_steps, column_steps = [], []
    last, room = -1, MOST_LABELS
    for place in places:
        if place is None:
            row_steps.append(_NONE)
            column_steps.append(_NONE)
            continue
        row, column = place
        room -= (0 if row in rows else len(row)) + (0 if column in columns else len(column))
        if room < 0:
            break
        if not row:
            row_steps.append(_NONE)
        else:
            is_new = row not in rows
            number = rows.setdefault(row, len(rows))
            row_steps.append(_NEXT if is_new else _SAME if number == last else _KNOWN + number)
            last = number
        column_steps.append(columns.setdefault(column, len(columns)) + 1 if column else _NONE)
    packed = msgspec.msgpack.encode(_Packed(list(rows), list(columns), row_steps, column_steps))
    deflating = zlib.compressobj(6, wbits=-zlib.MAX_WBITS, zdict=texts)
    return deflating.compress(packed) + deflating.flush()


def unpack_places(packed: bytes, texts: bytes) -> tuple[CellLabels | None, ...]:
    """Return the places of the first blocks; () if there are none or the data is damaged."""
    if not packed:
        return ()
    try:
        plain = zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=texts).decompress(packed, _MOST_BYTES)
        found = msgspec.msgpack.decode(plain, type=_Packed)
        return tuple(_places(found))
    except (zlib.error, msgspec.MsgspecError, IndexError, ValueError):
        return ()


def _places(found: _Packed) -> list[CellLabels | None]:
    places: list[CellLabels | None] = []
    last = newest = -1
    for row_step, column_step in zip(found.row_steps, found.column_steps, strict=True):
        if row_step == column_step == _NONE:
            places.append(None)
            continue
        if row_step == _NEXT:
            newest = last = newest + 1
        elif row_step >= _KNOWN:
            last = row_step - _KNOWN
        row = found.rows[last] if row_step else ""
        column = found.columns[column_step - 1] if column_step else ""
        places.append(_labels_of((row, column)) if row or column else None)
    return places
