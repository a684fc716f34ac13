"""Boxes beside the content that come and go as a whole: banners, bars, teasers. Known by place and by stay.

A *box* is a few blocks that came where nothing went, or went where nothing came, and that are no heading, entry, cell.
Sites put into them what every page gets: a sale, works on Sunday, "chat with us". No words are asked for:

- above the page's own heading a box is the site's, not the page's: it is told when it has lasted;
- elsewhere on pages that are no running text it may be drawn for one visitor in two: a second and a third look decide;
- a heading with nothing but a link or a button is a call to action, and a paragraph with several buttons a dialog: a
  box on any page. So are links right above the copyright line, each by itself;
- beside texts of its kind that came and went untold a text is one more of them, until it lasts;
- of texts that give way together none is sure before all of them have stayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.memory import SettledState
from actors.content.changes.news import SURE, Difference, Known, WeighedBlock
from actors.content.changes.sides import Apart
from actors.content.changes.weights import LETTERS, LONG, NUMBER
from actors.content.pages.evidence import titles_of
from actors.content.pages.traits import CELL, CONTROL, HEADING, ITEM, LINK, TOP

LASTS = 8
"""Looks after the first in which a box above the heading is found again before it is told."""
EARLY = 6
"""Looks after the first in which a doubt takes a look longer."""
_MOST_BLOCKS, _MOST_WORDS = 4, 60
_PARAGRAPH = 16
"""Words from which a box in the content is a paragraph: nobody writes so many for some visitors only."""
_ABOVE = "above the page's heading, where sites put their banners: told when it lasts"
_NEAR = 2
"""Blocks on either side that stand in the same box."""
_MOST_OFFERED = 7
_TURNS = 4
"""Looks after the first in which what stands beside such texts is found again before it is told."""
_AMONG = "beside texts that come and go"


class Box(Struct, frozen=True):
    """Positions of the blocks of a box in their state; came: whether it came. above: it stands over the heading."""

    positions: tuple[int, ...]
    came: bool
    above: bool
    words: int


class Around(Struct, frozen=True):
    """Two states of a page and what they have not in common; its title, and keys that came and went untold.

    early: these are a source's first looks, when nobody knows yet what the page shows by turns.
    """

    before: SettledState
    now: SettledState
    apart: Apart
    title: str
    untold: frozenset[str]
    early: bool = False


def boxes(around: Around) -> Iterator[Box]:
    before, now = around.before, around.now
    heads = _heading(before, around.title), _heading(now, around.title)
    for old, new in _gaps(around.apart):
        if bool(old) == bool(new):
            continue
        state, found = (now, new) if new else (before, old)
        head = heads[bool(new)]
        above = found[-1] < head if head else not found[0]
        if _is_box(state, found, above=above):
            yield Box(tuple(found), bool(new), above, sum(state.words[i] for i in found))


def _offered(state: SettledState, found: Sequence[int], *, alone: bool) -> Iterator[int]:
    """Yield the positions of a heading with links or buttons alone, and of paragraphs with several buttons each.

    alone: nothing stands in the place of these blocks on the other side.
    """
    for n, i in enumerate(found):
        first, run = state.traits[i], [i]
        for k in found[n + 1 :]:
            if k != run[-1] + 1 or len(run) > _MOST_OFFERED or not state.traits[k] & (LINK | CONTROL):
                break
            run.append(k)
        is_call = alone and first & HEADING and not first & LINK and 1 < len(run) == len(found) <= _MOST_OFFERED
        buttons = sum(state.traits[k] & CONTROL > 0 for k in run[1:])
        if is_call or (buttons > 1 and not first & (CELL | ITEM | LINK) and state.words[i] >= LONG):
            yield from run


def _foot(state: SettledState) -> range:
    """Return the positions of the links right above the copyright line."""
    end = state.zone.foot
    if end >= len(state.texts):
        return range(0)
    start = end
    while start and state.traits[start - 1] & LINK:
        start -= 1
    return range(start, end)


def _is_box(state: SettledState, found: Sequence[int], *, above: bool) -> bool:
    if len(found) > _MOST_BLOCKS or sum(state.words[i] for i in found) > _MOST_WORDS:
        return False
    if any(state.traits[i] & (HEADING | CELL | ITEM) for i in found):
        return False
    rows = state.entries
    # The lines of a banner may be a row by themselves; links in a row are headlines.
    return not any(i in rows and (not above or state.traits[i] & LINK) for i in found)


def _heading(state: SettledState, title: str) -> int:
    """Return the position of a page's own heading, 0 where it is not known: its h1, else what its title says."""
    found = next((i for i, trait in enumerate(state.traits[: len(state.texts)]) if trait & TOP), None)
    if found is not None:
        return found
    named = titles_of(title)
    return next((i for i, text in enumerate(state.texts) if text in named), 0)


def weighed_anew(difference: Difference, around: Around, known: Known) -> Difference:
    """Return a difference in which what stands in boxes waits until it lasts."""
    before, now, apart = around.before, around.now, around.apart
    rows = list(difference.blocks)
    running = before.zone.text, now.zone.text
    at = {(True, i): n for n, i in enumerate(apart.came.positions)}
    at |= {(False, i): n for n, i in enumerate(apart.went.positions, len(at))}
    for box in boxes(around):
        for i in box.positions:
            n = at[box.came, i]
            if box.above or (not running[box.came] and box.words <= _PARAGRAPH):
                rows[n] = _waiting(rows[n], box, known)
    feet = _foot(before), _foot(now)
    visits = [(came, i) for came, i in at if i in feet[came]]
    for old, new in _gaps(apart):
        alone = not (old and new)
        visits += ((False, i) for i in _offered(before, old, alone=alone))
        visits += ((True, i) for i in _offered(now, new, alone=alone))
    for n in map(at.__getitem__, visits):
        rows[n] = _doubted(rows[n], known)
    if around.early and not running[1]:
        for one in difference.replaced:
            n = at[True, one.new]
            # It has waited, so it was in doubt: one of the first faces may stand for some looks.
            if one.what == "words" and rows[n].score and 0 < known.waits.get(one.key, 0) <= SURE:
                rows[n] = replace(rows[n], doubted=True)
    turning = _Turning(before, now, known, around.untold - known.aside)
    for old, new in _gaps(apart):
        if running[0] or running[1]:
            break
        for n, block in turning.weighed(old, new, at, rows):
            rows[n] = block
    return replace(difference, blocks=tuple(rows))


class _Turning:
    """Places that show some of many texts: what comes there and what goes is not sure before all of it stays."""

    def __init__(self, before: SettledState, now: SettledState, known: Known, untold: frozenset[str]) -> None:
        self._before, self._now, self._known, self._untold = before, now, known, untold

    def weighed(
        self, old: Sequence[int], new: Sequence[int], at: Mapping[tuple[bool, int], int], rows: Sequence[WeighedBlock]
    ) -> Iterator[tuple[int, WeighedBlock]]:
        """Yield anew what came and went in a gap, and the number of each in the difference."""
        stood = [self._known.waits.get(self._now.keys[i], 0) for i in new]
        turns = self._turns(old, self._before) or self._turns(new, self._now)
        mixed = len(new) > 1 and min(stood) < SURE and max(stood) > min(stood)
        least = _TURNS if turns else SURE
        if not (turns or mixed) or (stood and min(stood) >= least):
            return
        for came, positions in ((False, old), (True, new)):
            for n in (at[came, i] for i in positions):
                if not turns or came:
                    yield n, replace(rows[n], doubted=bool(rows[n].score))
                elif stood or self._known.absent.get(rows[n].key, 0) < _TURNS:
                    yield n, replace(rows[n], score=0.0, rule=_AMONG)

    def _turns(self, positions: Sequence[int], state: SettledState) -> bool:
        """Return whether one of the blocks, or one beside them, is a text of their kind that came and went untold."""
        if not positions or any(state.traits[i] & CELL for i in positions):
            return False
        traits = {state.traits[i] for i in positions}
        near = range(max(0, positions[0] - _NEAR), min(len(state.texts), positions[-1] + _NEAR + 1))
        return any(
            state.keys[n] in self._untold
            and state.traits[n] in traits
            and LETTERS.search(state.texts[n]) is not None
            and not NUMBER.search(state.texts[n])
            for n in near
        )


def _gaps(apart: Apart) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the positions of what went and of what came in each gap."""
    came, went = frozenset(apart.came.positions), frozenset(apart.went.positions)
    for a, b, c, d in apart.spans:
        yield [i for i in range(a, b) if i in went], [i for i in range(c, d) if i in came]


def _waiting(block: WeighedBlock, box: Box, known: Known) -> WeighedBlock:
    if box.above:
        return block if _stood(block, known) >= LASTS else replace(block, score=0.0, rule=_ABOVE, waits=block.came)
    return _doubted(block, known)


def _doubted(block: WeighedBlock, known: Known) -> WeighedBlock:
    return replace(block, doubted=True) if block.score and _stood(block, known) < SURE else block


def _stood(block: WeighedBlock, known: Known) -> int:
    return (known.waits if block.came else known.absent).get(block.key, 0)
