"""Pages that go back: a return is reported, a rotation is not, and the duration tells them apart.

A-B-A with B unreported is silent and never comes here. With B reported, A is a change again: a status, a price or a
stock goes back and forth, and readers wait for each turn. Servers that pick one of several texts per visitor go back as
well, but their stays are brief. A *text* rotates if it returns after another's stay of one or two checks; a *value* of
a few words rotates after three such returns within a day. A rotating block is silent until it lasts, and must last
longer after each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from actors.content.changes.memory import PageMemory, states_in, unpack_keys
from actors.content.changes.news import WeighedBlock
from actors.content.changes.restless import BRIEF
from actors.content.changes.weights import MIDDLE
from actors.content.wording.words import words_in

_TURNS = 3
_LASTS = 4
"""Checks after which a rotating block lasts: for the first turn, doubled for each further one."""
_MOST_TURNS = 8
_DAY = 24 * 3_600_000
_COUNTS = 0.2
_TAKEN = 0.2
"""The highest share of added weight in a difference that takes something back; a rotation adds more."""


class When(Struct, frozen=True):
    """The number of a check, and its time in milliseconds; a time of 0 is unknown, and only numbers count."""

    number: int
    at: int


class Turn(Struct, frozen=True):
    """A check seen as a return. reverted: it goes back to a reported state. rotates: it is part of a rotation. turns:
    times of returns after a brief stay, for the memory (milliseconds).
    """

    reverted: bool
    rotates: bool
    turns: tuple[int, ...]


class Exchange(Struct, frozen=True):
    """The difference to the reported state. successors: the key of the replacement, by the removed block's key."""

    blocks: Sequence[WeighedBlock]
    successors: Mapping[str, str]


def turn_of(memory: PageMemory, exchange: Exchange, stood: Mapping[str, int], state: bytes, when: When) -> Turn:
    """Classify a check. state: its digest.

    stood: for each added or removed block, the number of earlier checks that had it, or missed it.
    """
    gone = frozenset(unpack_keys(memory.gone))
    counted = [block for block in exchange.blocks if block.score >= _COUNTS]
    came = [block for block in counted if block.came] or _back(exchange, counted)
    was_told = state in states_in(memory.states)[:-1]
    if not counted or not (was_told or (came and all(block.key in gone for block in came))):
        return Turn(False, False, memory.turns)
    taken = sum(block.score for block in came) < _TAKEN * sum(block.score for block in counted)
    once = not came or (taken and not memory.turns)
    most = (1 if once else 0) if _is_prose(came or counted) else _TURNS
    turns = tuple(then for then in memory.turns if not when.at or when.at - then < _DAY)
    waited = [stood.get(block.key, 0) for block in came or counted]
    # Once it rotates, each return is one more turn, however long the stay was.
    if not any(waited) and (when.number - memory.told <= BRIEF or len(turns) > most):
        turns = (*turns, when.at)[-_MOST_TURNS:]
    lasts = _LASTS << max(0, len(turns) - most - 1)
    return Turn(True, len(turns) > most and min(waited) < lasts, turns)


def _back(exchange: Exchange, went: Iterable[WeighedBlock]) -> list[WeighedBlock]:
    """Return the replacements of all removed blocks; they weigh nothing, since they were seen before and are back.

    The removed text may have been reported with other changes, in a state that is new.
    """
    back = {exchange.successors.get(block.key) for block in went}
    return [] if None in back else [block for block in exchange.blocks if block.came and block.key in back]


def _is_prose(blocks: Sequence[WeighedBlock]) -> bool:
    return any(words_in(block.text) >= MIDDLE for block in blocks)
