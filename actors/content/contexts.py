"""Where each block of a state stands: below which heading, in which row and column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

from actors.content.memory import Settled
from actors.content.traits import HEADING, TOP
from storage.records.event import MOST_CONTEXT, Context

_CUT = "…"
_PERMALINK = " ¶"
"""With what many generators of documentation end a heading: a link to itself."""


class Contexts(Sequence[Context]):
    """The context of each block of a state whose text is known, made when it is asked for: few blocks differ.

    A heading stands below the page's own; what its level is nobody remembers. What a block says itself is left out.
    """

    def __init__(self, state: Settled) -> None:
        self._state = state
        traits = state.traits[: len(state.texts)]
        self._headings = [i for i, trait in enumerate(traits) if trait & (TOP | HEADING)]
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
        text, places = self._state.texts[i], self._state.places
        place = places[i] if i < len(places) else None
        row, column = ("", "") if place is None else place
        parts = [_fitting(part) if part != text else "" for part in (self._above(i), row, column)]
        return Context(*parts)

    def _above(self, i: int) -> str:
        """Return the heading that a block stands below, "" where there is none."""
        trait = self._state.traits[i] if i < len(self._state.traits) else 0
        above = [] if trait & TOP else self._tops if trait & HEADING else self._headings
        before = bisect_left(above, i)
        return self._state.texts[above[before - 1]] if before else ""


def _fitting(text: str) -> str:
    text = text.rstrip(_PERMALINK)
    return text if len(text) <= MOST_CONTEXT else text[: MOST_CONTEXT - 1].rstrip() + _CUT
