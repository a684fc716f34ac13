"""The tree that the readers build: plain HTML elements, which are read like a page's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from lxml import etree

from actors.content.bodies.markup import MOST_COLUMNS, NOT_XML, Element

ROOM: Final = 1 << 20  # characters of a file to read, as for a page
MOST_ROWS: Final = 10_000
MOST_ELEMENTS: Final = 20_000
_FIGURE: Final = re.compile(r"[\W\d_]*\d[\W\d_]*")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


class Writer:
    """Builds a tree from top to bottom. full: no space is left. partial: some of the file is missing."""

    def __init__(self) -> None:
        self.root = etree.Element("html")
        self.full = self.partial = False
        self._body = etree.SubElement(self.root, "body")
        self._room = ROOM
        self._elements = MOST_ELEMENTS

    def heading(self, text: str, level: int = 2) -> None:
        self._add(self._body, f"h{min(max(level, 1), 6)}", text)

    def paragraph(self, text: str) -> None:
        self._add(self._body, "p", text)

    def item(self, text: str) -> None:
        """Add an item to the list if the last element is one, else to a new list."""
        last = self._body[-1] if len(self._body) else None
        if text.strip():
            self._add(last if last is not None and last.tag == "ul" else etree.SubElement(self._body, "ul"), "li", text)

    def table(self, rows: Sequence[Sequence[str]], *, heads: int | None = None) -> None:
        """Add a table with `heads` header rows. None: guess, and make single-cell rows at the top paragraphs."""
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        if heads is None and max(map(_filled, rows), default=0) > 1:
            titles = list(takewhile(lambda row: _filled(row) == 1, rows))
            for row in titles:
                self.paragraph("".join(row))
            rows = rows[len(titles) :]
        heads = int(_reads_like_heads(rows)) if heads is None else heads
        table = etree.SubElement(self._body, "table")
        for number, row in enumerate(rows):
            if self.full:
                break
            self.partial |= len(row) > MOST_COLUMNS
            line = etree.SubElement(table, "tr")
            for cell in row[:MOST_COLUMNS]:
                self._add(line, "th" if number < heads else "td", cell, keep=True)

    def _add(self, parent: Element, tag: str, text: str, *, keep: bool = False) -> None:
        """Add an element; keep: even if it is empty."""
        text = NOT_XML.sub("", text)
        if not text.strip() and not keep:
            return
        self._elements -= 1
        self.full |= len(text) > self._room or self._elements <= 0
        self.partial |= self.full
        etree.SubElement(parent, tag).text = text[: max(self._room, 0)]
        self._room -= len(text)


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _reads_like_heads(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: words or years in at least two cells."""
    if len(rows) < 2:
        return False
    first = [cell.strip() for cell in rows[0] if cell.strip()]
    return len(first) > 1 and not any(_FIGURE.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in first)
