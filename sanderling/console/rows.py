"""The tree's rows as lines: narrow columns, then the name, then the last error. Pure.

Without an error the name takes the rest of the line, so even 80 cells show which page a source is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sanderling.console.text import Line, Piece, cells, fit, joined, middle, right
from sanderling.console.words import FAINT, MARKS, POOR, STYLES, apart, bare, short, state_of, until
from storage.records.states import PARTS

Row = Mapping[str, Any]
FOLDED, TROUBLED, OPEN = "▸", "!", "▾"
"""How many of a part's children are visible: none, the troubled, all."""
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


def _health(row: Row, at: Context) -> str:
    return "" if row["health"] is None else f"{row['health']:.2f}"


def _age(row: Row, at: Context) -> str:
    return short(apart(row["since"], at.now)) if at.now else ""


def _mailbox(row: Row, at: Context) -> str:
    waiting = row.get("mailbox")
    return "-" if waiting is None else f"{min(9999, waiting)}"


def _rate(row: Row, at: Context) -> str:
    if row.get("pace_s"):
        return f"/{short(row['pace_s'])}"
    return "-" if at.rate is None else f"{min(9999, at.rate):.0f}/m"


def _marks(row: Row, at: Context, width: int) -> Line:
    marks = str(row.get("marks", ""))[-width:]
    return [(" " * (width - len(marks)), ""), *((mark, MARKS.get(mark, "")) for mark in marks)]


COLUMNS = (
    Column("worst", "state", 5, 0, _state),
    Column("health", "hlth", 4, 0, _figure(_health)),
    Column("restarts", "rst", 3, 0, _figure(lambda row, at: str(min(999, row["restarts"])))),
    Column("next", "next", 4, 0, _figure(lambda row, at: until(row["next"], at.now))),
    Column("since", "age", 4, 100, _figure(_age)),
    Column("mailbox", "mbox", 4, 100, _figure(_mailbox)),
    Column("rate", "rate", 6, 100, _figure(_rate)),
    Column("", "last looks", 12, 120, _marks),
)
SORTS = ("worst", _NAME, "error", *(column.sort for column in COLUMNS[1:] if column.sort), "path")
"""All sort orders, in the sequence of the key that cycles through them."""


def shown_at(width: int) -> Sequence[Column]:
    """Return the narrow columns for a screen width.

    >>> [column.head for column in shown_at(80)]
    ['state', 'hlth', 'rst', 'next']
    """
    found = [column for column in COLUMNS if width >= column.from_width]
    return [column._replace(width=20) if column.head == "last looks" and width >= 160 else column for column in found]


def _rest(width: int) -> int:
    return max(0, width - 1 - sum(column.width + 1 for column in shown_at(width)))


def _who_width(rest: int) -> int:
    return max(12, min(_WHO_MOST, max(_WHO_LEAST, rest // 2)))


def heading(width: int, sort: str = "") -> Line:
    """Return the heading; the sort column is in capitals."""

    def head(text: str, of: str) -> str:
        return text.upper() if of and of == sort else text

    words = " " + "".join(
        (fit if column.head in ("state", "last looks") else right)(head(column.head, column.sort), column.width) + " "
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
    lead = _lead(row, at)
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


def _lead(row: Row, at: Context) -> str:
    if at.tree:
        return f"{at.fold or ' '} " if "/" not in row["path"] else "└─ " if at.last else "├─ "
    return "to " if row["kind"] == "destination" else ""


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
