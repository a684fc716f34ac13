"""Selectors in documents without HTML: paths of office files, JSONPaths, lines of text and CSV, XPaths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from actors.content.bodies.markup import Element
from actors.content.bodies.text import normalise
from actors.content.messages import selector_kind
from actors.content.pages import selectors
from actors.content.pages.blocks import MOST_BLOCKS, Blocks
from actors.content.pages.plain import TableCell, cells_of
from actors.content.pages.selectors import BlockPlace, chosen_by, heading_of, stands_of, written
from actors.content.pages.traits import HEADING, TOP
from actors.content.wording import json_text
from actors.content.wording.json_text import Location
from extras.picking.reaching import Reaches
from extras.picking.records import ReachName

_LONGEST: Final = 600
_BEGINS: Final = re.compile(r"[^\d:=|]{2,40}[:=|]|[^\d]{3,40}?(?=\s[^\w\s]?\d)")
"""The label of a text: the words before a sign, or before a figure."""
_SPOKEN: Final = re.compile(r"[^\W\d_]{2}")


class DocumentReaches(Reaches):
    """The selectors of one document."""

    def __init__(self, format: str, blocks: Blocks) -> None:
        self.blocks = blocks
        self._format = format
        self._stands = stands_of(format, blocks)

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        stand = self._labels(at)
        tried = [self._counted(stand, at) if stand.row or stand.column else "", own_words(self.blocks.texts[at])]
        tried += [self._counted(BlockPlace(stand.heading), at), self._counted(BlockPlace(), at)]
        return next((one for one in tried if one and len(one) <= _LONGEST and self.chosen(one) == {at}), "")

    def like(self, at: int, kind: str | None = None) -> str:
        """Return the path of a block's column."""
        stand = self._labels(at)
        return self._several(BlockPlace(stand.heading, "", stand.column)) if stand.column else ""

    def part(self, at: int, kind: str | None = None) -> str:
        """Return the path of a cell's row, of the part below a heading, or of a page."""
        stand = self._stands[at]
        if self.blocks.traits[at] & (HEADING | TOP):
            return self._several(BlockPlace(self.blocks.texts[at]))
        if stand.row and stand.column:
            return self._several(BlockPlace(stand.heading, stand.row))
        return self._several(BlockPlace(stand.heading) if stand.heading else BlockPlace(row=stand.row))

    def chosen(self, selector: str) -> frozenset[int]:
        return frozenset(_chosen(selector, self.blocks.texts, self._stands))

    def _labels(self, at: int) -> BlockPlace:
        """Return a block's place, without the page number of a PDF: pages move."""
        stand = self._stands[at]
        return BlockPlace(stand.heading) if self._format == "pdf" else stand

    def _counted(self, stand: BlockPlace, at: int) -> str:
        alike = chosen_by(written(stand), self._stands) if any(stand) else range(len(self._stands))
        return "" if at not in alike else written(stand, alike.index(at) + 1 if len(alike) > 1 else 0)

    def _several(self, stand: BlockPlace) -> str:
        path = written(stand) if any(stand) else ""
        return path if path and len(path) <= _LONGEST and len(self.chosen(path)) > 1 else ""


def own_words(text: str) -> str:
    """Return a regular expression for a text's label, "" if it has none.

    >>> own_words("Version: 2.1"), own_words("Adults 14 €"), own_words("Open again")
    ('re:^Version:', 're:^Adults', '')
    """
    found = _BEGINS.match(text)
    if not found or len(found[0]) == len(text) or not _SPOKEN.search(found[0]):
        return ""
    return f"re:^{re.escape(found[0]).replace(chr(92) + ' ', ' ')}"


def _chosen(selector: str, texts: Sequence[str], stands: Sequence[BlockPlace]) -> list[int]:
    if selector_kind(selector) == "path":
        return chosen_by(selector, stands)
    test = selectors.line_test(selector)
    return [at for at, text in enumerate(texts) if test(at + 1, text) is not None]


_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][\w]*", re.A)


class JsonReaches(Reaches):
    """The paths of one document."""

    def __init__(self, value: Any, blocks: Blocks) -> None:
        self._value, self.blocks = value, blocks
        self._places = [line.at for line in json_text.lines(value) for _ in _pieces(line.text)][: len(blocks.texts)]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        place = self._places[at]
        return _fitting(self._path(place)) or _fitting(self._path(place, named=False))

    def like(self, at: int, kind: str | None = None) -> str:
        place = self._places[at]
        lists = [depth for depth, step in enumerate(place) if isinstance(step, int)]
        if not lists:
            return ""
        path = _fitting(self._path(place, every=lists[-1]))
        return path if path and len(self.chosen(path)) > 1 else ""

    def part(self, at: int, kind: str | None = None) -> str:
        place = self._places[at]
        return _fitting(self._path(place[:-1])) if len(place) > 1 else ""

    def chosen(self, selector: str) -> frozenset[int]:
        found = frozenset(selectors.find_in_json(self._value, selector))
        ways = ((at, place[:depth]) for at, place in enumerate(self._places) for depth in range(len(place) + 1))
        return frozenset(at for at, way in ways if way in found)

    def _path(self, place: Location, every: int | None = None, *, named: bool = True) -> str:
        value, path = self._value, "$"
        for depth, step in enumerate(place):
            here = _member(step) if isinstance(step, str) else _item(value, step) if named else f"[{step}]"
            path += "[*]" if depth == every else here
            value = value[step]
        return path


def _member(name: str) -> str:
    return f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]"


def _item(items: Any, at: int) -> str:
    """Return the step to a list item: by the member that distinguishes the items, else by its number."""
    key = json_text.key_of(items)
    return f"[{at}]" if key is None else f"[?@{_member(key)}=={json.dumps(items[at][key], ensure_ascii=False)}]"


def _fitting(path: str) -> str:
    return path if len(path) <= _LONGEST else ""


def _pieces(text: str) -> range:
    """Return a number for each block of a line; a long line continues in the next block."""
    return range(max(1, -(-len(" ".join(text.split())) // json_text.LONGEST)))


_PREFIX: Final = re.compile(r"[^\d:=,;|\t]{2,40}[:=,;|\t]")


class LineReaches(Reaches):
    """The selectors of one text."""

    def __init__(self, text: str, blocks: Blocks, format: str = "text") -> None:
        self._lines = text.lstrip("\ufeff").splitlines()
        self.blocks = blocks
        self._spans = tuple(_spans(self._lines, blocks.texts))
        self._stands = stands_of(format, blocks)
        self._cells = _cells(text, blocks) if format == "csv" else []
        self._cell_stands = [BlockPlace("", *map(normalise, cell.place)) for cell in self._cells]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        first, last = self._spans[at]
        if not first:
            return ""
        prefix = _PREFIX.match(self._lines[first - 1])
        if first == last and prefix and _SPOKEN.search(prefix[0]):
            selector = f"re:^{re.escape(prefix[0])}"
            if self.chosen(selector) == {at}:
                return selector
        return f"lines:{first}" if first == last else f"lines:{first}-{last}"

    def part(self, at: int, kind: str | None = None) -> str:
        """Return the part below a heading if there is one, else the lines up to the next empty one."""
        text, trait = self.blocks.texts[at], self.blocks.traits[at]
        headed = heading_of(text) if trait & HEADING else self._stands[at].heading
        if headed and len(path := written(BlockPlace(headed))) <= _LONGEST and len(self.chosen(path)) > 1:
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

    def cells(self, at: int) -> list[TableCell]:
        return [cell for cell in self._cells if cell.at == at]

    def cell(self, at: int, number: int) -> Mapping[ReachName, str]:
        """Return the paths of a cell: of itself, its column and its row; "" if there is none."""
        one = next((n for n, cell in enumerate(self._cells) if (cell.at, cell.number) == (at, number)), None)
        if one is None:
            return {}
        stand, row = self._cell_stands[one], self._cells[one].place.row or self._cells[one].text
        alike = chosen_by(written(stand), self._cell_stands) if any(stand) else list(range(len(self._cells)))
        column, whole = BlockPlace(column=stand.column), BlockPlace(row=normalise(row))
        return {
            "this": written(stand, alike.index(one) + 1 if len(alike) > 1 else 0),
            "like": written(column) if stand.column and len(chosen_by(written(column), self._cell_stands)) > 1 else "",
            "part": written(whole) if len(chosen_by(written(whole), self._cell_stands)) > 1 else "",
        }


def _cells(text: str, blocks: Blocks) -> list[TableCell]:
    """Return the cells of a table whose rows are its blocks; none if a row is too long for one block."""
    cells = cells_of(text)[:MOST_BLOCKS]
    rows = dict(enumerate(blocks.texts))
    return cells if all(" ".join(cell.text.split()) in rows.get(cell.at, cell.text) for cell in cells) else []


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
    return re.sub(r"[\s\"',;|]+", "", text)


_XML_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.A)
_DISTINCTIVE: Final = ("id", "name", "key", "code", "slug", "sku", "title", "label", "url", "link", "loc", "guid")
"""Attributes and child elements that are tried first; after them, any attribute."""
_QUOTABLE: Final = re.compile(r"[^\"\x00-\x1f]{1,100}")


class XmlReaches(Reaches):
    """The selectors of one document. holders: the element of each block."""

    def __init__(self, root: Element, blocks: Blocks, holders: Sequence[Element]) -> None:
        self._root, self.blocks, self._holders = root, blocks, holders[: len(blocks.texts)]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return self._path(self._holders[at]) or self._path(self._holders[at], named=False)

    def like(self, at: int, kind: str | None = None) -> str:
        path = self._path(self._holders[at], every=True)
        return path if path and len(self.chosen(path)) > 1 else ""

    def part(self, at: int, kind: str | None = None) -> str:
        above = self._holders[at].getparent()
        path = self._path(above) if above is not None and above is not self._root else ""
        return path if path and len(self.chosen(path)) > 1 else ""

    def chosen(self, selector: str) -> frozenset[int]:
        found = {match for match in selectors.matches(self._root, selector) if not isinstance(match, str)}
        inside = {each for one in found for each in one.iter()}
        return frozenset(at for at, holder in enumerate(self._holders) if holder in inside)

    def _path(self, element: Element, *, every: bool = False, named: bool = True) -> str:
        steps = list[str]()
        while element is not None:
            above = element.getparent()
            if not _XML_NAME.fullmatch(element.tag):
                return ""
            beside = [] if above is None else [each for each in above.iterchildren(element.tag) if each is not element]
            if beside and not every:
                steps.append(f"{element.tag}[{_unique_predicate(element, beside, named=named)}]")
            else:
                steps.append(element.tag)
            every = every and not beside
            element = above
        path = "/" + "/".join(reversed(steps))
        return path if len(path) <= _LONGEST else ""


def _unique_predicate(element: Element, beside: Sequence[Element], *, named: bool) -> str:
    """Return a predicate that no sibling matches: an attribute, a child's text, or the element's number."""
    for name in dict.fromkeys((*_DISTINCTIVE, *map(str, element.keys()))) if named else ():
        value = element.get(name) or ""
        if _XML_NAME.fullmatch(name) and _QUOTABLE.fullmatch(value) and all(each.get(name) != value for each in beside):
            return f'@{name}="{value}"'
        said = _element_text(element, name)
        if _QUOTABLE.fullmatch(said) and all(_element_text(each, name) != said for each in beside):
            return f'normalize-space({name})="{said}"'
    return str(sum(1 for _ in element.itersiblings(element.tag, preceding=True)) + 1)


def _element_text(element: Element, name: str) -> str:
    if not _XML_NAME.fullmatch(name):
        return ""
    child = next(element.iterchildren(name), None)
    return "" if child is None else " ".join("".join(child.itertext()).split())
