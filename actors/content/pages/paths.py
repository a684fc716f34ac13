"""Paths: they choose a document's blocks by place, in the words of a difference.

`path:Prices › Team · Fee` is the cell in row Team and column Fee, below the heading Prices. `>` and `|` replace the
signs on keyboards without them. A part may be `*` or missing, a label with such signs is quoted, and `#2` is the second
match. Labels do not move when rows or pages are inserted before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from actors.content.bodies.text import normalise
from actors.content.errors import ContentError
from actors.content.messages.readings import PATH
from actors.content.pages.blocks import Blocks
from actors.content.pages.traits import CELL, HEADING, ITEM, TOP

_TOKEN: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"(?=\s|$)|([›>·|])(?=\s|$)|#([1-9]\d{0,5})(?=\s*$)|(\S+))')
_ANY: Final = ("*", False)
_ORDERS: Final = ("", "›", "·", "›·")
_WHEN: Final = re.compile(r"(?:instead of |until )?\d{4}-\d\d-\d\d\b")
_TITLED: Final = ("calendar", "csv")
"""Formats whose blocks are rows of several values; the first value is the title."""
_SHOWN: Final = 200
_LONGEST_TITLE: Final = 80
_ENDED: Final = re.compile(r"[.,;:!?…]$")
_HOW: Final = "write it as a difference does: path:Heading › Row · Column, or path:Heading › #2"


class Stand(NamedTuple):
    """The place of a block; "" if unknown."""

    heading: str = ""
    row: str = ""
    column: str = ""


class Path(NamedTuple):
    """Conditions on a place; None allows anything. either: a row's or heading's label. nth: a match, or 0 for all."""

    heading: str | None = None
    row: str | None = None
    column: str | None = None
    either: str | None = None
    nth: int = 0

    def fits(self, stand: Stand) -> bool:
        """Whether a block at this place matches."""
        wanted = ((self.heading, stand.heading), (self.row, stand.row), (self.column, stand.column))
        if any(label is not None and label != _same(there) for label, there in wanted):
            return False
        return self.either is None or self.either in (_same(stand.heading), _same(stand.row))


@lru_cache(maxsize=256)
def path_of(selector: str) -> Path:
    """Parse a path. Raises ContentError."""
    words, signs, nth = [list[tuple[str, bool]]()], "", 0
    for token in _TOKEN.finditer(selector.strip().removeprefix(PATH)):
        quoted, sign, number, word = token.groups()
        if sign:
            signs += "›" if sign in "›>" else "·"
            words.append([])
        elif number:
            nth = int(number)
        else:
            words[-1].append((word, False) if quoted is None else (quoted.replace('""', '"'), True))
    labels = [None if said in ([], [_ANY]) else _same(" ".join(text for text, _ in said)) for said in words]
    says = f"{selector[:_SHOWN]!r} is not a path: {_HOW}."
    if signs not in _ORDERS:
        raise ContentError(says)
    if not signs:
        path = Path(either=labels[0], nth=nth)
    else:
        heading = labels.pop(0) if "›" in signs else None
        path = Path(heading, labels[0], labels[1] if "·" in signs else None, None, nth)
    if path == Path():
        raise ContentError(says)
    return path


def _same(label: str) -> str:
    return normalise(label).casefold().strip()


def written(stand: Stand, nth: int = 0) -> str:
    """Return the path to the blocks at a place.

    >>> written(Stand("Prices", "Team", "Fee")), written(Stand("Prices"), 2), written(Stand(row="a > b"))
    ('path:Prices › Team · Fee', 'path:Prices › #2', 'path:"a > b"')
    """
    heading = f"{_quoted(stand.heading)} ›" if stand.heading else ""
    column = f"{_quoted(stand.row) or '*'} · {_quoted(stand.column)}" if stand.column else _quoted(stand.row)
    return PATH + " ".join(filter(None, (heading, column, f"#{nth}" if nth else "")))


def _quoted(label: str) -> str:
    label = normalise(label).strip()
    if label == "*" or '"' in label or any(sign or number for _, sign, number, _ in _tokens(label)):
        return '"{}"'.format(label.replace('"', '""'))
    return label


def _tokens(label: str) -> list[tuple[str | None, ...]]:
    return [token.groups() for token in _TOKEN.finditer(label)]


def chosen_by(selector: str, stands: Sequence[Stand]) -> list[int]:
    """Return the indices of the blocks a path chooses. Raises ContentError."""
    path = path_of(selector)
    found = [at for at, stand in enumerate(stands) if path.fits(stand)]
    return found[path.nth - 1 : path.nth] if path.nth else found


def stands_of(format: str, blocks: Blocks) -> list[Stand]:
    return list(_stands(format, blocks))


def _stands(format: str, blocks: Blocks) -> Iterator[Stand]:
    heading = ""
    for at, (text, trait) in enumerate(zip(blocks.texts, blocks.traits, strict=True)):
        place = blocks.places[at] if blocks.places else None
        row, column = (place.row, place.column) if place else ("", "")
        if format in _TITLED and place is None:
            row = _title_of(text)
        if trait & (HEADING | TOP) or (format == "pdf" and _reads_like_heading(text, trait)):
            heading = heading_of(text) if format == "text" else text
            yield Stand("", row, column)
        else:
            yield Stand(heading, row, column)


def heading_of(text: str) -> str:
    """Return a heading without the signs of Markdown.

    >>> heading_of("## Fees ##"), heading_of("Fees")
    ('Fees', 'Fees')
    """
    return text.strip("# ") or text


def _title_of(entry: str) -> str:
    """Return the title of a row or calendar entry: its first part that is no time."""
    return next((part for part in entry.split(" | ") if not _WHEN.match(part)), "")


def _reads_like_heading(text: str, trait: int) -> bool:
    """Whether a PDF line reads like a heading, which PDFs do not mark: a few words, no figures."""
    if trait & (ITEM | CELL) or len(text) > _LONGEST_TITLE or _ENDED.search(text) or text[:1].islower():
        return False
    return any(sign.isalpha() for sign in text) and not any(sign.isdigit() for sign in text)
