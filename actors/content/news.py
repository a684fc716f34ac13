"""What the difference between two states of a page is worth: each block that came or went, weighed, with the reason.

What was seen in an earlier look, what merely moved between blocks, what other pages of the site share and what the user
has marked as noise weighs nothing; the rest weighs what `weights` says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from actors.content.canonical import canonical
from actors.content.fingerprint import digest16
from actors.content.memory import Settled
from actors.content.noise import is_noise
from actors.content.traits import CELL
from actors.content.weights import FIGURE, LONG, NUMBER, Zone, is_fact, ticker_shape, weigh, zone_of
from actors.content.wording import words_in

_GONE = 0.6
"""What a block that went weighs beside one that came."""
_FLICKER = 0.06
"""The same for one that has been away before."""
_MOVED_LENGTH = 12
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}")
_NO_ADDRESS = "email protected"


class Side(Struct, frozen=True):
    """Blocks that are only in one of two states: their positions there, and their canonical texts."""

    positions: tuple[int, ...]
    canonicals: tuple[str, ...]


class Known(Struct, frozen=True):
    """Keys that are no news: of earlier looks, today's furniture, what the host's pages share, marked noise."""

    recent: frozenset[str] = frozenset()
    aside: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()


class Weighed(Struct, frozen=True):
    """A block that came or went, what it weighs, and why it weighs little ("" where it does not)."""

    text: str
    key: str
    came: bool
    score: float
    rule: str


def beyond(one: Settled, other: Settled) -> Side:
    """Return the blocks of one state that the other has not, counted; blocks whose text is not kept are left out."""
    left = Counter(other.keys)
    positions = []
    for i, key in enumerate(one.keys[: len(one.texts)]):
        if left[key]:
            left[key] -= 1
        else:
            positions.append(i)
    canonicals = (canonical(one.texts[i], cell=bool(one.traits[i] & CELL)) for i in positions)
    return Side(tuple(positions), tuple(canonicals))


def weighed(before: Settled, now: Settled, came: Side, went: Side, known: Known) -> list[Weighed]:
    """Return all that came and went, in the order of the page, what came first."""
    lost, found = f" {' '.join(went.canonicals)} ", f" {' '.join(came.canonicals)} "
    hidden = _NO_ADDRESS in lost or _NO_ADDRESS in found
    came_bags, went_bags = _bags(now, came, hidden), _bags(before, went, hidden)
    shuffled = set(came_bags) & set(went_bags)
    figured = _labels(came) & _labels(went)
    arrivals = _Scales(now, came, came_bags, _Across(lost, shuffled, figured), known)
    departures = _Scales(before, went, went_bags, _Across(found, shuffled, figured), known)
    told, left = frozenset(before.keys), frozenset(now.keys) | known.aside
    return [*arrivals.came(told), *departures.went(left)]


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

    def came(self, told: frozenset[str]) -> Iterator[Weighed]:
        """Weigh what came to a page of which the blocks `told` are known."""
        state, recent = self._state, self._known.recent
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            # One more copy of a text is no news but in a table, where "0" may stand in a hundred cells.
            if key in told and not trait & CELL:
                rule = "one more copy of a text that is there"
            elif key in recent and key not in told:
                rule = "seen in an earlier look"
            else:
                rule = self._idle(i, text, bag)
            score, why = (0.0, rule) if rule else self._weight(i, text)
            yield Weighed(state.texts[i], key, True, score, why)

    def went(self, left: frozenset[str]) -> Iterator[Weighed]:
        """Weigh what went from a page on which the blocks `left` are still to be found."""
        state = self._state
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            stays = key in left
            rule = "another copy is still there" if stays and not trait & CELL else self._idle(i, text, bag)
            score, why = (0.0, rule) if rule else self._weight(i, text)
            if key in self._known.recent and not stays and not rule:
                score, why = _FLICKER * score, "it has come and gone before"
            else:
                score *= _GONE
            yield Weighed(state.texts[i], key, False, score, why)

    def _weight(self, i: int, canonical_text: str) -> tuple[float, str]:
        state = self._state
        score, why = weigh(state.texts[i], canonical_text, state.traits[i], i, self._zone)
        labels = self._across.labels
        if score >= FIGURE or not labels or NUMBER.sub("0", canonical_text) not in labels:
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
        shape = ticker_shape(state.texts[i], canonical_text, state.traits[i])
        return "a line of figures that changes at every look" if shape and digest16(shape) in known.recent else ""


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
