"""A page as it was last told, out of its memory."""

from __future__ import annotations

from actors.content.changes.memory import decode_memory, placed
from actors.content.pages.traits import ASIDE, HEADING, ITEM
from actors.messages.views import ToldBlock, ToldPage


def told_page(base: bytes) -> ToldPage | None:
    """Return what a page's memory holds of its texts; None for a memory that cannot be read."""
    memory = decode_memory(base)
    if memory is None:
        return None
    state = placed(memory)
    places = state.places + (None,) * (len(state.texts) - len(state.places))
    blocks = tuple(
        ToldBlock(text, bool(trait & HEADING), bool(trait & ITEM), bool(trait & ASIDE), *(place or ("", "")))
        for text, trait, place in zip(state.texts, state.traits, places, strict=False)
    )
    return ToldPage(blocks, len(state.keys) - len(state.texts), len(memory.since) + len(memory.absent))
