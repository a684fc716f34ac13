"""Replacements: blocks that went, each with the block that came where it was.

A place is known by what stands around it and did not change, never by a number: the gaps between two states (patience
diff over keys) give it. In a gap with as many blocks before as after each has its place; elsewhere only blocks that
differ in figures or dates do. So "Operational, Outage, Operational" to three times "Operational" has its change in the
middle, and a new entry above a list moves nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from actors.content.changes.memory import SettledState
from actors.content.changes.weights import SIGNED
from actors.content.pages.traits import CELL
from actors.content.wording.dates import around, dates_in
from actors.content.wording.fingerprint import digest16
from actors.content.wording.patience_diff import Gap
from actors.content.wording.words import words_in

LONGEST_GAP = 4
_LONGEST_SHAPE = 40
"""Words of a block that is sought by its shape where a gap has more blocks on one side."""
_MOST_SOUGHT = 200

What: TypeAlias = Literal["ids", "figures", "dates", "words"]
_ID = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{10,}"
    r"|(?=[0-9a-f]{0,40}\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{10,})\b"
)
"""A checksum, a number of any length, or made by a machine at each check: only time tells which."""


class Replacement(Struct, frozen=True):
    """A block and what came in its place: positions before and now, the key of what came, canonical texts, and the key
    of the place. what: only long ids differ, only its figures, only its dates, or its words.
    """

    old: int
    new: int
    key: str
    before: str
    after: str
    slot: str
    what: What


def shape(canonical: str) -> str:
    """Return a canonical text with 0 for each figure, whatever its sign."""
    return SIGNED.sub("0", _ID.sub("0", canonical))


def dateless(canonical: str) -> str:
    """Return a canonical text without its dates, "" where it has none."""
    dates = dates_in(canonical)
    return f"{len(dates)} {' | '.join(around(canonical, dates))}" if dates else ""


def replacements(
    before: SettledState, now: SettledState, spans: Iterable[Gap], went: dict[int, str], came: dict[int, str]
) -> Iterator[Replacement]:
    """Yield what was replaced. `went` and `came` are canonical texts of what is only in one of the two, by position.

    Both may lack blocks that a gap has: those that moved, and stand elsewhere on the other side.
    """
    for a, b, c, d in spans:
        old = [i for i in range(a, b) if i in went]
        new = [j for j in range(c, d) if j in came]
        if not old or not new:
            continue
        for i, j in _paired(_Gap(before, now, went, came), old, new):
            what = _what(went[i], came[j])
            slot = slot_of(before, i, shape(came[j]) if what in {"ids", "figures"} else "")
            yield Replacement(i, j, now.keys[j], went[i], came[j], slot, what)


def slot_of(before: SettledState, i: int, shaped: str = "") -> str:
    """Return the key of the place behind the block that stands before block `i`, of figures with their `shape`."""
    left = before.keys[i - 1] if i else ""
    return digest16(f"slot {left} {shaped}")


def _what(before: str, after: str) -> What:
    if (said := dateless(before)) and said == dateless(after):
        return "dates"
    if _ID.sub("0", before) == _ID.sub("0", after):
        return "ids"
    return "figures" if shape(before) == shape(after) else "words"


def _alike(one: int, other: int) -> bool:
    """Return whether two traits are those of one kind of block; a row of times is a cell only while it has times."""
    return one | CELL == other | CELL


class _Gap(Struct, frozen=True):
    before: SettledState
    now: SettledState
    went: dict[int, str]
    came: dict[int, str]


def _paired(gap: _Gap, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
    before, now = gap.before.traits, gap.now.traits
    if len(old) == len(new) <= LONGEST_GAP:
        yield from (pair for pair in zip(old, new, strict=True) if _alike(before[pair[0]], now[pair[1]]))
        return
    alike: dict[tuple[str, int], deque[int]] = defaultdict(deque)
    for i in old[:_MOST_SOUGHT]:
        if words_in(gap.went[i]) <= _LONGEST_SHAPE:
            alike[dateless(gap.went[i]) or shape(gap.went[i]), before[i]].append(i)
    for j in new[:_MOST_SOUGHT]:
        if found := alike.get((dateless(gap.came[j]) or shape(gap.came[j]), now[j])):
            yield found.popleft(), j
