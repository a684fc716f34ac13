"""Earlier versions of a document as stored: the newest texts, and the changes that led there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from actors.content.changes.diff import DiffContexts, compare
from actors.content.pages.blocks import Blocks
from actors.content.pages.page import blocks_in, open_page
from extras.picking.records import PastChange, PastPage
from storage.records.event import Context
from storage.records.identity import Millis

DAY = 86_400_000


def past_of(*bodies: bytes) -> PastPage:
    """Return the stored form of versions, oldest first; each began on its own day, the oldest on day 1."""
    versions = [blocks_in(open_page(body, "", None, ())) for body in bodies]
    changes = [
        PastChange(
            Millis(day * DAY), compare(before.texts, after.texts, DiffContexts(where_of(before), where_of(after)))[1]
        )
        for day, (before, after) in enumerate(pairwise(versions), 1)
    ]
    return PastPage(versions[-1].texts, tuple(changes[::-1]))


def where_of(blocks: Blocks) -> Sequence[Context]:
    """Return the place of each block as an event gives it."""
    return [Context(row=place.row, column=place.column) if place else Context() for place in blocks.places]
