"""The element of each block of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from actors.content.bodies.markup import Element, is_probe
from actors.content.pages import selectors
from actors.content.pages.blocks import BLOCK, MOST_BLOCKS, Blocks, Note, blocks_of, folded, walk
from actors.content.pages.offers import offers_of, place_of_offers, with_offers


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
