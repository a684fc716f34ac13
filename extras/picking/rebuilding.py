"""The element of each block of a page, and earlier trees of the page, rebuilt from stored texts.

An earlier version has only texts, no markup. So the current tree changes step by step: an old text replaces its
successor, later blocks are removed with their empty containers, and deleted blocks are inserted next to their
neighbour, with its markup. Redesigns of names and order stay unknown.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from actors.content.bodies.markup import Element, is_probe
from actors.content.pages import selectors
from actors.content.pages.blocks import BLOCK, MOST_BLOCKS, Blocks, Note, blocks_of, folded, walk
from actors.content.pages.offers import offers_of, place_of_offers, with_offers
from actors.versions import Paragraph

Name = TypeVar("Name")


class TextNode(NamedTuple):
    """A text node of a tree: an element's first text, or its tail (`after`)."""

    element: Element
    after: bool

    @property
    def holder(self) -> Element:
        return self.element.getparent() if self.after else self.element


class BlockElement(NamedTuple):
    """A block in the tree: the lowest element around all of its texts, and the texts."""

    element: Element
    texts: tuple[TextNode, ...]


class StandingBlocks(Struct, frozen=True):
    """A page's blocks, and the place of each in the tree; None for those from machine-readable data.

    held: the number of blocks with texts in an element. whole: the number entirely in it, which may be less if texts
    continue after its end.
    """

    blocks: Blocks
    standing: tuple[BlockElement | None, ...]
    held: dict[Element, int]
    whole: dict[Element, int]

    def cuts(self, element: Element) -> bool:
        """Whether an element contains only a part of some block."""
        return self.held.get(element, 0) != self.whole.get(element, 0)


def standing_blocks(root: Element, text: str) -> StandingBlocks:
    """Return the blocks of a whole page as a check without selectors reads them. text: the page's."""
    notes: list[Note] = []
    walked = walk(root, notes=notes)
    blocks = blocks_of(walked)
    rows = [at for at, row in enumerate(walked.rows) if len(row) == BLOCK and type(row) is tuple]
    texts: dict[int, list[TextNode]] = {row: [] for row in rows}
    _deal(notes, rows, texts)
    shown = [row for row in rows if not is_probe(folded(walked.rows[row][0]))][: len(blocks.texts)]
    standing: list[BlockElement | None] = [_standing(texts[row]) for row in shown[:MOST_BLOCKS]]
    standing += [None] * (len(shown) - len(standing))  # joined blocks
    offered = with_offers(blocks, offers_of(root, text))
    at = place_of_offers(blocks)
    standing[at:at] = [None] * (len(offered.texts) - len(blocks.texts))
    return StandingBlocks(offered, tuple(standing), _held(standing), _whole(standing))


def named_texts(standing: Mapping[Name, BlockElement]) -> dict[TextNode, Name]:
    return {text: name for name, one in standing.items() for text in one.texts}


def chosen_of(
    root: Element, standing: Mapping[Name, BlockElement], named: Mapping[TextNode, Name], selector: str
) -> frozenset[Name]:
    """Return the names of the blocks whose texts a selector chooses completely. named: from `named_texts`; it may
    contain texts that their blocks have lost. Raises ContentError.
    """
    chosen = set[TextNode]()
    for match in selectors.matches(root, selector):
        chosen.update(_texts_in(match))
    counted = Counter(named[text] for text in chosen if text in named)
    return frozenset(
        name
        for name in counted
        if name in standing and (counted[name] >= len(texts := standing[name].texts)) and chosen.issuperset(texts)
    )


def _texts_in(match: Element | str) -> Iterator[TextNode]:
    """Yield the texts of a match; some may be empty."""
    if not isinstance(match, str):
        for element in match.iter():
            yield TextNode(element, after=False)
            if element is not match:
                yield TextNode(element, after=True)
        return
    holder = getattr(match, "getparent", lambda: None)()
    if holder is not None and not getattr(match, "is_attribute", False):
        yield TextNode(holder, bool(getattr(match, "is_tail", False)))


def _deal(notes: Sequence[Note], rows: Sequence[int], texts: dict[int, list[TextNode]]) -> None:
    """Assign each text to its block: the first block row after it."""
    following = iter(rows)
    row = next(following, None)
    for before, element, after in notes:
        while row is not None and row < before:
            row = next(following, None)
        if row is None:
            return
        texts[row].append(TextNode(element, after))


def _standing(texts: Sequence[TextNode]) -> BlockElement | None:
    if not texts:
        return None
    shared = lineage(texts[0].holder)
    for text in texts[1:]:
        shared = [one for one, other in zip(shared, lineage(text.holder), strict=False) if one is other]
    return BlockElement(shared[-1], tuple(texts))


def lineage(element: Element) -> list[Element]:
    """Return an element with its ancestors, the root first."""
    return [*reversed(list(element.iterancestors())), element]


def _held(standing: Sequence[BlockElement | None]) -> Counter[Element]:
    return Counter(holder for one in filter(None, standing) for holder in _holders(one))


def _whole(standing: Sequence[BlockElement | None]) -> Counter[Element]:
    places = (one.element for one in filter(None, standing))
    return Counter(element for place in places for element in (place, *place.iterancestors()))


_PAGE: Final = frozenset({"html", "body", "head"})
_CELLS: Final = frozenset({"td", "th"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary", "dt", "th"})
_OF_ONE: Final = ("id", "href", "itemprop", "headers", "name", "data-testid", "data-test", "data-qa", "data-field")
"""Attributes that an inserted element does not copy from its pattern."""


class PastTree:
    """A copy of a page's tree that goes back version by version. names: of each block, as used in results."""

    def __init__(self, root: Element, page: StandingBlocks, names: Sequence[object]) -> None:
        self._root = copy.deepcopy(root)
        same = dict(zip(root.iter(), self._root.iter(), strict=True))
        self._held = {same[element]: count for element, count in page.held.items()}
        self._standing: dict[object, BlockElement] = {
            name: BlockElement(same[one.element], tuple(TextNode(same[text.element], text.after) for text in one.texts))
            for name, one in zip(names, page.standing, strict=True)
            if one is not None
        }
        self._by_text = named_texts(self._standing)

    def chosen(self, selector: str) -> frozenset[object]:
        """Return the names of the blocks that a selector chooses in the current tree. Raises ContentError."""
        return chosen_of(self._root, self._standing, self._by_text, selector)

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        """Go back one version; the threads of paragraphs name the blocks."""
        now, then = ({paragraph.thread: paragraph.text for paragraph in side} for side in (after, before))
        for name, text in then.items():
            if name in self._standing and now.get(name, text) != text:
                self._say(name, text)
        for name in now.keys() - then.keys():
            self._take_out(name)
        for start, end in _runs(before, now):
            above = before[start - 1].thread if start else None
            below = before[end].thread if end < len(before) else None
            self._put_in(before[start:end], self._standing.get(above), self._standing.get(below))

    def _say(self, name: object, text: str) -> None:
        """Write a text into a block: into those of its text nodes that differ from it."""
        standing = self._standing[name]
        kept, said = _shared(standing.texts, text)
        changed = [node for node in standing.texts if node not in kept]
        into = max(changed, key=lambda node: len(_text_of(node)), default=standing.texts[-1])
        for node in changed:
            _write(node, "")
        _write(into, f"{_text_of(into)} {said}".strip())
        left = tuple(node for node in standing.texts if _text_of(node))
        self._standing[name] = BlockElement(standing.element, left or standing.texts)

    def _take_out(self, name: object) -> None:
        standing = self._standing.pop(name, None)
        if standing is None:
            return
        for node in standing.texts:
            _write(node, "")
        for element in _holders(standing):
            self._held[element] -= 1
        empty = None
        for element in (standing.element, *standing.element.iterancestors()):
            above = element.getparent()
            if self._held.get(element) or above is None or element.tag in _PAGE:
                break
            if element.tag in _CELLS and self._held.get(above):
                break  # an empty cell keeps its column
            empty = element
        if empty is not None:
            selectors.take_out(empty)

    def _put_in(self, run: Sequence[Paragraph], above: BlockElement | None, below: BlockElement | None) -> None:
        """Insert blocks between two others, with the markup of one of them: if possible repeated, and no heading."""
        sides = [
            (side, pattern, size)
            for side in (above, below)
            if side is not None
            for pattern, size in self._patterns(side, len(run))
        ]
        made_as = max(sides, key=lambda side: _likely(side[0], side[1]), default=None)
        if made_as is None:
            return
        beside, pattern, size = made_as
        last = pattern
        for start in range(0, len(run), size):
            made = self._made_as(pattern, run[start : start + size])
            if beside is above or start:
                last.addnext(made)
            else:
                last.addprevious(made)
            last = made

    def _patterns(self, beside: BlockElement, count: int) -> Iterator[tuple[Element, int]]:
        """Yield possible patterns for `count` blocks, each with its number of blocks: a row, an item."""
        for element in (beside.element, *beside.element.iterancestors()):
            held, above = self._held.get(element, 0), element.getparent()
            if held > count or above is None or element.tag in _PAGE:
                break
            if held and count % held == 0 and element.tag not in _CELLS:
                yield element, held

    def _made_as(self, pattern: Element, paragraphs: Sequence[Paragraph]) -> Element:
        made = copy.deepcopy(pattern)
        made.tail = None
        same = dict(zip(pattern.iter(), made.iter(), strict=True))
        texts: dict[object, list[TextNode]] = {}
        for element, twin in same.items():
            if element in self._held:
                self._held[twin] = self._held[element]
            for after in (False, True)[: 1 if element is pattern else 2]:
                if (name := self._by_text.get(TextNode(element, after))) is not None and name in self._standing:
                    texts.setdefault(name, []).append(TextNode(twin, after))
            for name in _OF_ONE:
                twin.attrib.pop(name, None)
        for paragraph, (name, nodes) in zip(paragraphs, texts.items(), strict=False):
            standing = self._standing[name]
            self._standing[paragraph.thread] = BlockElement(same.get(standing.element, made), tuple(nodes))
            self._by_text.update(dict.fromkeys(nodes, paragraph.thread))
            self._say(paragraph.thread, paragraph.text)
        self._hold_more(pattern)
        return made

    def _hold_more(self, pattern: Element) -> None:
        """Add the inserted blocks to the counts of all ancestors."""
        for around in pattern.iterancestors():
            if around in self._held:
                self._held[around] += self._held[pattern]


def _likely(beside: BlockElement, pattern: Element) -> tuple[bool, bool]:
    """Rate an element as a pattern: one of several, and no heading."""
    return beside.element.tag not in _HEADINGS, _twins(pattern)


def _twins(element: Element) -> bool:
    return any(each is not element for each in element.getparent().iterchildren(element.tag))


def _runs(before: Sequence[Paragraph], now: Mapping[object, str]) -> Iterable[tuple[int, int]]:
    """Yield start and end of runs of blocks that only the earlier version has."""
    start = None
    for at, paragraph in enumerate(before):
        if paragraph.thread in now:
            if start is not None:
                yield start, at
            start = None
        elif start is None:
            start = at
    if start is not None:
        yield start, len(before)


def _shared(nodes: Sequence[TextNode], text: str) -> tuple[frozenset[TextNode], str]:
    """Return a block's texts at the beginning and end of another text, and the rest of that text."""
    first, last, rest = 0, len(nodes), " ".join(text.split())
    while first < last - 1 and rest.startswith(said := _text_of(nodes[first])):
        rest, first = rest.removeprefix(said).lstrip(), first + 1
    while last - 1 > first and rest.endswith(said := _text_of(nodes[last - 1])):
        rest, last = rest.removesuffix(said).rstrip(), last - 1
    return frozenset((*nodes[:first], *nodes[last:])), rest


def _text_of(node: TextNode) -> str:
    return " ".join(((node.element.tail if node.after else node.element.text) or "").split())


def _write(node: TextNode, text: str) -> None:
    if node.after:
        node.element.tail = text
    else:
        node.element.text = text


def _holders(standing: BlockElement) -> set[Element]:
    """Return the elements around a block's texts."""
    found = set[Element]()
    for node in standing.texts:
        holder = node.holder
        while holder is not None and holder not in found:
            found.add(holder)
            holder = holder.getparent()
    return found
