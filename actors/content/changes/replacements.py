"""Replacements: removed blocks, each with the block that took its place.

Unchanged neighbours identify a place, never a number: the gaps between two states (patience diff over keys) provide it.
If a gap has as many blocks before as after, each has its place; elsewhere only blocks that differ in figures or dates
do. So "Operational, Outage, Operational" to three times "Operational" changes in the middle, and a new entry above a
list moves nothing.
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
"""Maximum words of a block matched by shape, in a gap with more blocks on one side."""
_MOST_SOUGHT = 200

What: TypeAlias = Literal["ids", "figures", "dates", "words"]
_ID = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{10,}"
    r"|(?=[0-9a-f]{0,40}\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{10,})\b"
)
"""A checksum, a long number, or a machine-made id; only time can tell."""


class Replacement(Struct, frozen=True):
    """A block and its replacement: positions before and now, the new key, canonical texts, and the key of the place.
    what: only long ids differ, only figures, only dates, or words.
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
    """Return a canonical text without its dates, "" if it has none."""
    dates = dates_in(canonical)
    return f"{len(dates)} {' | '.join(around(canonical, dates))}" if dates else ""


def replacements(
    before: SettledState, now: SettledState, spans: Iterable[Gap], went: dict[int, str], came: dict[int, str]
) -> Iterator[Replacement]:
    """Yield the replacements. went, came: canonical texts of blocks on only one side, by position.

    Both may lack blocks of a gap: those that moved, and are elsewhere on the other side.
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
    """Return the key of the place after the block before `i`; shaped: for figures, their `shape`."""
    left = before.keys[i - 1] if i else ""
    return digest16(f"slot {left} {shaped}")


def _what(before: str, after: str) -> What:
    if (said := dateless(before)) and said == dateless(after):
        return "dates"
    if _ID.sub("0", before) == _ID.sub("0", after):
        return "ids"
    return "figures" if shape(before) == shape(after) else "words"


def _alike(one: int, other: int) -> bool:
    """Whether two traits are of one kind of block; a row of times is a cell only while it has times."""
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
