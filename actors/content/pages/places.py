"""The place of a block in a table or definition list: its row's label and its column's head, as worded on the page.

Tables are read in HTML's layout: `colspan` and `rowspan` shift later cells, and a cell belongs to the innermost table.
Column heads are the cells of a `thead`, a `th` with `scope=col`, and rows of only `th`. Row labels are the `th` to the
left; in a row without any, its first cell if it reads like a label. The label of a `dd` is the `dt` before it. The work
is bounded: a cell costs at most `_MOST_COLUMNS` steps.

A row's label is nearly always that of the previous block or the next new one, and column heads repeat in every row, so
a table of a thousand cells needs some hundred bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec import Struct

from actors.content.bodies.text import normalise
from storage.records.event import MOST_CONTEXT

PLACING = frozenset({"table", "thead", "tr", "td", "th", "dl", "dt", "dd"})
"""Elements that `Tables` needs; all of them are breaks."""

MARKED = frozenset({"colspan", "rowspan", "scope", "role"})
"""Their attributes that `Tables` reads."""

_MOST_CELLS = 20_000
_MOST_COLUMNS = 64
_MOST_ROWS = 65_534
_MOST_LABELS = 3
_LONGEST_LABEL = 60
"""Characters of a cell without `th` that may be its row's label."""
BETWEEN = " / "
_LABEL = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]|\b(?:19|20)\d\d\b")
_LAYING = frozenset({"colspan", "rowspan", "scope"})
_COLUMN_SCOPES = frozenset({"col", "colgroup"})
_ROW_SCOPES = frozenset({"row", "rowgroup"})


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
        self.is_layout = is_layout
        self.in_thead = False
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
            cells[0].is_head and all(cell.is_head and cell.scope not in _ROW_SCOPES for cell in cells)
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


MOST_LABELS = 64 * 1024
"""Characters of labels to store; the blocks beyond them have no place."""
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
