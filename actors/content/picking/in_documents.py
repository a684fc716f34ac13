"""Paths of the blocks of a document (an office file, a PDF, a calendar), by the labels of their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from actors.content.messages.readings import selector_kind
from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks
from actors.content.pages.earlier import Paragraph
from actors.content.pages.paths import Stand, chosen_by, stands_of, written
from actors.content.pages.traits import HEADING, TOP
from storage.records.event import Context

_LONGEST: Final = 600
_BEGINS: Final = re.compile(r"[^\d:=|]{2,40}[:=|]|[^\d]{3,40}?(?=\s[^\w\s]?\d)")
"""The label of a text: the words before a sign, or before a figure."""
_SPOKEN: Final = re.compile(r"[^\W\d_]{2}")


class DocumentReaches:
    """The selectors of one document: see `picker.Reaches`."""

    def __init__(self, format: str, blocks: Blocks) -> None:
        self.blocks = blocks
        self._format = format
        self._stands = stands_of(format, blocks)

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return next(self.ways(at), "")

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        stand = self._labels(at)
        tried = [self._counted(stand, at) if stand.row or stand.column else "", own_words(self.blocks.texts[at])]
        tried += [self._counted(Stand(stand.heading), at), self._counted(Stand(), at)]
        for way in dict.fromkeys(filter(None, tried)):
            if len(way) <= _LONGEST and self.chosen(way) == {at}:
                yield way

    def like(self, at: int, kind: str | None = None) -> str:
        """Return the path of a block's column."""
        stand = self._labels(at)
        return self._several(Stand(stand.heading, "", stand.column)) if stand.column else ""

    def part(self, at: int, kind: str | None = None) -> str:
        """Return the path of a cell's row, of the part below a heading, or of a page."""
        stand = self._stands[at]
        if self.blocks.traits[at] & (HEADING | TOP):
            return self._several(Stand(self.blocks.texts[at]))
        if stand.row and stand.column:
            return self._several(Stand(stand.heading, stand.row))
        return self._several(Stand(stand.heading) if stand.heading else Stand(row=stand.row))

    def chosen(self, selector: str) -> frozenset[int]:
        return frozenset(_chosen(selector, self.blocks.texts, self._stands))

    def link(self, at: int) -> str | None:
        return None

    def earlier(self, names: Sequence[object]) -> PastBlocks:
        return PastBlocks(names, self.blocks, self._stands)

    def _labels(self, at: int) -> Stand:
        """Return a block's place, without the page number of a PDF: pages move."""
        stand = self._stands[at]
        return Stand(stand.heading) if self._format == "pdf" else stand

    def _counted(self, stand: Stand, at: int) -> str:
        """Return the path to a block, with its number if several have this place."""
        alike = chosen_by(written(stand), self._stands) if any(stand) else range(len(self._stands))
        return "" if at not in alike else written(stand, alike.index(at) + 1 if len(alike) > 1 else 0)

    def _several(self, stand: Stand) -> str:
        path = written(stand) if any(stand) else ""
        return path if path and len(path) <= _LONGEST and len(self.chosen(path)) > 1 else ""


class PastBlocks:
    """The blocks of a document, which go back version by version: see `trying.Earlier`."""

    def __init__(self, names: Sequence[object], blocks: Blocks, stands: Sequence[Stand]) -> None:
        self._blocks = list(map(_Named, names, blocks.texts, stands))

    def chosen(self, selector: str) -> frozenset[object]:
        texts, stands = [one.text for one in self._blocks], [one.stand for one in self._blocks]
        return frozenset(self._blocks[at].name for at in _chosen(selector, texts, stands))

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        known, now = {one.name: one for one in self._blocks}, {one.thread for one in after}
        others = [one for one in self._blocks if one.name not in now]
        was = {known[one.thread].text: one.text for one in before if one.thread in known}
        blocks = [
            _Named(one.thread, one.text, known[one.thread].stand if one.thread in known else _stand(one.context))
            for one in before
        ]
        self._blocks = [one._replace(stand=Stand(*(was.get(label, label) for label in one.stand))) for one in blocks]
        self._blocks += others


class _Named(NamedTuple):
    """A block by its name."""

    name: object
    text: str
    stand: Stand


def own_words(text: str) -> str:
    """Return a regular expression for a text's label, "" if it has none.

    >>> own_words("Version: 2.1"), own_words("Adults 14 €"), own_words("Open again")
    ('re:^Version:', 're:^Adults', '')
    """
    found = _BEGINS.match(text)
    if not found or len(found[0]) == len(text) or not _SPOKEN.search(found[0]):
        return ""
    return f"re:^{re.escape(found[0]).replace(chr(92) + ' ', ' ')}"


def _chosen(selector: str, texts: Sequence[str], stands: Sequence[Stand]) -> list[int]:
    if selector_kind(selector) == "path":
        return chosen_by(selector, stands)
    test = selectors.line_test(selector)
    return [at for at, text in enumerate(texts) if test(at + 1, text) is not None]


def _stand(context: Context) -> Stand:
    return Stand(context.heading, context.row, context.column)
