"""The place of a text in a page's memory and in its current body: answers "why didn't I get this?"."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from actors.content.bodies.text import normalise
from actors.content.changes.memory import decode_memory, settled_of, unpack_keys
from actors.content.errors import ContentError
from actors.content.messages.requests import Findings, FindRequest, Spot
from actors.content.pages.furniture import words_of
from actors.content.pages.page import blocks_in, open_page, read_tree, reading_of
from actors.content.pages.traits import FURNITURE
from actors.content.wording.canonical import key
from actors.content.wording.searching import folded, holds


def find_text(asked: FindRequest) -> Findings:
    """Find a text; case, accents and white space do not matter."""
    wanted = folded(asked.text)
    told, cut = _remembered(asked.memory, wanted)
    if asked.body is None:
        return Findings(told=told, cut=cut)
    try:
        now, elsewhere, trouble = _today(asked, asked.body, wanted)
    except ContentError as error:
        return Findings(told=told, cut=cut, trouble=str(error))
    return Findings(told, _compared(asked.memory, now), elsewhere, cut, trouble)


def _remembered(stored: bytes | None, wanted: str) -> tuple[Spot | None, bool]:
    memory = decode_memory(stored) if stored else None
    if memory is None:
        return None, False
    told = settled_of(memory)
    return _spot(told.texts, (), wanted), len(told.texts) < len(told.keys)


def _compared(stored: bytes | None, now: Spot | None) -> Spot | None:
    """Add to a current block whether the memory knows it."""
    memory = decode_memory(stored) if stored else None
    if memory is None or now is None:
        return now
    keys = {key(now.text, cell=cell) for cell in (False, True)}
    if not keys.isdisjoint(unpack_keys(memory.keys)):
        return replace(now, known="same")
    untold = (*unpack_keys(memory.recent), *unpack_keys(memory.pending))
    return replace(now, known="seen") if not keys.isdisjoint(untold) else now


def _spot(texts: Sequence[str], traits: Sequence[int], wanted: str) -> Spot | None:
    """Return the first block with the text; content comes before furniture."""
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
    root, whole = read_tree(body, asked.content_type, None, ())
    elsewhere = _spot(whole.texts, whole.traits, wanted)
    stand_in = reading_of(root, whole, "", narrowed=False).trouble
    trouble = None if stand_in is None else str(stand_in)
    if not narrowed:
        return elsewhere, None, trouble
    part = open_page(body, asked.content_type, asked.selector, asked.ignore)
    if part.empty:
        return None, elsewhere, "The selector matches nothing now."
    blocks = blocks_in(part)
    return _spot(blocks.texts, blocks.traits, wanted), elsewhere, None
