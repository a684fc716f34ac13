"""The two sides of a difference: added blocks, removed blocks, and their traits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from actors.content.changes.memory import SettledState
from actors.content.changes.weights import LONG, NUMBER, ticker_shape
from actors.content.pages.traits import CELL
from actors.content.wording.canonical import canonical
from actors.content.wording.fingerprint import digest16
from actors.content.wording.json_text import form
from actors.content.wording.patience_diff import Gap, gaps
from actors.content.wording.words import words_in

_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}")
NO_ADDRESS = "email protected"
"""The text in place of an address hidden from robots."""


class Side(Struct, frozen=True):
    """Blocks in only one of two states: their positions there, and their canonical texts."""

    positions: tuple[int, ...]
    canonicals: tuple[str, ...]

    def by_position(self) -> dict[int, str]:
        return dict(zip(self.positions, self.canonicals, strict=True))


class Apart(Struct, frozen=True):
    """The difference of two states: blocks that came, blocks that went, and the gaps between unchanged runs.

    moved: positions, now and before, of texts that are on both sides with different owners.
    """

    came: Side
    went: Side
    spans: tuple[Gap, ...]
    moved: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())


def apart(before: SettledState, now: SettledState) -> Apart:
    """Return the added and removed blocks.

    Blocks are counted, so a moved block is neither. Of several copies, the one in a gap counts. Blocks without a stored
    text are left out.
    """
    found = tuple(gaps(before.keys[: len(before.texts)], now.keys[: len(now.texts)]))
    if not found:
        return Apart(Side((), ()), Side((), ()), ())
    old, new = Counter(before.keys), Counter(now.keys)
    came = _beyond(now, new - old, [range(gap[2], gap[3]) for gap in found])
    went = _beyond(before, old - new, [range(gap[0], gap[1]) for gap in found])
    return Apart(came, went, found)


def _beyond(one: SettledState, more: Counter[str], within: Iterable[range]) -> Side:
    """Return one side of a difference. more: the keys it has more often than the other, with the surplus."""
    moved = [i for span in within for i in span]
    positions = []
    for i in reversed(moved):
        key = one.keys[i]
        if more[key]:
            more[key] -= 1
            positions.append(i)
    return side_of(one, positions[::-1])


def side_of(state: SettledState, positions: Sequence[int]) -> Side:
    texts = ((form(state.texts[i]) if state.json else state.texts[i], state.traits[i]) for i in positions)
    canonicals = (canonical(text, cell=bool(trait & CELL)) for text, trait in texts)
    return Side(tuple(positions), tuple(canonicals))


def shapes(state: SettledState, side: Side) -> list[str]:
    """Return the keys of the shapes of blocks that are lines of figures."""
    rows = zip(side.positions, side.canonicals, strict=True)
    found = (ticker_shape(state.texts[i], text, state.traits[i]) for i, text in rows)
    return [digest16(shape) for shape in found if shape]


def labels(side: Side) -> set[str]:
    """Return the short texts that have a figure, with 0 for each."""
    found = (NUMBER.subn("0", text) for text in side.canonicals if words_in(text) <= LONG)
    return {text for text, figures in found if figures}


def bags(state: SettledState, side: Side, hidden: bool) -> list[str]:
    """Return each block's words, sorted; hidden: replace addresses by the placeholder for robots."""
    texts: Iterable[str] = side.canonicals
    if hidden:
        texts = (canonical(_ADDRESS.sub(NO_ADDRESS, state.texts[i])) for i in side.positions)
    return [" ".join(sorted(text.split())) for text in texts]
