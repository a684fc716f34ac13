"""Answers to "why didn't I get this?": the place of a text in a page, and the reasons why a check did not report it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from actors.content.bodies.text import normalise
from actors.content.changes.memory import PageMemory, SettledState, decode_memory, settled_of, unpack_keys
from actors.content.changes.news import WeighedBlock
from actors.content.errors import ContentError
from actors.content.messages.requests import LONGEST_TEXT, Findings, FindRequest, Spot, Withheld
from actors.content.pages.page import blocks_in, open_page, reading_of
from actors.content.pages.traits import CELL, FURNITURE, words_of
from actors.content.wording.canonical import canonical, key
from actors.content.wording.json_text import form
from actors.content.wording.words import folded, holds

MOST = 24
_COUNTED = 0.2
"""A lighter block hardly contributes to a reported change."""
_MASK = re.compile(r"⟨(\w+)⟩")
MADE = "only ids or times differ that change, or may change, at each check"
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
    """Return a difference's unreported blocks, heaviest first; if `told`, the ones that hardly counted."""
    rows = [block for block in blocks if not told or block.score < _COUNTED]
    rows.sort(key=lambda block: (-block.score, -len(block.text)))
    return [
        Withheld(b.text[:LONGEST_TEXT], instead or b.rule or "too small to report", b.key, b.came, round(b.score, 3))
        for b in rows[:MOST]
    ]


def counted(blocks: Iterable[WeighedBlock]) -> tuple[Withheld, ...]:
    rows = sorted((block for block in blocks if block.score >= _COUNTED), key=lambda block: -block.score)
    return tuple(Withheld(b.text[:LONGEST_TEXT], "", b.key, b.came, round(b.score, 3)) for b in rows[:MOST])


def masked(before: SettledState, now: SettledState) -> Iterator[Withheld]:
    """Yield the blocks whose wording changed but not their key: only masked parts differ."""
    worded, known = frozenset(before.texts), frozenset(before.keys[: len(before.texts)])
    for text, known_as, trait in zip(now.texts, now.keys, now.traits, strict=True):
        if text not in worded and known_as in known:
            names = _MASK.findall(canonical(text, cell=bool(trait & CELL)))
            what = " and ".join(dict.fromkeys(_MASKED[name] for name in names if name in _MASKED))
            rule = f"only what changes by itself differs: {what}" if what else _SPELLING
            if now.json and key(form(text), cell=True) != known_as:
                rule = MADE
            yield Withheld(text[:LONGEST_TEXT], rule, known_as, came=True)


def furniture(
    texts: Sequence[str], keys: Sequence[str], traits: Sequence[int], known: Collection[str]
) -> Iterator[Withheld]:
    for text, known_as, trait in zip(texts, keys, traits, strict=True):
        if trait & FURNITURE and known_as not in known:
            yield Withheld(text[:LONGEST_TEXT], _aside(trait), known_as, came=True)


def capped(first: Sequence[Withheld], *others: Iterator[Withheld]) -> tuple[Withheld, ...]:
    rows = list(first[:MOST])
    for rest in others:
        rows += islice(rest, MOST - len(rows))
    return tuple(rows)


def find_text(asked: FindRequest) -> Findings:
    """Find a text; case, accents and white space do not matter."""
    wanted = folded(asked.text)
    memory = decode_memory(asked.memory) if asked.memory else None
    told, cut = None, False
    if memory is not None:
        state = settled_of(memory)
        told, cut = _spot(state.texts, (), wanted), len(state.texts) < len(state.keys)
    if asked.body is None:
        return Findings(told=told, cut=cut)
    try:
        now, elsewhere, trouble = _today(asked, asked.body, wanted)
    except ContentError as error:
        return Findings(told=told, cut=cut, trouble=str(error))
    if memory is not None and now is not None:
        now = _compared(memory, now)
    return Findings(told, now, elsewhere, cut, trouble)


def _compared(memory: PageMemory, now: Spot) -> Spot:
    keys = {key(now.text, cell=cell) for cell in (False, True)}
    if not keys.isdisjoint(unpack_keys(memory.keys)):
        return replace(now, known="same")
    untold = (*unpack_keys(memory.recent), *unpack_keys(memory.pending))
    return replace(now, known="seen") if not keys.isdisjoint(untold) else now


def _spot(texts: Sequence[str], traits: Sequence[int], wanted: str) -> Spot | None:
    found: Spot | None = None
    for place, text in enumerate(texts, 1):
        if not holds(text, wanted):
            continue
        trait = traits[place - 1] if traits else 0
        spot = Spot(place, normalise(text), _aside(trait))
        if not spot.aside:
            return spot
        found = found or spot
    return found


def _aside(trait: int) -> str:
    if not trait & FURNITURE:
        return ""
    sign = words_of(trait)
    return f"furniture: {sign}" if sign else "furniture"


def _today(asked: FindRequest, body: bytes, wanted: str) -> tuple[Spot | None, Spot | None, str | None]:
    """Return the text's place in the watched part and in the rest, and the page's trouble."""
    narrowed = asked.selector is not None or bool(asked.ignore)
    page = open_page(body, asked.content_type, None, ())
    whole = blocks_in(page)
    elsewhere = _spot(whole.texts, whole.traits, wanted)
    stand_in = reading_of(page.root, whole, narrowed=False).trouble
    trouble = None if stand_in is None else str(stand_in)
    if not narrowed:
        return elsewhere, None, trouble
    part = open_page(body, asked.content_type, asked.selector, asked.ignore)
    if part.empty:
        return None, elsewhere, "The selector matches nothing now."
    blocks = blocks_in(part)
    return _spot(blocks.texts, blocks.traits, wanted), elsewhere, None
