"""The tree's rows: fetched pages of one order, the folds of its parts, and their drawing. Pure.

The order never changes on its own: rows are updated in place by path, and parts that changed state since are marked and
counted. `renew` requests a new order; the old rows stay until its first rows arrive.

Columns are narrow, then come the name and the last error. Without an error the name takes the rest of the line, so even
80 cells show which page a source is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sanderling.console.text import (
    FAINT,
    MARKS,
    POOR,
    STYLES,
    Line,
    Piece,
    age,
    bare,
    cells,
    fit,
    joined,
    middle,
    right,
    short,
    state_of,
    until,
)
from storage.records.states import PARTS

Row = Mapping[str, Any]
FOLDED, TROUBLED, OPEN = "▸", "!", "▾"
"""How many of a part's children are visible: none, the troubled, all."""
BRANCHES: Final = ("sources", "destinations")
"""The parts with dynamic children."""
_WIDER: Final = {FOLDED: TROUBLED, TROUBLED: OPEN, OPEN: OPEN}
_NARROWER: Final = {OPEN: TROUBLED, TROUBLED: FOLDED, FOLDED: FOLDED}
SIZE = 100
"""Rows per page."""
MOST = 40
"""Maximum pages; the least recently used are dropped."""
MOST_CHANGED = 10_000
_WHO_LEAST, _WHO_MOST = 28, 60
_NAME = "name"


class Context(NamedTuple):
    """Everything else needed to draw a row. rate: messages per minute, if known."""

    now: str
    rate: float | None = None
    changed: bool = False
    fold: str = ""
    last: bool = False
    tree: bool = False


class Column(NamedTuple):
    """sort: the service's name for this order. from_width: minimum screen width."""

    sort: str
    head: str
    width: int
    from_width: int
    draw: Callable[[Row, Context, int], Line]


def _state(row: Row, at: Context, width: int) -> Line:
    state = state_of(row)
    return [(fit(state.short, width), STYLES[state.mood])]


def _figure(text: Callable[[Row, Context], str]) -> Callable[[Row, Context, int], Line]:
    return lambda row, at, width: [(right(text(row, at), width), "")]


def _rate(row: Row, at: Context) -> str:
    if row.get("pace_s"):
        return f"/{short(row['pace_s'])}"
    return "-" if at.rate is None else f"{min(9999, at.rate):.0f}/m"


def _marks(row: Row, at: Context, width: int) -> Line:
    marks = str(row.get("marks", ""))[-width:]
    return [(" " * (width - len(marks)), ""), *((mark, MARKS.get(mark, "")) for mark in marks)]


COLUMNS = (
    Column("worst", "state", 5, 0, _state),
    Column("health", "hlth", 4, 0, _figure(lambda row, at: "" if row["health"] is None else f"{row['health']:.2f}")),
    Column("restarts", "rst", 3, 0, _figure(lambda row, at: str(min(999, row["restarts"])))),
    Column("next", "next", 4, 0, _figure(lambda row, at: until(row["next"], at.now))),
    Column("since", "age", 4, 100, _figure(lambda row, at: age(row["since"], at.now))),
    Column(
        "mailbox",
        "mbox",
        4,
        100,
        _figure(lambda row, at: "-" if row.get("mailbox") is None else f"{min(9999, row['mailbox'])}"),
    ),
    Column("rate", "rate", 6, 100, _figure(_rate)),
    Column("", "last checks", 12, 120, _marks),
)
SORTS = ("worst", _NAME, "error", *(column.sort for column in COLUMNS[1:] if column.sort), "path")
"""All sort orders, in the sequence of the key that cycles through them."""


def shown_at(width: int) -> Sequence[Column]:
    """Return the narrow columns for a screen width.

    >>> [column.head for column in shown_at(80)]
    ['state', 'hlth', 'rst', 'next']
    """
    found = [column for column in COLUMNS if width >= column.from_width]
    return [column._replace(width=20) if column.head == "last checks" and width >= 160 else column for column in found]


def _rest(width: int) -> int:
    return max(0, width - 1 - sum(column.width + 1 for column in shown_at(width)))


def _who_width(rest: int) -> int:
    return max(12, min(_WHO_MOST, max(_WHO_LEAST, rest // 2)))


def heading(width: int, sort: str = "") -> Line:
    """Return the heading; the sort column is in capitals."""

    def head(text: str, of: str) -> str:
        return text.upper() if of and of == sort else text

    words = " " + "".join(
        (fit if column.head in ("state", "last checks") else right)(head(column.head, column.sort), column.width) + " "
        for column in shown_at(width)
    )
    rest = _rest(width)
    words += fit(head("name", _NAME), _who_width(rest)) + " " + head("last error", "error")
    return [(fit(words, width), "bold")]


def called(row: Row) -> str:
    """Return a row's name: a title, else the URL without its scheme, else the path.

    >>> called({"path": "log", "name": ""}), called({"path": "sources/1", "name": "https://a.test/b", "title": ""})
    ('log', 'a.test/b')
    """
    return str(row.get("title") or bare(str(row["name"])) or row["path"])


def who(row: Row, at: Context, width: int) -> Line:
    """Return a row's name in so many cells, with tree lines; for a part also its child count."""
    lead = "to " if row["kind"] == "destination" else ""
    if at.tree:
        lead = f"{at.fold or ' '} " if "/" not in row["path"] else "└─ " if at.last else "├─ "
    below, left = row.get("below"), width - cells(lead)
    if below:
        says = f"{row['path']}  {below['total']:,}"
        worst = PARTS[below["worst"]]
        tail = f"  worst: {worst.short}" if below["total"] else ""
        return [
            (lead, ""),
            (fit(says, min(cells(says), left)), "bold"),
            (fit(tail, left - cells(says)), STYLES[worst.mood]),
        ]
    name, url = called(row), bare(str(row["name"]))
    if row.get("title") and cells(name) + 4 <= left and url != name:
        return [(lead, FAINT), (fit(name, cells(name)), ""), (middle(f"  {url}", left - cells(name)), FAINT)]
    return [(lead, FAINT), ((fit if row.get("title") else middle)(name, left), "")]


def line_of(row: Row | None, width: int, at: Context) -> Line:
    """Return a row as a line of exactly so many cells; None means not fetched yet."""
    if row is None:
        return [(fit(" …", width), FAINT)]
    line: list[Piece] = [("*", POOR) if at.changed else (" ", "")]
    for column in shown_at(width):
        line += [*column.draw(row, at, column.width), (" ", "")]
    rest = _rest(width)
    if not row["error"] or rest < _WHO_LEAST:
        return joined([*line, *who(row, at, rest)])
    width_of_who = _who_width(rest)
    return joined([*line, *who(row, at, width_of_who), (fit(f" {row['error']}", rest - width_of_who), "")])


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
        """Store a page; return whether it is the first of its order."""
        if edition != self.edition:
            return False
        first = self.stale
        if first:
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
        """Update rows from position `first` on; paths in `asked` without a row are gone."""
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
        """Remember that a part changed state since the order was made."""
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
        """Show more or less of a part; return whether that changed anything."""
        before = self.of(path)
        if before:
            self._shown[path] = (_WIDER if wider else _NARROWER)[before]
        return self.of(path) != before

    def turn_all(self) -> None:
        """Fold everything, or open everything if all is folded."""
        to = OPEN if all(shown == FOLDED for shown in self._shown.values()) else FOLDED
        self._shown = dict.fromkeys(self._shown, to)

    @property
    def query(self) -> Mapping[str, object]:
        return {
            "tree": True,
            "open": [path for path, shown in self._shown.items() if shown == OPEN],
            "troubled": [path for path, shown in self._shown.items() if shown == TROUBLED],
        }
