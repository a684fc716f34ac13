"""The reach of a choice: one block, all similar blocks, or the surrounding part.

The element of each block of a page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from actors.content.bodies.markup import Element, is_probe
from actors.content.pages import selectors
from actors.content.pages.blocks import BLOCK, MOST_BLOCKS, Blocks, Note, blocks_of, folded, walk
from actors.content.pages.offers import offers_of, place_of_offers, with_offers
from extras.picking.deriving import LONGEST, NEVER, Kind, PageIndex, cost_of, selector_of, text_of


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
    """Each block's place, None for machine-readable data. held: texts in an element; whole: those entirely in it."""

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


def chosen_of(
    root: Element, standing: Mapping[int, BlockElement], by_text: Mapping[TextNode, int], selector: str
) -> frozenset[int]:
    """Return the blocks whose texts a selector chooses completely. Raises ContentError."""
    chosen = set[TextNode]()
    for match in selectors.matches(root, selector):
        chosen.update(_texts_in(match))
    touched = {by_text[text] for text in chosen if text in by_text}
    return frozenset(at for at in touched if chosen.issuperset(standing[at].texts))


def _texts_in(match: Element | str) -> Iterator[TextNode]:
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
    return [*reversed(list(element.iterancestors())), element]


def _held(standing: Sequence[BlockElement | None]) -> Counter[Element]:
    return Counter(holder for one in filter(None, standing) for holder in _holders(one))


def _whole(standing: Sequence[BlockElement | None]) -> Counter[Element]:
    places = (one.element for one in filter(None, standing))
    return Counter(element for place in places for element in (place, *place.iterancestors()))


def _holders(standing: BlockElement) -> set[Element]:
    found = set[Element]()
    for node in standing.texts:
        holder = node.holder
        while holder is not None and holder not in found:
            found.add(holder)
            holder = holder.getparent()
    return found


_PARTS = frozenset({"section", "article", "main", "table", "ul", "ol", "dl", "aside", "form", "header", "footer"})
_CELLS = frozenset({"td", "th", "dd", "dt"})
_PAGE = frozenset({"html", "body", "head"})
_LEVELS = 12


class Reaches(ABC):
    """The selectors of one document. A method returns "" for none. kind: the required kind, None for any."""

    blocks: Blocks

    @abstractmethod
    def this(self, at: int, kind: Kind | None = None, *, whole: bool = False) -> str:
        """Select a block alone, else the smallest element around it. whole: never a text node."""

    def like(self, at: int, kind: Kind | None = None) -> str:
        """Select all blocks similar to this one, including itself."""
        return ""

    @abstractmethod
    def part(self, at: int, kind: Kind | None = None) -> str:
        """Select the part around a block, with everything in it."""

    @abstractmethod
    def chosen(self, selector: str) -> frozenset[int]:
        """Return the blocks that a selector chooses. Raises ContentError."""

    def link(self, at: int) -> str | None:
        """Return the target of a block's link, None without one."""
        return None


class HtmlReaches(Reaches):
    """The selectors of one HTML page, made on demand."""

    def __init__(self, root: Element, text: str) -> None:
        self._root, self._page = root, standing_blocks(root, text)
        self.blocks = self._page.blocks

    @cached_property
    def _index(self) -> PageIndex:
        return PageIndex(self._root)

    @cached_property
    def _by_number(self) -> Mapping[int, BlockElement]:
        return {at: standing for at, standing in enumerate(self._page.standing) if standing is not None}

    @cached_property
    def _by_text(self) -> Mapping[TextNode, int]:
        return {text: at for at, one in self._by_number.items() for text in one.texts}

    def this(self, at: int, kind: Kind | None = None, *, whole: bool = False) -> str:
        standing = self._page.standing[at]
        if standing is None:
            return ""
        alone = self._alone(standing)
        if not alone and kind != "css" and not whole and (text := self._of_text(standing)):
            return text
        line = (standing.element, *standing.element.iterancestors())
        holders = alone or [next(each for each in line if not self._page.cuts(each))]
        return selector_of(self._index, holders, kind) if holders[0].tag not in _PAGE else ""

    def link(self, at: int) -> str | None:
        standing = self._page.standing[at]
        if standing is None:
            return None
        around = (standing.element, *standing.element.iterancestors("a"))
        link = next((each for each in around if each.tag == "a"), None)
        link = next(standing.element.iter("a"), None) if link is None else link
        return None if link is None else link.get("href")

    def chosen(self, selector: str) -> frozenset[int]:
        return chosen_of(self._root, self._by_number, self._by_text, selector)

    def like(self, at: int, kind: Kind | None = None) -> str:
        standing = self._page.standing[at]
        targets = self._alone(standing) if standing is not None else []
        path: list[str] = []
        for below in self._levels(targets):
            around = below.getparent()
            if around is None or below.tag in _PAGE:
                break
            if below.tag not in _CELLS and len(self._twins(below)) > 1:
                selector = " > ".join([selector_of(self._index, [around], "css"), _named(below), *reversed(path)])
                if len(selector) <= LONGEST and kind != "xpath" and self._counts(selector, targets):
                    return selector
            path.append(_placed(below))
        return ""

    def part(self, at: int, kind: Kind | None = None) -> str:
        standing = self._page.standing[at]
        if standing is None:
            return ""
        held = self._page.held
        inner = self._alone(standing) or [standing.element]
        least = held[inner[-1]]
        for around in inner[-1].iterancestors():
            if around.tag in _PAGE:
                return ""
            if held.get(around, 0) > least and _is_part(around) and not self._page.cuts(around):
                same = [around, *(each for each in around.iterancestors() if held.get(each) == held[around])]
                return selector_of(self._index, [each for each in same if each.tag not in _PAGE], kind)
        return ""

    def _alone(self, standing: BlockElement) -> list[Element]:
        held = self._page.held
        line = [standing.element, *standing.element.iterancestors()]
        alone = []
        for element in line:
            if held[element] != 1 or element.tag in _PAGE:
                break
            alone.append(element)
        return alone

    def _levels(self, targets: Sequence[Element]) -> Iterator[Element]:
        """Yield an element and its ancestors, as far as the search for similar ones goes."""
        below = targets[0] if targets else None
        for _ in range(_LEVELS):
            if below is None:
                return
            yield below
            below = below.getparent()

    def _twins(self, element: Element) -> list[Element]:
        """Return the non-empty siblings with the same tag and classes, including the element."""
        names, held = _names(element), self._page.held
        around = element.getparent()
        return [each for each in around.iterchildren(element.tag) if held.get(each) and _names(each) == names]

    def _counts(self, selector: str, targets: Sequence[Element]) -> bool:
        found = selectors.select(self._root, selector)
        filled = [each for each in found if self._page.held.get(each)]
        if len(filled) < 2 or any(map(self._page.cuts, filled)):
            return False
        return any(each is target for each in found for target in targets)

    def _of_text(self, standing: BlockElement) -> str:
        """Return the XPath of a block that is one of several texts in an element: a line before a `br`."""
        if len(standing.texts) != 1:
            return ""
        (text,) = standing.texts
        selector = f"{selector_of(self._index, [text.holder], 'xpath')}/{text_of(text.element, after=text.after)}"
        return selector if len(selector) <= LONGEST and len(selectors.select(self._root, selector)) == 1 else ""


def _is_part(element: Element) -> bool:
    if element.tag in _PARTS:
        return True
    names = [element.get("id") or "", *(element.get("class") or "").split()]
    return element.tag == "div" and any(cost_of(name) <= 1 for name in names if name)


def _names(element: Element) -> frozenset[str]:
    return frozenset(name for name in (element.get("class") or "").split() if cost_of(name) < NEVER)


def _named(element: Element) -> str:
    """Return a name that an element shares with its twins."""
    name = min((element.get("class") or "").split() or [""], key=lambda one: cost_of(one) if one else NEVER)
    return f"{element.tag}.{name}" if name and cost_of(name) < NEVER else str(element.tag)


def _placed(element: Element) -> str:
    beside = [each for each in element.getparent().iterchildren(element.tag) if each is not element]
    if not beside:
        return str(element.tag)
    own = [name for name in _names(element) if not any(name in _names(each) for each in beside)]
    if own:
        return f"{element.tag}.{min(own, key=cost_of)}"
    before = sum(1 for _ in element.itersiblings(element.tag, preceding=True))
    return f"{element.tag}:nth-of-type({before + 1})"
