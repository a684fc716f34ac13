"""Texts that stay on a page but get a new owner: rows exchange prices, a card moves to another column.

The owner of a cell is its row and column; of a value, the label before it; of another short text, the heading above it.
Rows, cards and sections that only change their order keep their owners.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec.structs import replace

from actors.content.changes.contexts import StateContexts
from actors.content.changes.memory import PageMemory, SettledState, placed
from actors.content.changes.sides import Apart, side_of
from actors.content.changes.weights import LETTERS, LONG
from actors.content.pages.places import BETWEEN
from actors.content.pages.traits import CELL, HEADING, LINK
from actors.content.values.availability import availability_in
from actors.content.values.currencies import has_price
from actors.content.wording.words import words_in
from storage.records.event import Op

_VALUE_WORDS = 3
_FAR = 4
"""Blocks before a value that are searched for its label."""


class _Owner(NamedTuple):
    kind: str
    parts: tuple[str, ...]


class _Owners:
    """The owners of a state's blocks."""

    def __init__(self, state: SettledState) -> None:
        self.state, self.contexts, self._counts = state, StateContexts(state), Counter(state.keys)
        self._known = {"", *state.texts, *state.keys}

    def of(self, i: int) -> _Owner:
        at = self.contexts[i]
        if at.row:
            return _Owner("cell", (at.row, at.column))
        if not self.state.traits[i] & CELL and self._is_value(i):
            near = range(i - 1, max(-1, i - 1 - _FAR), -1)
            label = next((self.state.keys[n] for n in near if not self._is_value(n)), "")
            return _Owner("label", (label,))
        return _Owner("heading" if words_in(self.state.texts[i]) < LONG else "", (at.heading,))

    def has(self, owner: _Owner) -> bool:
        """Whether an owner's words occur on this side; a reworded heading moves nothing."""
        return self._known.issuperset(part for own in owner.parts for part in own.split(BETWEEN))

    def _is_value(self, i: int) -> bool:
        text = self.state.texts[i]
        if self.state.traits[i] & HEADING or words_in(text) > _VALUE_WORDS:
            return False
        if self._counts[self.state.keys[i]] > 1 or has_price(text) or not LETTERS.search(text):
            return True
        return any(True for _ in availability_in(text.lower()))


def with_assigned(apart: Apart, memory: PageMemory, before: SettledState, now: SettledState) -> Apart:
    """Add blocks with a new owner to a difference, as removed from the old owner and added to the new one.

    before: the reported state; if it has no places, the memory supplies them.
    """
    known, spans = (frozenset(apart.went.positions), frozenset(apart.came.positions)), apart.spans
    if sum(b - a for a, b, _, _ in spans) == len(known[0]) or sum(d - c for _, _, c, d in spans) == len(known[1]):
        return apart
    # If two texts swap places, one keeps its order and falls between the gaps.
    ranges = range(spans[0][0], spans[-1][1]), range(spans[0][2], spans[-1][3])
    sides = _Owners(before if before.places else placed(memory)), _Owners(now)
    owned = [
        {i: side.of(i) for i in span if i not in aside and not side.state.traits[i] & HEADING}
        for side, span, aside in zip(sides, ranges, known, strict=True)
    ]
    if any(known):
        # In lists of headlines, new ones push the old ones down.
        for side, owners in zip(sides, owned, strict=True):
            for i in [i for i, owner in owners.items() if owner.kind == "heading" and side.state.traits[i] & LINK]:
                del owners[i]
    went, came = _beyond(owned[0], owned[1], sides), _beyond(owned[1], owned[0], sides[::-1])
    if not went or not came:
        return apart
    return replace(
        apart,
        went=side_of(sides[0].state, sorted((*apart.went.positions, *went))),
        came=side_of(now, sorted((*apart.came.positions, *came))),
        moved=(frozenset(came), frozenset(went)),
    )


def _beyond(own: dict[int, _Owner], others: dict[int, _Owner], sides: tuple[_Owners, _Owners]) -> list[int]:
    """Return the blocks that have another owner on the other side, if their own owner exists there too.

    A label without a value there only moved.
    """
    keys = sides[1].state.keys
    left = Counter((keys[i], owner) for i, owner in others.items())
    there = {keys[i]: owner.kind for i, owner in others.items()}
    taken = frozenset(others.values())
    found = []
    for i, owner in own.items():
        key = sides[0].state.keys[i]
        if left[key, owner]:
            left[key, owner] -= 1
        elif (
            owner.kind
            and there.get(key) == owner.kind
            and (owner in taken if owner.kind == "label" else sides[1].has(owner))
        ):
            found.append(i)
    return found


def steps_of(before: SettledState, after: SettledState, apart: Apart) -> tuple[Op, ...]:
    """Return the visible steps of moved texts: a cell's or label's old and new text, or an insertion and a deletion."""
    came, went = apart.moved
    now, was = _Owners(after), _Owners(before)
    left = {i: was.of(i) for i in sorted(went)}
    steps = []
    for i in sorted(came):
        owner = now.of(i)
        old = next((n for n, other in left.items() if other == owner and owner.kind != "heading"), None)
        if old is None:
            steps.append(Op("insert", i, text=after.texts[i], context=now.contexts[i]))
        else:
            del left[old]
            steps.append(Op("replace", i, before=before.texts[old], after=after.texts[i], context=now.contexts[i]))
    return (*steps, *(Op("delete", i, text=before.texts[i], context=was.contexts[i]) for i in left))
