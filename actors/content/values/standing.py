"""The values in the texts of a page, whether or not they ever changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from actors.content.values.amounts import Writing
from actors.content.values.labels import around, as_noted, cell_of, fitting, label_of, labelled, path_of
from storage.records.event import Context
from storage.records.value import MOST_STANDING, StandingValue, ValueType

MOST_READ: Final = 20_000
"""Maximum number of values that are read and counted."""
_ORDER: Final[dict[ValueType, int]] = {
    "money": 0, "availability": 1, "percent": 2, "version": 3, "date": 4, "number": 5,
}  # fmt: skip
"""Priority of types if there are too many; a time of day is no value to follow."""


def standing_in(
    texts: Sequence[str], contexts: Sequence[Context], writing: Writing
) -> tuple[tuple[StandingValue, ...], int]:
    """Return the values of a page's texts in order, at most `MOST_STANDING`, and the number of the others.

    Each has the label and path that an event would give it.
    """
    found: list[StandingValue] = []
    for block, text in enumerate(texts):
        found += _of_text(text, block, contexts[block], writing)
        if len(found) >= MOST_READ:
            break
    kept = sorted(found, key=lambda one: _ORDER[one.value.type])[:MOST_STANDING]  # type: ignore[index]  # it has one
    return tuple(kept), len(found) - len(kept)


def _of_text(text: str, block: int, context: Context, writing: Writing) -> Iterator[StandingValue]:
    noted = as_noted(text, writing, cell_of(context))
    for i, found in enumerate(noted.values):
        if found.value.type in _ORDER:
            path = path_of(text, context, found, writing)
            label = fitting(path or labelled(context) or around(noted, i)) or label_of(context)
            yield StandingValue(found.value, block, label, path)
