"""Boxes that come and go as a whole, and rows that each have a date.

A *box* is a few blocks added where nothing was removed, or removed where nothing was added, without headings, entries
or cells. Sites show the same boxes on every page: a sale, works on Sunday, "chat with us". Their words do not matter.

- Above the page's own heading a box belongs to the site, not the page: it is reported once it lasts.
- Elsewhere, on pages without running text, a box may be shown to one visitor in two: a second and a third check decide.
- On any page, two things are boxes: a heading with only links or buttons (a call to action), and a paragraph with
  several buttons (a dialog). Links right above the copyright line are boxes too, each by itself.
- A text near others of its kind that came and went unreported is one more of them, until it lasts.
- Texts that replace each other together stay in doubt until all of them have lasted.

A lone past date only says when a page was edited, and is not reported. If several entries have one each, the date
belongs to its entry: if one date changes and its entry stays, that entry has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.difference import Replacement, StateDifference
from actors.content.changes.memory import SettledState
from actors.content.changes.news import COPIES, COPY, SURE, KnownBlocks, WeighedBlock, WeighedDifference
from actors.content.changes.weights import FIGURE, LETTERS, LONG, LONGEST_LABEL, NUMBER
from actors.content.pages.traits import CELL, CONTROL, HEADING, ITEM, LINK, TOP
from actors.content.pages.walls import titles_of
from actors.content.wording.canonical import canonical
from actors.content.wording.dates import is_only_date

LASTS = 8
"""Checks after the first that must find a box above the heading again before it is reported."""
EARLY = 6
"""Checks after the first during which a doubt takes one check longer."""
_MOST_BLOCKS, _MOST_WORDS = 4, 60
_PARAGRAPH = 16
"""A box in the content with this many words is a paragraph: sites do not write so much for some visitors only."""
_ABOVE = "above the page's heading, where sites put their banners: reported if it lasts"
_NEAR = 2
"""Blocks on either side that belong to the same box."""
_MOST_OFFERED = 7
_TURNS = 4
"""Checks after the first that must find a text near rotating ones again before it is reported."""
_AMONG = "next to texts that come and go"
_ROWS = 3
"""Lone dates that make a list of dated rows."""
_MOST = 0.5
"""The share of dates that may change at once; if all do, they show the page's current day."""
_GONE = 0.6
"""Weight of a removed date relative to the added one."""
_RULES = frozenset({"", "only a date", "a date by itself", COPY, COPIES})


class BoxContext(Struct, frozen=True):
    """Two states of a page, their difference, the page's title, and keys that came and went unreported. early: one of a
    source's first checks, when the page's rotating parts are still unknown.
    """

    before: SettledState
    now: SettledState
    apart: StateDifference
    title: str
    untold: frozenset[str]
    early: bool = False


def _offered(state: SettledState, found: Sequence[int], *, alone: bool) -> Iterator[int]:
    """Yield headings of links or buttons, and paragraphs with buttons. alone: the other side has no blocks here."""
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
    # The lines of a banner may form a row; links in a row are headlines.
    return not any(i in rows and (not above or state.traits[i] & LINK) for i in found)


def _heading(state: SettledState, title: str) -> int:
    """Return the position of the page's heading: its h1, else the text of its title; 0 if unknown."""
    found = next((i for i, trait in enumerate(state.traits[: len(state.texts)]) if trait & TOP), None)
    if found is not None:
        return found
    named = titles_of(title)
    return next((i for i, text in enumerate(state.texts) if text in named), 0)


def weighed_boxes(difference: WeighedDifference, around: BoxContext, known: KnownBlocks) -> WeighedDifference:
    rows = _RevisedBlocks(difference, around, known)
    rows.weigh_dates(difference.replaced)
    rows.hold_boxes()
    rows.doubt_offers()
    if around.early:
        rows.doubt_early(difference.replaced)
    rows.doubt_turning()
    return replace(difference, blocks=tuple(rows.blocks))


class _RevisedBlocks:
    """The blocks of a difference while their weights are revised. Sides: before (False) and now (True)."""

    def __init__(self, difference: WeighedDifference, around: BoxContext, known: KnownBlocks) -> None:
        self.blocks = list(difference.blocks)
        self._around, self._known, self._sides = around, known, (around.before, around.now)
        self._running, self._untold = (around.before.zone.text, around.now.zone.text), around.untold - known.aside
        came, went = around.apart.came.positions, around.apart.went.positions
        self._at = {(True, i): n for n, i in enumerate(came)} | {(False, i): n for n, i in enumerate(went, len(came))}
        self._gaps = [
            ([i for i in range(a, b) if (False, i) in self._at], [i for i in range(c, d) if (True, i) in self._at])
            for a, b, c, d in around.apart.spans
        ]
        """The positions of removed and added blocks in each gap."""

    def _stood(self, block: WeighedBlock) -> int:
        return (self._known.waits if block.came else self._known.absent).get(block.key, 0)

    def _doubt(self, came: bool, i: int) -> None:
        block = self.blocks[self._at[came, i]]
        if block.score and self._stood(block) < SURE:
            self.blocks[self._at[came, i]] = replace(block, doubted=True)

    def weigh_dates(self, replaced: Sequence[Replacement]) -> None:
        now, told = self._around.now, frozenset(self._around.before.keys)
        dates = (one for one in replaced if one.what == "dates" and one.slot not in self._known.restless)
        found = [one for one in dates if is_only_date(one.before) and is_only_date(one.after)]
        short = (i for i, text in enumerate(now.texts) if len(text) <= LONGEST_LABEL and NUMBER.search(text))
        dated = [i for i in short if is_only_date(canonical(now.texts[i]))] if found else []
        if len(dated) < _ROWS or len(found) > _MOST * len(dated):
            return
        for one in found:
            # The entry is before or after its date, and has stayed.
            beside = (i for i in (one.new - 1, one.new + 1) if 0 <= i < len(now.keys) and i not in dated)
            if any(now.keys[i] in told for i in beside):
                for place, least in (((True, one.new), FIGURE), ((False, one.old), _GONE * FIGURE)):
                    block = self.blocks[self._at[place]]
                    if block.rule in _RULES:
                        self.blocks[self._at[place]] = replace(block, score=max(block.score, least), rule="")

    def hold_boxes(self) -> None:
        """Hold boxes above the heading, and doubt short ones elsewhere, until they last."""
        heads = [_heading(state, self._around.title) for state in self._sides]
        for old, new in self._gaps:
            came, found = bool(new), new or old
            state, head = self._sides[came], heads[came]
            if bool(old) == bool(new):
                continue
            above = found[-1] < head if head else not found[0]
            if not _is_box(state, found, above=above):
                continue
            is_short = sum(state.words[i] for i in found) <= _PARAGRAPH
            for i in found:
                block = self.blocks[self._at[came, i]]
                if above and self._stood(block) < LASTS:
                    held = replace(block, score=0.0, rule=_ABOVE, waits=block.came)
                    self.blocks[self._at[came, i]] = held
                elif not above and not self._running[came] and is_short:
                    self._doubt(came, i)

    def doubt_offers(self) -> None:
        """Doubt offers, and links right above the copyright line: sites show them to some visitors only."""
        feet = [_foot(state) for state in self._sides]
        visits = [(came, i) for came, i in self._at if i in feet[came]]
        for old, new in self._gaps:
            alone = not (old and new)
            visits += ((False, i) for i in _offered(self._around.before, old, alone=alone))
            visits += ((True, i) for i in _offered(self._around.now, new, alone=alone))
        for came, i in visits:
            self._doubt(came, i)

    def doubt_early(self, replaced: Sequence[Replacement]) -> None:
        for one in replaced if not self._running[1] else ():
            n = self._at[True, one.new]
            # It has waited, so it was in doubt; an early rotating text may last for some checks.
            if one.what == "words" and self.blocks[n].score and 0 < self._known.waits.get(one.key, 0) <= SURE:
                self.blocks[n] = replace(self.blocks[n], doubted=True)

    def doubt_turning(self) -> None:
        """Doubt changes in places that show a few of many texts, until all of them last."""
        for old, new in self._gaps if not any(self._running) else ():
            stood = [self._known.waits.get(self._around.now.keys[i], 0) for i in new]
            turns = self._turns(old, self._around.before) or self._turns(new, self._around.now)
            mixed = len(new) > 1 and min(stood) < SURE and max(stood) > min(stood)
            least = _TURNS if turns else SURE
            if not (turns or mixed) or (stood and min(stood) >= least):
                continue
            for n in (self._at[came, i] for came, found in ((False, old), (True, new)) for i in found):
                block = self.blocks[n]
                if not turns or block.came:
                    self.blocks[n] = replace(block, doubted=bool(block.score))
                elif stood or self._known.absent.get(block.key, 0) < _TURNS:
                    self.blocks[n] = replace(block, score=0.0, rule=_AMONG)

    def _turns(self, positions: Sequence[int], state: SettledState) -> bool:
        """Whether one of the blocks, or a near one, is a text of their kind that came and went unreported."""
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
