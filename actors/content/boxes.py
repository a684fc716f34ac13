"""What comes and goes as a whole beside the content: banners, bars, boxes of teasers. Known by place and by stay.

A *box* is a few blocks that came where nothing went, or went where nothing came, and that are no heading, entry or cell.
Sites put into them what every page gets: a sale, works on Sunday, "chat with us". No words are asked for:

- above the page's own heading a box is the site's, not the page's: it is told when it has lasted;
- anywhere else it may be drawn for one visitor in two: a second and a third look decide;
- where boxes have come and gone before, the next one has to last as well;
- beside texts that come and go, what comes is one more of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.content.evidence import titles_of
from actors.content.memory import Settled
from actors.content.news import SURE, Difference, Known, Weighed
from actors.content.sides import Apart
from actors.content.traits import CELL, HEADING, ITEM, TOP
from actors.content.weights import entries_of, zone_of

LASTS = 8
"""Looks after the first in which a box above the heading, or in a place of boxes, is found again before it is told."""
_MOST_BLOCKS, _MOST_WORDS = 4, 60
_PARAGRAPH = 16
"""Words from which a box in the content is a paragraph: nobody writes so many for some visitors only."""
_ABOVE = "above the page's heading, where sites put their banners: told when it lasts"


class Box(Struct, frozen=True):
    """Positions of the blocks of a box in their state; came: whether it came. above: it stands over the heading."""

    positions: tuple[int, ...]
    came: bool
    above: bool
    words: int


def boxes(before: Settled, now: Settled, apart: Apart, title: str) -> Iterator[Box]:
    """Yield the boxes in a difference."""
    came, went = apart.came.by_position(), apart.went.by_position()
    heads = _heading(before, title), _heading(now, title)
    for a, b, c, d in apart.spans:
        old, new = [i for i in range(a, b) if i in went], [i for i in range(c, d) if i in came]
        if bool(old) == bool(new):
            continue
        state, found = (now, new) if new else (before, old)
        if _is_box(state, found):
            head = heads[bool(new)]
            yield Box(tuple(found), bool(new), found[-1] < head if head else not found[0], sum(state.words[i] for i in found))


def _is_box(state: Settled, found: Sequence[int]) -> bool:
    if len(found) > _MOST_BLOCKS or sum(state.words[i] for i in found) > _MOST_WORDS:
        return False
    if any(state.traits[i] & (HEADING | CELL | ITEM) for i in found):
        return False
    return entries_of(state.texts, state.traits).isdisjoint(found)


def _heading(state: Settled, title: str) -> int:
    """Return the position of a page's own heading, 0 where it is not known: its h1, else what its title says."""
    found = next((i for i, trait in enumerate(state.traits[: len(state.texts)]) if trait & TOP), None)
    if found is not None:
        return found
    named = titles_of(title)
    return next((i for i, text in enumerate(state.texts) if text in named), 0)


def weighed_anew(difference: Difference, before: Settled, now: Settled, apart: Apart, known: Known, title: str) -> Difference:
    """Return a difference in which what stands in boxes waits until it lasts."""
    rows = list(difference.blocks)
    running = _is_text(before), _is_text(now)
    at = {(True, i): n for n, i in enumerate(apart.came.positions)}
    at |= {(False, i): n for n, i in enumerate(apart.went.positions, len(at))}
    for box in boxes(before, now, apart, title):
        for i in box.positions:
            n = at[box.came, i]
            if box.above or (not running[box.came] and box.words <= _PARAGRAPH):
                rows[n] = _waiting(rows[n], box, known)
    return replace(difference, blocks=tuple(rows))


def _is_text(state: Settled) -> bool:
    return zone_of(state.texts, state.words, state.traits).text


def _waiting(block: Weighed, box: Box, known: Known) -> Weighed:
    stood = (known.waits if block.came else known.absent).get(block.key, 0)
    if box.above:
        return block if stood >= LASTS else replace(block, score=0.0, rule=_ABOVE, waits=block.came)
    if block.score and stood < SURE:
        return replace(block, doubted=True)
    return block
