"""Reasons why a check did not report a block, in a user's words: for the trail and for "why didn't I get this?"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from actors.content.changes.memory import SettledState
from actors.content.changes.news import WeighedBlock
from actors.content.messages.requests import Withheld
from actors.content.pages.furniture import words_of
from actors.content.pages.traits import CELL, FURNITURE
from actors.content.wording.canonical import canonical
from actors.content.wording.canonical import key as canonical_key
from actors.content.wording.json_text import form

MOST = 24
LONGEST = 200
_COUNTED = 0.2
"""A lighter block hardly contributes to a reported change."""
_MASK = re.compile(r"⟨(\w+)⟩")
MADE = "only members differ that are made anew at each check, or may be until they stay"
_SPELLING = "only its spelling or punctuation differs"
_MASKED = {
    "stamp": "when the page was made",
    "copyright": "a copyright year",
    "ago": "how long ago",
    "server": "a server's or a request's id",
    "took": "how long the page took",
    "when": "a date with a time of day",
    "clock": "a time of day",
    "count": "a counter",
    "degrees": "a temperature",
}


def of_blocks(blocks: Iterable[WeighedBlock], *, told: bool, instead: str = "") -> list[Withheld]:
    """Return the unreported blocks of a difference, heaviest first; if it was `told`, the ones that hardly counted.

    instead: a reason for the whole check, if there is one.
    """
    rows = [block for block in blocks if not told or block.score < _COUNTED]
    rows.sort(key=lambda block: (-block.score, -len(block.text)))
    return [
        Withheld(b.text[:LONGEST], instead or b.rule or "too little to tell", b.key, b.came, round(b.score, 3))
        for b in rows[:MOST]
    ]


def counted(blocks: Iterable[WeighedBlock]) -> tuple[Withheld, ...]:
    """Return the blocks that caused the report, heaviest first."""
    rows = sorted((block for block in blocks if block.score >= _COUNTED), key=lambda block: -block.score)
    return tuple(Withheld(b.text[:LONGEST], "", b.key, b.came, round(b.score, 3)) for b in rows[:MOST])


def masked(before: SettledState, now: SettledState) -> Iterator[Withheld]:
    """Yield the blocks whose wording changed but not their key: only masked parts differ."""
    worded, known = frozenset(before.texts), frozenset(before.keys[: len(before.texts)])
    for text, key, trait in zip(now.texts, now.keys, now.traits, strict=True):
        if text not in worded and key in known:
            names = _MASK.findall(canonical(text, cell=bool(trait & CELL)))
            what = " and ".join(dict.fromkeys(_MASKED[name] for name in names if name in _MASKED))
            rule = f"only what changes by itself differs: {what}" if what else _SPELLING
            if now.json and canonical_key(form(text), cell=True) != key:
                rule = MADE
            yield Withheld(text[:LONGEST], rule, key, came=True)


def furniture(
    texts: Sequence[str], keys: Sequence[str], traits: Sequence[int], known: Collection[str]
) -> Iterator[Withheld]:
    """Yield the furniture blocks that no earlier check had."""
    for text, key, trait in zip(texts, keys, traits, strict=True):
        if trait & FURNITURE and key not in known:
            sign = words_of(trait)
            yield Withheld(text[:LONGEST], f"furniture: {sign}" if sign else "furniture", key, came=True)


def capped(first: Sequence[Withheld], *others: Iterator[Withheld]) -> tuple[Withheld, ...]:
    """Return at most `MOST` rows."""
    rows = list(first[:MOST])
    for rest in others:
        rows += islice(rest, MOST - len(rows))
    return tuple(rows)
