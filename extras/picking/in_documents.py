"""Selectors in documents without HTML: paths of office files, JSONPaths, lines of text and CSV, XPaths."""

from __future__ import annotations

import copy
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from actors.content.bodies.markup import Element
from actors.content.bodies.text import normalise
from actors.content.messages.readings import selector_kind
from actors.content.pages import selectors
from actors.content.pages.blocks import MOST_BLOCKS, Blocks
from actors.content.pages.plain import TableCell, cells_of
from actors.content.pages.selectors import BlockPlace, chosen_by, heading_of, stands_of, written
from actors.content.pages.traits import HEADING, TOP
from actors.content.wording import json_text
from actors.content.wording.json_text import Location
from actors.versions import Paragraph
from extras.picking.reaching import Reaches
from extras.picking.records import ReachName
from storage.records.event import Context

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

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        stand = self._labels(at)
        tried = [self._counted(stand, at) if stand.row or stand.column else "", own_words(self.blocks.texts[at])]
        tried += [self._counted(BlockPlace(stand.heading), at), self._counted(BlockPlace(), at)]
        for way in dict.fromkeys(filter(None, tried)):
            if len(way) <= _LONGEST and self.chosen(way) == {at}:
                yield way

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

    def earlier(self, names: Sequence[object]) -> PastBlocks:
        return PastBlocks(names, self.blocks, self._stands)

    def _labels(self, at: int) -> BlockPlace:
        """Return a block's place, without the page number of a PDF: pages move."""
        stand = self._stands[at]
        return BlockPlace(stand.heading) if self._format == "pdf" else stand

    def _counted(self, stand: BlockPlace, at: int) -> str:
        """Return the path to a block, with its number if several have this place."""
        alike = chosen_by(written(stand), self._stands) if any(stand) else range(len(self._stands))
        return "" if at not in alike else written(stand, alike.index(at) + 1 if len(alike) > 1 else 0)

    def _several(self, stand: BlockPlace) -> str:
        path = written(stand) if any(stand) else ""
        return path if path and len(path) <= _LONGEST and len(self.chosen(path)) > 1 else ""


class PastBlocks:
    """The blocks of a document, which go back version by version: see `reaching.Earlier`."""

    def __init__(self, names: Sequence[object], blocks: Blocks, stands: Sequence[BlockPlace]) -> None:
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
        self._blocks = [
            one._replace(stand=BlockPlace(*(was.get(label, label) for label in one.stand))) for one in blocks
        ]
        self._blocks += others


class _Named(NamedTuple):
    """A block by its name."""

    name: object
    text: str
    stand: BlockPlace


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


def _stand(context: Context) -> BlockPlace:
    return BlockPlace(context.heading, context.row, context.column)


_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][\w]*", re.A)


class JsonReaches(Reaches):
    """The paths of one document."""

    def __init__(self, value: Any, blocks: Blocks) -> None:
        self._value, self.blocks = value, blocks
        self._places = [line.at for line in json_text.lines(value) for _ in _pieces(line.text)][: len(blocks.texts)]

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        for path in dict.fromkeys((self._path(self._places[at]), self._path(self._places[at], named=False))):
            if len(path) <= _LONGEST:
                yield path

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

    def earlier(self, names: Sequence[object]) -> PastJson:
        return PastJson(self._value, self._places, names)

    def _path(self, place: Location, every: int | None = None, *, named: bool = True) -> str:
        """Return the path to a place. every: the depth where all items match. named: items by their names."""
        value, path = self._value, "$"
        for depth, step in enumerate(place):
            here = _member(step) if isinstance(step, str) else _item(value, step) if named else f"[{step}]"
            path += "[*]" if depth == every else here
            value = value[step]
        return path


class PastJson:
    """A JSON value that goes back version by version: see `reaching.Earlier`."""

    def __init__(self, value: Any, places: Sequence[Location], names: Sequence[object]) -> None:
        self._value = copy.deepcopy(value)
        self._places = dict(zip(names, places, strict=True))

    def chosen(self, selector: str) -> frozenset[object]:
        found = frozenset(selectors.find_in_json(self._value, selector))
        return frozenset(
            name
            for name, place in self._places.items()
            if any(place[:depth] in found for depth in range(len(place) + 1))
        )

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        now, then = ({paragraph.thread: paragraph.text for paragraph in side} for side in (after, before))
        for name, text in then.items():
            if name in self._places and now.get(name, text) != text:
                self._say(self._places[name], text)
        for name in now.keys() - then.keys():
            if place := self._places.pop(name, None):
                self._take_out(place)
        above: Location = ()
        for paragraph in before:
            if paragraph.thread not in now:
                self._put_in(paragraph, above)
            above = self._places.get(paragraph.thread, above)

    def _say(self, place: Location, text: str) -> None:
        key, value = _said(text)
        if place and value is not json_text.NO_VALUE and (key is None or key == place[-1]):
            json_text.at(self._value, place[:-1])[place[-1]] = value

    def _take_out(self, place: Location) -> None:
        """Delete a place, and all containers that become empty."""
        while place:
            held = json_text.at(self._value, place[:-1])
            del held[place[-1]]
            if isinstance(held, list):
                self._move(place, -1)
            if held:
                return
            place = place[:-1]

    def _put_in(self, paragraph: Paragraph, above: Location) -> None:
        """Insert a line after the one above it; an existing member starts a new item."""
        key, value = _said(paragraph.text)
        depth = len(above) - 1
        while depth >= 0 and (isinstance(above[depth], int) is (key is not None)):
            depth -= 1
        if value is json_text.NO_VALUE or depth < 0:
            return
        held, item = json_text.at(self._value, above[:depth]), above[:depth]
        if key is None:
            place = (*item, int(above[depth]) + 1)
        elif key not in held:
            held[key] = value
            self._places[paragraph.thread] = (*item, key)
            return
        elif item and isinstance(item[-1], int):
            held, place, value = json_text.at(self._value, item[:-1]), (*item[:-1], item[-1] + 1), {key: value}
        else:
            return
        self._move(place, 1)
        held.insert(place[-1], value)
        self._places[paragraph.thread] = place if key is None else (*place, key)

    def _move(self, place: Location, by: int) -> None:
        """Renumber the items of a list from a place on, after one was added or removed there."""
        above, first = place[:-1], place[-1]
        for name, other in self._places.items():
            item = other[len(above)] if other[: len(above)] == above and len(other) > len(above) else None
            if isinstance(item, int) and isinstance(first, int) and item >= first:
                self._places[name] = (*above, item + by, *other[len(above) + 1 :])


def _said(line: str) -> tuple[str | None, Any]:
    """Return a line's member name (None for an item) and its value; NO_VALUE if it cannot be parsed."""
    key, rest = json_text.named(line)
    return key, json_text.loaded(rest)


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
_DELIMITERS: Final = (";", "\t", ",", "|")


class LineReaches(Reaches):
    """The selectors of one text."""

    def __init__(self, text: str, blocks: Blocks, format: str = "text") -> None:
        self._lines = text.lstrip("\ufeff").splitlines()
        self.blocks = blocks
        self._spans = tuple(_spans(self._lines, blocks.texts))
        self._stands = stands_of(format, blocks)
        self._cells = _cells(text, blocks) if format == "csv" else []
        self._cell_stands = [BlockPlace("", *map(normalise, cell.place)) for cell in self._cells]

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
        """Return the cells of a table's row; none for the heads or a text."""
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

    def earlier(self, names: Sequence[object]) -> PastLines:
        return PastLines(self._lines, self._spans, names, PastBlocks(names, self.blocks, self._stands))


class PastLines:
    """The lines of a text, which go back version by version: see `reaching.Earlier`."""

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


_XML_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.A)
_DISTINCTIVE: Final = ("id", "name", "key", "code", "slug", "sku", "title", "label", "url", "link", "loc", "guid")
"""Attributes and child elements that are tried first; after them, any attribute."""
_QUOTABLE: Final = re.compile(r"[^\"\x00-\x1f]{1,100}")


class XmlReaches(Reaches):
    """The selectors of one document. holders: the element of each block, of which a line says too little to go back."""

    def __init__(self, root: Element, blocks: Blocks, holders: Sequence[Element]) -> None:
        self._root, self.blocks, self._holders = root, blocks, holders[: len(blocks.texts)]

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        for named in (True, False):
            if path := self._path(self._holders[at], named=named):
                yield path

    def like(self, at: int, kind: str | None = None) -> str:
        path = self._path(self._holders[at], every=True)
        return path if path and len(self.chosen(path)) > 1 else ""

    def part(self, at: int, kind: str | None = None) -> str:
        above = self._holders[at].getparent()
        path = self._path(above) if above is not None and above is not self._root else ""
        return path if path and len(self.chosen(path)) > 1 else ""

    def chosen(self, selector: str) -> frozenset[int]:
        found = {one for one in selectors.matches(self._root, selector) if not isinstance(one, str)}
        inside = {each for one in found for each in one.iter()}
        return frozenset(at for at, holder in enumerate(self._holders) if holder in inside)

    def _path(self, element: Element, *, every: bool = False, named: bool = True) -> str:
        """Return the path to an element, "" for none. every: to all with its name, at the first level that repeats."""
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
