"""What the difference between two states of a page is worth: each block that came or went, weighed, with the reason.

What was seen in an earlier look, what merely moved between blocks, what other pages of the site share and what the user
has marked as noise weighs nothing; the rest weighs what `weights` says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from actors.content.canonical import canonical
from actors.content.diff import Gap, gaps
from actors.content.fingerprint import digest16
from actors.content.memory import Settled
from actors.content.noise import is_noise
from actors.content.places import Replacement, replacements, shape
from actors.content.restless import FIGURES, TEXTS
from actors.content.traits import CELL, HEADING, ITEM, LINK
from actors.content.weights import FIGURE, LABEL, LONG, NUMBER, Zone, is_fact, is_value, ticker_shape, weigh, zone_of
from actors.content.wording import words_in

_GONE = 0.6
"""What a block that went weighs beside one that came."""
_FLICKER = 0.06
"""The same for one that has been away before."""
ENTRY = 0.5
"""What an item of a list weighs outside of text pages whatever its words, and any block that lasts there."""
LASTS = 2
"""Looks after the first from which what is light, or has come and gone before, counts."""
_LEAST = 0.1
_ROW = 3
_MOVED_LENGTH = 12
SEEN = "seen in an earlier look"
COPY, COPIES = "one more copy of a text that is there", "another copy is still there"
_LIGHT = frozenset({"", LABEL, COPY, COPIES})
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}")
_NO_ADDRESS = "email protected"


class Side(Struct, frozen=True):
    """Blocks that are only in one of two states: their positions there, and their canonical texts."""

    positions: tuple[int, ...]
    canonicals: tuple[str, ...]

    def by_position(self) -> dict[int, str]:
        """Return the canonical texts by their positions."""
        return dict(zip(self.positions, self.canonicals, strict=True))


class Apart(Struct, frozen=True):
    """What two states have not in common: what came, what went, and the gaps between what stayed in its order."""

    came: Side
    went: Side
    spans: tuple[Gap, ...]


class Known(Struct, frozen=True):
    """What is known of keys and places that is no news.

    Keys of earlier looks, of today's furniture, of what the host's pages share, and of marked noise; places whose block
    changes at nearly every look (`restless`). waits: in how many looks before this one each block that came has stood.
    """

    recent: frozenset[str] = frozenset()
    aside: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    restless: Mapping[str, int] = {}
    waits: Mapping[str, int] = {}
    chosen: bool = False
    """The user has chosen so few blocks that each of them is content."""


class Weighed(Struct, frozen=True):
    """A block that came or went, what it weighs, and why it weighs little ("" where it does not).

    waits: it may weigh more when it stays.
    """

    text: str
    key: str
    came: bool
    score: float
    rule: str
    waits: bool = False


class Difference(Struct, frozen=True):
    """All that came and went, weighed, in the order of the page, what came first; and what was replaced in place."""

    blocks: tuple[Weighed, ...]
    replaced: tuple[Replacement, ...]


def apart(before: Settled, now: Settled) -> Apart:
    """Return what came and what went.

    Blocks are counted, so what only moved neither came nor went. Of several copies the one in a gap did. Blocks whose
    text is not kept are left out.
    """
    found = tuple(gaps(before.keys[: len(before.texts)], now.keys[: len(now.texts)]))
    came = _beyond(now, before, [range(gap[2], gap[3]) for gap in found])
    went = _beyond(before, now, [range(gap[0], gap[1]) for gap in found])
    return Apart(came, went, found)


def _beyond(one: Settled, other: Settled, within: Iterable[range]) -> Side:
    moved = [i for span in within for i in span]
    left = Counter(other.keys)
    left.subtract(one.keys)
    positions = []
    for i in reversed(moved):
        if left[one.keys[i]] < 0:
            left[one.keys[i]] += 1
            positions.append(i)
    positions.reverse()
    canonicals = (canonical(one.texts[i], cell=bool(one.traits[i] & CELL)) for i in positions)
    return Side(tuple(positions), tuple(canonicals))


def weighed(before: Settled, now: Settled, apart: Apart, known: Known) -> Difference:
    """Return what the difference of two states is worth."""
    came, went, spans = apart.came, apart.went, apart.spans
    lost, found = f" {' '.join(went.canonicals)} ", f" {' '.join(came.canonicals)} "
    hidden = _NO_ADDRESS in lost or _NO_ADDRESS in found
    came_bags, went_bags = _bags(now, came, hidden), _bags(before, went, hidden)
    shuffled = set(came_bags) & set(went_bags)
    figured = _labels(came) & _labels(went)
    replaced = tuple(replacements(before, now, spans, went.by_position(), came.by_position()))
    arrivals = _Scales(now, came, came_bags, _Across(lost, shuffled, figured), known)
    departures = _Scales(before, went, went_bags, _Across(found, shuffled, figured), known)
    told, left = frozenset(before.keys), frozenset(now.keys) | known.aside
    arrived = arrivals.came(told, {one.new for one in replaced if one.figures})
    departed = departures.went(left, {one.old for one in replaced if one.figures})
    for one in replaced:
        if one.new in arrived and one.old in departed:
            pair = arrived[one.new], departed[one.old]
            arrived[one.new], departed[one.old] = _in_place(one, pair, (arrivals, departures), known)
    return Difference((*arrived.values(), *departed.values()), replaced)


def _in_place(
    one: Replacement, pair: tuple[Weighed, Weighed], scales: tuple[_Scales, _Scales], known: Known
) -> tuple[Weighed, Weighed]:
    """Weigh a block and what it replaced together: a label that gives way to another in its place changes a value."""
    new, old = pair
    stood = known.waits.get(new.key, 0)
    if known.restless.get(one.slot, 0) >= (FIGURES if one.figures else TEXTS) and stood < LASTS:
        rule = "a figure that changes by itself" if one.figures else "this place changes at nearly every look"
        return replace(new, score=0.0, rule=rule), replace(old, score=0.0, rule=rule)
    if new.rule not in _LIGHT or old.rule not in _LIGHT or new.score >= FIGURE:
        return pair
    is_label = scales[0].is_value(one.new, one.after) and scales[1].is_value(one.old, one.before)
    if not is_label:
        return pair
    if one.figures and stood < 1:
        rule = "a figure that may be a counter, until it stays"
        return replace(new, rule=rule, waits=True), replace(old, rule=rule)
    return replace(new, score=FIGURE, rule=""), replace(old, score=_GONE * FIGURE, rule="")


class _Across(Struct, frozen=True):
    """What the other side of a difference has: its words in their order, and what both sides have: bags of words, and
    labels that differ in figures only."""

    words: str
    bags: set[str]
    labels: set[str]


class _Scales:
    """One side of a difference on the scales."""

    def __init__(self, state: Settled, side: Side, bags: Sequence[str], across: _Across, known: Known) -> None:
        self._state, self._rows = state, list(zip(side.positions, side.canonicals, bags, strict=True))
        self._across, self._known = across, known
        self._zone: Zone = zone_of(state.texts, state.traits)
        self._entries = frozenset() if self._zone.text else _entries(state)

    def is_value(self, i: int, canonical_text: str) -> bool:
        """Return whether a block may be a value: see `weights.is_value`."""
        return is_value(canonical_text, self._state.traits[i], i, self._zone)

    def came(self, told: frozenset[str], figures: Collection[int]) -> dict[int, Weighed]:
        """Weigh what came to a page of which the blocks `told` are known, by position.

        At the positions `figures` a block has another in its place of which only figures differ: that is no entry.
        """
        state, recent = self._state, self._known.recent
        rows = {}
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            stood = self._known.waits.get(key, 0)
            # One more copy of a text is no news but in a table, where "0" may stand in a hundred cells.
            if key in told and not trait & CELL:
                rule = COPY
            elif key in recent and key not in told and stood < LASTS:
                rule = SEEN
            else:
                rule = self._idle(i, text, bag)
            score, why = (0.0, rule) if rule else self._weight(i, text, entry=i not in figures)
            # What lasts is news; on a text page that would tell the foot's version at each release.
            waits = bool(why) and not self._zone.text and (rule == SEEN or _LEAST <= score < ENTRY)
            if waits and stood >= LASTS and rule != SEEN:
                score, why = ENTRY, ""
            rows[i] = Weighed(state.texts[i], key, True, score, why, waits and stood < LASTS)
        return rows

    def went(self, left: frozenset[str], figures: Collection[int]) -> dict[int, Weighed]:
        """Weigh what went from a page on which the blocks `left` are still to be found, by position."""
        state = self._state
        rows = {}
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            stays = key in left
            rule = COPIES if stays and not trait & CELL else self._idle(i, text, bag)
            score, why = (0.0, rule) if rule else self._weight(i, text, entry=i not in figures)
            if key in self._known.recent and not stays and not rule:
                score, why = _FLICKER * score, "it has come and gone before"
            elif i not in self._entries:
                score *= _GONE
            rows[i] = Weighed(state.texts[i], key, False, score, why)
        return rows

    def _weight(self, i: int, canonical_text: str, *, entry: bool) -> tuple[float, str]:
        state = self._state
        score, why = weigh(state.texts[i], canonical_text, state.traits[i], i, self._zone)
        if score and self._known.chosen:
            return max(score, ENTRY), ""
        if entry and i in self._entries and 0.05 < score < ENTRY:
            return ENTRY, ""
        labels = self._across.labels
        if score >= FIGURE or not labels or shape(canonical_text) not in labels:
            return score, why
        return (FIGURE, "") if is_fact(canonical_text, state.traits[i], i, self._zone) else (score, why)

    def _idle(self, i: int, canonical_text: str, bag: str) -> str:
        """Return why a block is no news whichever way it went, "" when it may be."""
        state, known = self._state, self._known
        if known.noise and is_noise(state.texts[i], canonical_text, state.keys[i], known.noise):
            return "marked as noise"
        if len(canonical_text) > _MOVED_LENGTH and f" {canonical_text} " in self._across.words:
            return "moved: its words stand together elsewhere"
        if bag in self._across.bags:
            return "moved: the same words in another order"
        if state.keys[i] in known.shared:
            return "shared by other pages of this site"
        shaped = ticker_shape(state.texts[i], canonical_text, state.traits[i])
        return "a line of figures that changes at every look" if shaped and digest16(shaped) in known.recent else ""


def _entries(state: Settled) -> frozenset[int]:
    """Return the positions of entries: items of lists, and linked blocks of one kind in rows of three and more."""
    found: set[int] = set()
    kinds = (trait & (ITEM | LINK | HEADING | CELL) for trait in state.traits)
    start = 0
    for kind, run in groupby(kinds):
        end = start + sum(1 for _ in run)
        if kind & ITEM or (kind & LINK and end - start >= _ROW):
            found.update(range(start, end))
        start = end
    return frozenset(found)


def shapes(state: Settled, side: Side) -> list[str]:
    """Return the keys of the shapes of those blocks that are lines of figures."""
    rows = zip(side.positions, side.canonicals, strict=True)
    found = (ticker_shape(state.texts[i], text, state.traits[i]) for i, text in rows)
    return [digest16(shape) for shape in found if shape]


def _labels(side: Side) -> set[str]:
    """Return the short texts that have a figure, with 0 for each."""
    found = (NUMBER.subn("0", text) for text in side.canonicals if words_in(text) <= LONG)
    return {text for text, figures in found if figures}


def _bags(state: Settled, side: Side, hidden: bool) -> list[str]:
    """Return each block's words in no order; with `hidden`, addresses as what hides them from robots."""
    texts: Iterable[str] = side.canonicals
    if hidden:
        texts = (canonical(_ADDRESS.sub(_NO_ADDRESS, state.texts[i])) for i in side.positions)
    return [" ".join(sorted(text.split())) for text in texts]
