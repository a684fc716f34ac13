"""The tree's rows: fetched pages of one order, the folds of its parts, and their drawing. Pure.

The order never changes on its own: rows are updated in place by path, and parts that changed state since are marked and
counted. `renew` requests a new order; the old rows stay until its first rows arrive.

Columns are narrow, then come the name and the last error. Without an error the name takes the rest of the line, so even
80 cells show which page a source is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sanderling.console import text as ui
from storage.records.source import PARTS

Row = Mapping[str, Any]
FOLDED, TROUBLED, OPEN = "▸", "!", "▾"  # how many of a part's children are visible: none, the troubled, all
BRANCHES: Final = ("sources", "destinations")
_WIDER: Final = {FOLDED: TROUBLED, TROUBLED: OPEN, OPEN: OPEN}
_NARROWER: Final = {OPEN: TROUBLED, TROUBLED: FOLDED, FOLDED: FOLDED}
SIZE = 100  # rows per page
MOST = 40  # maximum pages; the least recently used are dropped
MOST_CHANGED = 10_000
_WHO_LEAST, _WHO_MOST = 28, 60
_NAME = "name"


class Context(NamedTuple):
    """Everything else needed to draw a row."""

    now: str
    changed: bool = False
    fold: str = ""
    last: bool = False
    tree: bool = False


def _count(number: int | None) -> str:
    return "-" if number is None else str(min(9999, number))


def _marks(row: Row, width: int) -> list[ui.Piece]:
    marks = str(row.get("marks", ""))[-width:]
    return [(" " * (width - len(marks)), ""), *((mark, ui.MARKS.get(mark, "")) for mark in marks)]


COLUMNS = (
    ui.Column("state", 5, lambda row, _: ui.piece(ui.state_of(row)), sort="worst"),
    ui.Column("hlth", 4, lambda r, _: "" if r["health"] is None else f"{r['health']:.2f}", right=True, sort="health"),
    ui.Column("rst", 3, lambda row, _: str(min(999, row["restarts"])), right=True, sort="restarts"),
    ui.Column("next", 4, lambda row, at: ui.until(row["next"], at.now), right=True, sort="next"),
    ui.Column("age", 4, lambda row, at: ui.age(row["since"], at.now), right=True, sort="since", from_width=100),
    ui.Column("queue", 5, lambda row, _: _count(row.get("mailbox")), right=True, sort="mailbox", from_width=100),
    ui.Column(
        "every", 5, lambda r, _: ui.short(s) if (s := r.get("pace_s")) else "-", right=True, sort="rate", from_width=100
    ),
    ui.Column("last checks", 12, lambda row, _: _marks(row, 12), from_width=120),
    ui.Column("last checks", 20, lambda row, _: _marks(row, 20), from_width=160),
)
SORTS = ("worst", _NAME, "error", *(column.sort for column in COLUMNS[1:] if column.sort), "path")
"""All sort orders, in the sequence of the key that cycles through them."""


def shown_at(width: int) -> Sequence[ui.Column]:
    """Return the narrow columns for a screen width.

    >>> [column.head for column in shown_at(80)]
    ['state', 'hlth', 'rst', 'next']
    """
    return list({column.head: column for column in COLUMNS if width >= column.from_width}.values())


def table_at(width: int, sort: str = "") -> ui.Table:
    """Return the columns for a screen width; the sort column's heading is in capitals."""
    narrow = [column._replace(head=_capital(column.head, column.sort == sort != "")) for column in shown_at(width)]
    rest = max(0, width - 1 - sum(column.width + 1 for column in narrow))
    head = f"{ui.fit(_capital('name', sort == _NAME), _who_width(rest))} {_capital('last error', sort == 'error')}"
    return ui.Table(*narrow, ui.Column(head, 0, lambda row, at: _name_and_error(row, at, rest)))


def _capital(head: str, is_sorted: bool) -> str:
    return head.upper() if is_sorted else head


def _who_width(rest: int) -> int:
    return max(12, min(_WHO_MOST, max(_WHO_LEAST, rest // 2)))


def called(row: Row) -> str:
    """Return a row's name: a title, else the URL without its scheme, else the path.

    >>> called({"path": "log", "name": ""}), called({"path": "sources/1", "name": "https://a.test/b", "title": ""})
    ('log', 'a.test/b')
    """
    return str(row.get("title") or ui.bare(str(row["name"])) or row["path"])


def who(row: Row, at: Context, width: int) -> list[ui.Piece]:
    """Return a row's name in so many cells, with tree lines; for a part also its child count."""
    lead = "to " if row["kind"] == "destination" else ""
    if at.tree:
        lead = f"{at.fold or ' '} " if "/" not in row["path"] else "└─ " if at.last else "├─ "
    below, left = row.get("below"), width - ui.cells(lead)
    if below:
        says = f"{row['path']}  {below['total']:,}"
        worst = PARTS[below["worst"]]
        tail = f"  worst: {worst.short}" if below["total"] else ""
        known, rest = ui.fit(says, min(ui.cells(says), left)), ui.fit(tail, left - ui.cells(says))
        return [(lead, ""), (known, "bold"), (rest, ui.STYLES[worst.mood])]
    name, url = called(row), ui.bare(str(row["name"]))
    if row.get("title") and ui.cells(name) + 4 <= left and url != name:
        rest = ui.middle(f"  {url}", left - ui.cells(name))
        return [(lead, ui.FAINT), (ui.fit(name, ui.cells(name)), ""), (rest, ui.FAINT)]
    return [(lead, ui.FAINT), ((ui.fit if row.get("title") else ui.middle)(name, left), "")]


def _name_and_error(row: Row, at: Context, width: int) -> list[ui.Piece]:
    if not row["error"] or width < _WHO_LEAST:
        return who(row, at, width)
    left = _who_width(width)
    return [*who(row, at, left), (ui.fit(f" {row['error']}", width - left), "")]


def line_of(row: Row | None, width: int, at: Context) -> ui.Line:
    """Return a row as a line of exactly so many cells; None means not fetched yet."""
    if row is None:
        return [(ui.fit(" …", width), ui.FAINT)]
    return table_at(width).line(row, width, at, ("*", ui.POOR) if at.changed else (" ", ""))


class RowCache:
    """edition: counts orders, so that responses for older ones are dropped."""

    def __init__(self) -> None:
        self.edition = 0
        self.total = 0
        self.changed: set[str] = set()
        self._shown = -1
        self._pages: OrderedDict[int, list[Row]] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def stale(self) -> bool:
        return self._shown != self.edition

    def renew(self) -> None:
        self.edition += 1
        self._asked.clear()

    def row(self, position: int) -> Row | None:
        page = self._pages.get(position // SIZE)
        place = position % SIZE
        return page[place] if page is not None and place < len(page) else None

    def missing(self, first: int, last: int) -> list[int]:
        """Return the pages to fetch for these positions, and mark them as requested."""
        wanted = range(first // SIZE, max(first, last) // SIZE + 1)
        if self.stale:
            found = [page for page in wanted if page not in self._asked]
        else:
            found = [page for page in wanted if page not in self._pages and page not in self._asked]
            for page in wanted:
                if page in self._pages:
                    self._pages.move_to_end(page)
        self._asked.update(found)
        return found

    def unasked(self, page: int) -> None:
        self._asked.discard(page)

    def put(self, edition: int, page: int, rows: Sequence[Row], total: int) -> bool:
        if edition != self.edition:
            return False
        if first := self.stale:
            self._pages.clear()
            self.changed.clear()
            self._shown = edition
        self._asked.discard(page)
        self._pages[page] = list(rows)
        self._pages.move_to_end(page)
        self.total = total
        while len(self._pages) > MOST:
            self._pages.popitem(last=False)
        return first

    def paths(self, first: int, last: int) -> list[str]:
        found = (self.row(position) for position in range(first, last + 1))
        return [str(row["path"]) for row in found if row is not None]

    def update(self, first: int, asked: Sequence[str], rows: Sequence[Row]) -> None:
        """Update rows from `first` on; paths in `asked` without a row are gone."""
        fresh = {row["path"]: row for row in rows}
        wanted = set(asked)
        for position in range(first, first + 2 * len(asked) + 1):
            row = self.row(position)
            if row is None or row["path"] not in wanted:
                continue
            now = fresh.get(row["path"]) or {**row, "state": "gone"}
            if (now["state"], now["flag"]) != (row["state"], row["flag"]):
                self.mark(str(row["path"]))
            self._pages[position // SIZE][position % SIZE] = now

    def mark(self, path: str) -> None:
        if len(self.changed) < MOST_CHANGED:
            self.changed.add(path)

    def find(self, path: str) -> int | None:
        for page, rows in self._pages.items():
            for place, row in enumerate(rows):
                if row["path"] == path:
                    return page * SIZE + place
        return None


class Fold:
    """How much each part shows: nothing, the troubled (initially), or all."""

    def __init__(self) -> None:
        self._shown = dict.fromkeys(BRANCHES, TROUBLED)

    def of(self, path: str) -> str:
        """Return a part's fold sign; "" for a part without children."""
        return self._shown.get(path, "")

    def turn(self, path: str, *, wider: bool) -> bool:
        if before := self.of(path):
            self._shown[path] = (_WIDER if wider else _NARROWER)[before]
        return self.of(path) != before

    @property
    def query(self) -> Mapping[str, object]:
        return {
            "tree": True,
            "open": [path for path, shown in self._shown.items() if shown == OPEN],
            "troubled": [path for path, shown in self._shown.items() if shown == TROUBLED],
        }
