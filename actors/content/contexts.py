"""Where each block of a state stands: below which heading, in which row and column."""

from __future__ import annotations

from actors.content.memory import Settled
from actors.content.traits import HEADING, TOP
from storage.records.event import MOST_CONTEXT, Context

_CUT = "…"
_PERMALINK = " ¶"
"""With what many generators of documentation end a heading: a link to itself."""


def contexts_of(state: Settled) -> list[Context]:
    """Return the context of each block whose text is known.

    A heading stands below the page's own; what its level is nobody remembers. What a block says itself is left out.
    """
    contexts: list[Context] = []
    heading = top = ""
    for i, text in enumerate(state.texts):
        trait = state.traits[i] if i < len(state.traits) else 0
        above = heading
        if trait & TOP:
            heading, top, above = text, text, ""
        elif trait & HEADING:
            heading, above = text, top
        place = state.places[i] if i < len(state.places) else None
        row, column = ("", "") if place is None else place
        parts = [_fitting(part) if part != text else "" for part in (above, row, column)]
        contexts.append(Context(*parts))
    return contexts


def _fitting(text: str) -> str:
    text = text.rstrip(_PERMALINK)
    return text if len(text) <= MOST_CONTEXT else text[: MOST_CONTEXT - 1].rstrip() + _CUT
