"""The element of each block of a page: the lowest that contains all of the block's texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct

from actors.content.bodies.markup import Element, is_probe
from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks, blocks_of
from actors.content.pages.offers import offers_of, place_of_offers, with_offers
from actors.content.pages.walk import BLOCK, Note, folded, walk

Name = TypeVar("Name")


class TextNode(NamedTuple):
    """A text node of a tree: an element's first text, or its tail (`after`)."""

    element: Element
    after: bool

    @property
    def holder(self) -> Element:
        """The parent element of the text."""
        return self.element.getparent() if self.after else self.element


class Standing(NamedTuple):
    """A block in the tree: the lowest element around all of its texts, and the texts."""

    element: Element
    texts: tuple[TextNode, ...]


class StandingBlocks(Struct, frozen=True):
    """A page's blocks, and the place of each in the tree; None for those from machine-readable data.

    held: the number of blocks with texts in an element. whole: the number entirely in it, which may be less if texts
    continue after its end.
    """

    blocks: Blocks
    standing: tuple[Standing | None, ...]
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
    standing: list[Standing | None] = [_standing(texts[row]) for row in shown]
    offered = with_offers(blocks, offers_of(root, text))
    at = place_of_offers(blocks)
    standing[at:at] = [None] * (len(offered.texts) - len(blocks.texts))
    return StandingBlocks(offered, tuple(standing), _held(standing), _whole(standing))


def named_texts(standing: Mapping[Name, Standing]) -> dict[TextNode, Name]:
    """Map each text to its block."""
    return {text: name for name, one in standing.items() for text in one.texts}


def chosen_of(
    root: Element, standing: Mapping[Name, Standing], named: Mapping[TextNode, Name], selector: str
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


def _standing(texts: Sequence[TextNode]) -> Standing | None:
    if not texts:
        return None
    shared = lineage(texts[0].holder)
    for text in texts[1:]:
        shared = [one for one, other in zip(shared, lineage(text.holder), strict=False) if one is other]
    return Standing(shared[-1], tuple(texts))


def lineage(element: Element) -> list[Element]:
    """Return an element with its ancestors, the root first."""
    return [*reversed(list(element.iterancestors())), element]


def _held(standing: Sequence[Standing | None]) -> dict[Element, int]:
    held: dict[Element, int] = {}
    for one in filter(None, standing):
        seen = set[Element]()
        for text in one.texts:
            holder = text.holder
            while holder is not None and holder not in seen:
                seen.add(holder)
                held[holder] = held.get(holder, 0) + 1
                holder = holder.getparent()
    return held


def _whole(standing: Sequence[Standing | None]) -> dict[Element, int]:
    whole: dict[Element, int] = {}
    for one in filter(None, standing):
        for element in (one.element, *one.element.iterancestors()):
            whole[element] = whole.get(element, 0) + 1
    return whole
