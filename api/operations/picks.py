"""Picking a part of a watched page. Each selection is also tried on the page's stored versions."""

from __future__ import annotations

from msgspec.structs import replace

from actors.previews import PastChange, PastPage, Picked, PickWish
from api.operations import sources
from api.operations.context import OperationContext
from api.operations.versions import told_changes
from storage.records.identity import Millis
from storage.records.source import Source

MOST_TRIED = 10
"""Earlier versions that a selection is tried on."""


async def of_source(call: OperationContext, source: Source, wish: PickWish) -> Picked:
    """Show the blocks of a watched page to choose from. Raises as `sources.preview` does, StorageError."""
    past = None if wish.press is None else await past_of(call, source)
    return await sources.pick_from_source(call, source.id, replace(wish, past=past))


async def past_of(call: OperationContext, source: Source) -> PastPage | None:
    """Return the stored versions of a page, or None without any. Raises NotFound, StorageError."""
    told = await sources.told_page(call, source.id, values=True)
    if told is None or told.more:
        return None
    first = Millis(max(source.created_at, told.standing.began))  # earlier reports were about another part of the page
    changes = [one for one in (await told_changes(call, source.id, MOST_TRIED + 1))[0] if one[0] >= first]
    began = [at for at, _ in changes[1:]] + [first]
    found = [PastChange(at, event.delta) for at, (_, event) in zip(began, changes, strict=False) if event.delta]
    return PastPage(tuple(block.text for block in told.blocks), tuple(found[:MOST_TRIED])) if found else None
