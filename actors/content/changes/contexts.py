"""The place of each block of a state: its heading, row and column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

from actors.content.changes.memory import SettledState
from actors.content.pages.traits import HEADING, TOP
from storage.records.event import MOST_CONTEXT, Context

_CUT = "…"
_PERMALINK = " ¶"
"""The suffix many documentation generators give a heading: a link to itself."""


class StateContexts(Sequence[Context]):
    """The context of each block with known text, made on demand: a difference needs few.

    A heading is placed below the page's main one, since its level is not stored. The block's own text is left out.
    """

    def __init__(self, state: SettledState) -> None:
        self._state = state
        traits = state.traits[: len(state.texts)]
        self._headings = [i for i, trait in enumerate(traits) if trait & (HEADING | TOP)]
        self._tops = [i for i in self._headings if traits[i] & TOP]

    def __len__(self) -> int:
        return len(self._state.texts)

    @overload
    def __getitem__(self, at: int) -> Context: ...

    @overload
    def __getitem__(self, at: slice) -> list[Context]: ...

    def __getitem__(self, at: int | slice) -> Context | list[Context]:
        if isinstance(at, slice):
            return [self._context(i) for i in range(*at.indices(len(self)))]
        return self._context(range(len(self))[at])

    def _context(self, i: int) -> Context:
        state = self._state
        place = state.places[i] if i < len(state.places) else None
        parts = (self._heading(i), *(("", "") if place is None else place))
        return Context(*(_fitting(part) if part != state.texts[i] else "" for part in parts))

    def _heading(self, i: int) -> str:
        state = self._state
        trait = state.traits[i] if i < len(state.traits) else 0
        if trait & TOP:
            return ""
        above = self._tops if trait & HEADING else self._headings
        nearest = bisect_left(above, i)
        return state.texts[above[nearest - 1]] if nearest else ""


def _fitting(text: str) -> str:
    text = text.rstrip(_PERMALINK)
    return text if len(text) <= MOST_CONTEXT else text[: MOST_CONTEXT - 1].rstrip() + _CUT
