"""Terminal lines and tables: styled pieces of text, cut and padded in Textual's cell widths; states, times and sizes in
a few letters. Colour never carries meaning alone. Pure.

All foreign text passes `safe` first: control characters become escapes, and zero-width characters are removed because
terminals disagree on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from textual.content import Content

from sanderling.client.lines import apart
from storage.records.secrecy import plain
from storage.records.states import LOOKS, PARTS, Mood, State

Piece = tuple[str, str]
"""Text and style."""
Line = Sequence[Piece]
_FAR = 4
"""Characters examined per available cell, so that most of a hostile megabyte is never touched."""
_PLAIN = re.compile("[ -~…─├└▸▾]*")
"""Characters of exactly one cell; most lines contain no others."""
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    r"""Return text as one harmless line.

    >>> safe('a\x1b[31m b\u200d\n')
    'a\\x1b[31m b\\n'
    """
    return _INVISIBLE.sub("", plain(text))


def cells(text: str) -> int:
    """Return the width of a text in cells.

    >>> cells('abc'), cells('日本')
    (3, 4)
    """
    return len(text) if _PLAIN.fullmatch(text) else Content(text).cell_length


def fit(text: str, width: int) -> str:
    """Make text safe, and cut or pad it to exactly so many cells.

    >>> fit('a long title', 8), fit('日本語', 5), fit('ab', 4), fit('ab', 0)
    ('a long …', '日本…', 'ab  ', '')
    """
    if width <= 0:
        return ""
    text = safe(text[: _FAR * width])
    if _PLAIN.fullmatch(text):
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
    return Content(text).truncate(width, ellipsis=True, pad=True).plain


def middle(text: str, width: int) -> str:
    """Like `fit`, but cut in the middle: both ends of a URL matter.

    >>> middle('shop.test/a/long/way/prices', 16), middle('log', 5)
    ('shop.te…y/prices', 'log  ')
    """
    whole = safe(text[: _FAR * width] if len(text) < _FAR * width else text[: 2 * width] + text[-2 * width :])
    if width <= 2 or cells(whole) <= width:
        return fit(whole, width)
    left = (width - 1) // 2
    end = whole[-(width - 1 - left) :]
    while cells(end) > width - 1 - left:
        end = end[1:]
    return fit(fit(whole, left + 1).rstrip("… ") + "…" + end, width)


def right(text: str, width: int) -> str:
    """Align trusted text to the right.

    >>> right('9m', 4)
    '  9m'
    """
    return text.rjust(width)[:width] if width > 0 else ""


def between(left: str, told: str, width: int) -> str:
    """Put one text at each end of a line; the left one is cut if needed.

    >>> between('path', '1/9', 12)
    'path     1/9'
    """
    told = safe(told)
    room = width - cells(told)
    return fit(left, room) + told if room > 0 else fit(told, width)


def joined(line: Line) -> Line:
    """Merge neighbouring pieces of the same style: each piece costs drawing time.

    >>> joined([("a", ""), ("b", ""), ("", "dim"), ("c", "dim")])
    [('ab', ''), ('c', 'dim')]
    """
    found: list[Piece] = []
    for text, style in line:
        if found and found[-1][1] == style:
            found[-1] = (found[-1][0] + text, style)
        elif text:
            found.append((text, style))
    return found


def as_content(lines: Sequence[Line]) -> Content:
    pieces: list[Piece] = []
    for number, line in enumerate(lines):
        if number:
            pieces.append(("\n", ""))
        pieces.extend(line)
    return Content.assemble(*pieces)


def line_of(text: str, width: int, style: str = "") -> Line:
    return [(fit(f" {text}", width), style)]


class Column(NamedTuple):
    """cell: draws a row at the service's time (or in another context), as text, as text with a style, or as pieces of
    the column's width. width: 0 is the rest of the line. sort: the service's name for this order. from_width: minimum
    width of the screen.
    """

    head: str
    width: int
    cell: Callable[[Any, Any], str | Piece | list[Piece]]
    right: bool = False
    sort: str = ""
    from_width: int = 0


class Table:
    """Columns, a cell apart, the last one as wide as the line allows."""

    def __init__(self, *columns: Column) -> None:
        self._columns = columns

    def heading(self, width: int) -> Line:
        heads = ((right if column.right else fit)(column.head, column.width) for column in self._columns[:-1])
        return line_of(f"{' '.join(heads)} {self._columns[-1].head}", width, "bold")

    def line(self, row: Any, width: int, now: Any, mark: Piece = (" ", "")) -> Line:
        """Return a row as a line of exactly so many cells. mark: its first cell."""
        line: list[Piece] = [mark]
        left = width - 1
        for column in self._columns:
            found, wide = column.cell(row, now), column.width or left
            if isinstance(found, list):
                line += found
            else:
                text, style = (found, "") if isinstance(found, str) else found
                line.append(((right if column.right else fit)(text, wide), style))
            line.append((" " if column.width else "", ""))
            left -= wide + 1
        return joined(line)


GOOD, POOR, BAD, CALM, FAINT = "ansi_green", "ansi_yellow", "ansi_red", "ansi_cyan", "dim"
STYLES: dict[Mood, str] = {"good": GOOD, "calm": CALM, "warn": POOR, "bad": BAD}
GONE = State("gone", "gone", "calm", "It is not there any more.")
"""For a fetched row that has since disappeared."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))
MARKS = {state.short: "" if state.mood == "calm" else STYLES[state.mood] for state in LOOKS.values()}
"""Styles of check marks in a row; routine ones are plain."""
VERDICTS = {verdict.name.lower(): state for verdict, state in LOOKS.items()}
"""Outcomes of checks by their API names."""


def state_of(row: Mapping[str, Any]) -> State:
    return PARTS.get(row["state"], GONE)


def piece(state: State) -> Piece:
    return state.short, STYLES[state.mood]


def short(seconds: float) -> str:
    """Return a duration in at most four cells.

    >>> [short(s) for s in (-3, 0.4, 59, 61, 7200, 1e6, 9e8)]
    ['now', 'now', '59s', '1m', '2h', '11d', '9999']
    """
    if seconds < 1:
        return "now"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{min(999, int(seconds / size))}{unit}" if seconds < 1000 * 86_400 else "9999"
    return f"{int(seconds)}s"


def until(moment: str | None, now: str) -> str:
    return "-" if moment is None or not now else short(apart(now, moment))


def age(moment: str | None, now: str) -> str:
    return "-" if moment is None or not now else short(apart(moment, now))


def ago(moment: str | None, now: str) -> str:
    return "never" if moment is None else f"{short(apart(moment, now))} ago".replace("now ago", "just now")


def clock(moment: str, zone: tzinfo | None = None, form: str = "%H:%M:%S") -> str:
    """Return a moment (RFC 3339) as time of day, in local time by default.

    >>> from datetime import UTC
    >>> clock('2026-04-21T12:00:41.120Z', UTC), clock('soon')
    ('12:00:41', 'soon')
    """
    try:
        return datetime.fromisoformat(moment).astimezone(zone).strftime(form)
    except (ValueError, OverflowError):
        return moment


def day_and_clock(moment: str, zone: tzinfo | None = None) -> str:
    """Return a moment as date and time of day.

    >>> from datetime import UTC
    >>> day_and_clock('2026-04-21T12:00:41.120Z', UTC)
    '2026-04-21 12:00:41'
    """
    return clock(moment, zone, "%Y-%m-%d %H:%M:%S")


def bare(url: str) -> str:
    """Strip http:// or https://.

    >>> bare('https://shop.test/p'), bare('wss://feed.test')
    ('shop.test/p', 'wss://feed.test')
    """
    return url.removeprefix("https://").removeprefix("http://")


def named(path: str, letters: int = 3) -> str:
    """Shorten the id in a tree path to its end, the distinctive part.

    >>> named('sources/019db0a4-5c00-7000-8000-0000000003f2'), named('log')
    ('sources/…3f2', 'log')
    """
    kind, slash, id = path.partition("/")
    return f"{kind}/…{id[-letters:]}" if slash else kind
