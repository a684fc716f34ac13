"""The page as it was last told: what a watched page says now, but for what is not told yet. Read from storage."""

from __future__ import annotations

from typing import NamedTuple

from actors.content.changes.memory import decode_memory, placed
from actors.content.pages.traits import ASIDE, HEADING, ITEM
from api.operations.context import OperationContext
from storage.records import note
from storage.records.identity import SourceId


class ToldBlock(NamedTuple):
    """A text of the page. row, column: where it stands in a table. aside: it is furniture, or a control."""

    text: str
    heading: bool
    item: bool
    aside: bool
    row: str
    column: str


class ToldPage(NamedTuple):
    """The blocks in the order of the page. more: how many are remembered by their keys only. untold: how many came or
    went since and were not told."""

    blocks: tuple[ToldBlock, ...]
    more: int
    untold: int


async def told_page(call: OperationContext, source: SourceId) -> ToldPage | None:
    """Return a page as it was last told; None where none has been read yet, and for what is no page."""
    stored = await call.context.storage.sources.get(source)
    if stored is None or stored.source.type != "html":
        return None
    memory = decode_memory(note.opened(stored.base).tier) if stored.base else None
    if memory is None:
        return None
    state = placed(memory)
    places = state.places + (None,) * (len(state.texts) - len(state.places))
    blocks = tuple(
        ToldBlock(text, bool(trait & HEADING), bool(trait & ITEM), bool(trait & ASIDE), *(place or ("", "")))
        for text, trait, place in zip(state.texts, state.traits, places, strict=False)
    )
    return ToldPage(blocks, len(state.keys) - len(state.texts), len(memory.since) + len(memory.absent))
