"""Selectors of the lines of a text or a CSV table: by the beginning of a line, else by its number."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from actors.content.bodies.text import normalise
from actors.content.messages.readings import selector_kind
from actors.content.pages import selectors
from actors.content.pages.blocks import MOST_BLOCKS, Blocks
from actors.content.pages.earlier import Paragraph
from actors.content.pages.paths import Stand, chosen_by, heading_of, stands_of, written
from actors.content.pages.plain import TableCell, cells_of
from actors.content.pages.traits import HEADING
from actors.content.picking.in_documents import PastBlocks
from actors.picks import ReachName

_PREFIX: Final = re.compile(r"[^\d:=,;|\t]{2,40}[:=,;|\t]")
_DELIMITERS: Final = (";", "\t", ",", "|")
_LONGEST: Final = 600
_SPOKEN: Final = re.compile(r"[^\W\d_]{2}")


class LineReaches:
    """The selectors of one text: see `picker.Reaches`."""

    def __init__(self, text: str, blocks: Blocks, format: str = "text") -> None:
        self._lines = text.lstrip("\ufeff").splitlines()
        self.blocks = blocks
        self._spans = tuple(_spans(self._lines, blocks.texts))
        self._stands = stands_of(format, blocks)
        self._cells = _cells(text, blocks) if format == "csv" else []
        self._cell_stands = [Stand("", *map(normalise, cell.place)) for cell in self._cells]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return next(self.ways(at), "")

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        first, last = self._spans[at]
        if not first:
            return
        prefix = _PREFIX.match(self._lines[first - 1])
        if first == last and prefix and _SPOKEN.search(prefix[0]):
            selector = f"re:^{re.escape(prefix[0])}"
            if self.chosen(selector) == {at}:
                yield selector
        yield f"lines:{first}" if first == last else f"lines:{first}-{last}"

    def like(self, at: int, kind: str | None = None) -> str:
        return ""

    def part(self, at: int, kind: str | None = None) -> str:
        """Return the part below a heading if there is one, else the lines up to the next empty one."""
        text, trait = self.blocks.texts[at], self.blocks.traits[at]
        headed = heading_of(text) if trait & HEADING else self._stands[at].heading
        if headed and len(path := written(Stand(headed))) <= _LONGEST and len(self.chosen(path)) > 1:
            return path
        first, last = self._spans[at]
        if not first:
            return ""
        start, end = first, last
        while start > 1 and self._lines[start - 2].strip():
            start -= 1
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return f"lines:{start}-{end}" if (start, end) != (first, last) else ""

    def chosen(self, selector: str) -> frozenset[int]:
        if selector_kind(selector) == "path":
            if self._cells:  # in a table a path chooses cells: return the rows that have one of them
                return frozenset(self._cells[one].at for one in chosen_by(selector, self._cell_stands))
            return frozenset(chosen_by(selector, self._stands))
        test = selectors.line_test(selector)
        hit = frozenset(number for number, line in enumerate(self._lines, 1) if test(number, line) is not None)
        return frozenset(
            at for at, (first, last) in enumerate(self._spans) if first and hit.issuperset(range(first, last + 1))
        )

    def link(self, at: int) -> str | None:
        return None

    def cells(self, at: int) -> list[TableCell]:
        """Return the cells of a table's row; none for the heads or a text."""
        return [cell for cell in self._cells if cell.at == at]

    def cell(self, at: int, number: int) -> Mapping[ReachName, str]:
        """Return the paths of a cell: of itself, its column and its row; "" if there is none."""
        one = next((n for n, cell in enumerate(self._cells) if (cell.at, cell.number) == (at, number)), None)
        if one is None:
            return {}
        stand, row = self._cell_stands[one], self._cells[one].place.row or self._cells[one].text
        alike = chosen_by(written(stand), self._cell_stands) if any(stand) else list(range(len(self._cells)))
        column, whole = Stand(column=stand.column), Stand(row=normalise(row))
        return {
            "this": written(stand, alike.index(one) + 1 if len(alike) > 1 else 0),
            "like": written(column) if stand.column and len(chosen_by(written(column), self._cell_stands)) > 1 else "",
            "part": written(whole) if len(chosen_by(written(whole), self._cell_stands)) > 1 else "",
        }

    def earlier(self, names: Sequence[object]) -> PastLines:
        return PastLines(self._lines, self._spans, names, PastBlocks(names, self.blocks, self._stands))


class PastLines:
    """The lines of a text, which go back version by version: see `trying.Earlier`."""

    def __init__(
        self, lines: Sequence[str], spans: Sequence[tuple[int, int]], names: Sequence[object], blocks: PastBlocks
    ) -> None:
        self._blocks = blocks
        named = [(name, span) for name, span in zip(names, spans, strict=True) if span[0]]
        held = {number: name for name, (first, last) in named for number in range(first, last + 1)}
        self._lines = [(held.get(number), line) for number, line in enumerate(lines, 1)]

    def chosen(self, selector: str) -> frozenset[object]:
        if selector_kind(selector) == "path":
            return self._blocks.chosen(selector)
        test = selectors.line_test(selector)
        found: dict[object, bool] = {}
        for number, (name, line) in enumerate(self._lines, 1):
            found[name] = found.get(name, True) and test(number, line) is not None
        return frozenset(name for name, hit in found.items() if hit and name is not None)

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        now, then = ({paragraph.thread: paragraph.text for paragraph in side} for side in (after, before))
        lost = _lost(before, now)
        lines: list[tuple[object, str]] = [(each.thread, each.text) for each in lost.get(None, ())]
        for name, group in groupby(self._lines, key=itemgetter(0)):
            held = [line for _, line in group]
            if name in then and now.get(name) != then[name]:
                lines += [(name, said) for said in _like(then[name], held)]
            elif name not in now or name in then:
                lines += [(name, line) for line in held]
            if name is not None:
                lines += [(each.thread, said) for each in lost.get(name, ()) for said in _like(each.text, held[:1])]
        self._lines = lines
        self._blocks.back(after, before)


def _cells(text: str, blocks: Blocks) -> list[TableCell]:
    """Return the cells of a table whose rows are its blocks; none if a row is too long for one block."""
    cells = cells_of(text)[:MOST_BLOCKS]
    rows = dict(enumerate(blocks.texts))
    return cells if all(" ".join(one.text.split()) in rows.get(one.at, one.text) for one in cells) else []


def _lost(before: Sequence[Paragraph], now: Mapping[object, str]) -> dict[object, list[Paragraph]]:
    """Group the paragraphs that only the earlier version has by the block above them; None at the top."""
    lost: dict[object, list[Paragraph]] = {}
    above: object = None
    for paragraph in before:
        if paragraph.thread in now:
            above = paragraph.thread
        else:
            lost.setdefault(above, []).append(paragraph)
    return lost


def _like(text: str, lines: Sequence[str]) -> list[str]:
    """Format a text like these lines: same width, indentation and delimiter."""
    sign = next((one for one in _DELIMITERS if one in lines[0]), "")
    if sign and " | " in text and sign.strip() != "|":
        return [sign.join(text.split(" | "))]
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if len(lines) == 1:
        return [indent + text]
    return [indent + line for line in textwrap.wrap(text, max(map(len, lines)))]


def _spans(lines: list[str], texts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each block, from 1; (0, 0) if its lines are not found."""
    at = 0
    for text in texts:
        wanted = _letters(text)
        start = next((n for n in range(at, len(lines)) if _begins(wanted, lines[n])), None)
        if start is None:
            yield 0, 0
            continue
        end, said = start, _letters(lines[start])
        while len(said) < len(wanted) and end + 1 < len(lines):
            end += 1
            said += _letters(lines[end])
        at = end + 1
        yield (start + 1, end + 1) if said.startswith(wanted) else (0, 0)


def _begins(wanted: str, line: str) -> bool:
    letters = _letters(line)
    return bool(letters) and (wanted.startswith(letters) or letters.startswith(wanted))


def _letters(text: str) -> str:
    """Strip spaces and table delimiters from a text."""
    return re.sub(r"[\s\"',;|]+", "", text)
