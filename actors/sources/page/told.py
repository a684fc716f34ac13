"""The last reported state of a page, from its memory: its texts and values."""

from __future__ import annotations

import msgspec

from actors.content.changes.memory import decode_memory, placed
from actors.content.messages.requests import StandingRequest
from actors.content.pages.traits import ASIDE, HEADING, ITEM
from actors.egress.failures import LookFailed
from actors.errors import Overloaded
from actors.messages.views import ToldBlock, ToldPage
from actors.sources.looks.reading import in_jail
from actors.world import Jail
from storage.records.source import Source
from storage.records.value import StandingValues


def told_page(base: bytes) -> ToldPage | None:
    """Return the texts in a page's memory; None if it can't be read."""
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


async def standing_values(jail: Jail, source: Source, base: bytes) -> StandingValues:
    """Return the values in a page's memory. A worker reads them, as the texts are untrusted.

    Raises Overloaded.
    """
    request = StandingRequest(base, exact="json" in source.detection.format)
    try:
        answer = await in_jail(jail, "standing_values", msgspec.msgpack.encode(request))
    except LookFailed as failure:
        raise Overloaded(f"the values could not be read: {failure.reason}") from None
    return msgspec.msgpack.decode(answer, type=StandingValues)
