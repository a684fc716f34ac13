"""Pages that go back: a return is news, a rotation is not, and dwell tells them apart.

A-B-A with B untold is silence, and nothing of it comes here. With B told, A is a change again: a status, a price, a
stock goes to and fro, and each turn is what people wait for. Servers that draw one of several faces for each visitor go
back as well, but brief stays give them away: a *text* that is back after another's stay of a look or two takes turns
with it; a *value* of a few words does when it has gone back so three times within a day. What takes turns is silent
until it lasts, and has to last for longer after each further turn.
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
"""Looks that make what takes turns last: after the first turn, and twice as many after each further one."""
_MOST_TURNS = 8
_DAY = 24 * 3_600_000
_COUNTS = 0.2
_TAKEN = 0.2
"""What share of a difference comes at most where something was taken back; a face that takes its turn brings more."""


class When(Struct, frozen=True):
    """When a look was taken: its number, and milliseconds; 0 where nobody knows, then only numbers count."""

    number: int
    at: int


class Turn(Struct, frozen=True):
    """What a look is as a return: `reverted` when it goes back to what was told before, `rotates` when it takes turns.

    turns: when it went back after a brief stay, for the memory (milliseconds).
    """

    reverted: bool
    rotates: bool
    turns: tuple[int, ...]


class Exchange(Struct, frozen=True):
    """The difference to the told state. successors: of a block that went, the key of the one that came in its place."""

    blocks: Sequence[WeighedBlock]
    successors: Mapping[str, str]


def turn_of(memory: PageMemory, exchange: Exchange, stood: Mapping[str, int], state: bytes, when: When) -> Turn:
    """Return what this look is; `state` is its digest.

    stood: in how many looks before this one each block that came has stood, and each that went has been missing.
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
    # Once it takes turns, each going back is one more, however long the stay was.
    if not any(waited) and (when.number - memory.told <= BRIEF or len(turns) > most):
        turns = (*turns, when.at)[-_MOST_TURNS:]
    lasts = _LASTS << max(0, len(turns) - most - 1)
    return Turn(True, len(turns) > most and min(waited) < lasts, turns)


def _back(exchange: Exchange, went: Iterable[WeighedBlock]) -> list[WeighedBlock]:
    """Return what came in the place of all that went: it weighs nothing where it was seen before, and is back.

    The face that went may have been told with other news, in a state that was never told before.
    """
    back = {exchange.successors.get(block.key) for block in went}
    return [] if None in back else [block for block in exchange.blocks if block.came and block.key in back]


def _is_prose(blocks: Sequence[WeighedBlock]) -> bool:
    return any(words_in(block.text) >= MIDDLE for block in blocks)
