"""The values of a block for alerts: each with its condition's subject and its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from actors.content.bodies.markup import Element
from actors.content.pages.page import PageReading
from actors.content.pages.places import Place
from actors.content.pages.plain import format_of
from actors.content.values.amounts import Writing
from actors.content.values.members import ROOT, path_at
from actors.content.values.reading import Found, values_in
from actors.content.wording.language import code_of
from actors.content.wording.one_line import line
from actors.picks import PickedValue

MOST: Final = 12
_SUBJECTS: Final[Mapping[str, str]] = {
    "money": "price", "number": "number", "percent": "percent", "date": "date", "version": "version",
    "availability": "availability",
}  # fmt: skip
"""The subject of a condition, by the value's type; a time of day has none."""


def writing_of(root: Element, reading: PageReading) -> Writing:
    """Return a document's number format: by its declared language, else by its words."""
    if format_of(root) == "json":
        return Writing(exact=True)
    return Writing(reading.evidence.language or code_of(reading.blocks))


def values_of(text: str, place: Place | None, writing: Writing) -> tuple[PickedValue, ...]:
    """Return the values of a block that an alert can use, in order."""
    label = "" if place is None else f"{place.row} {place.column}".strip()
    found = [one for one in values_in(text, writing, label) if one.value.type in _SUBJECTS][:MOST]
    return tuple(
        PickedValue(one.value, _SUBJECTS[str(one.value.type)], _place(text, one, place, writing)) for one in found
    )


def _place(text: str, found: Found, place: Place | None, writing: Writing) -> str:
    """Return the condition on a value's place, "" if no label names it."""
    if writing.exact:
        path = path_at(text, place.row if place else "", found.end)
        return _said("path", path) if path != ROOT else ""
    if place is None or not (place.row or place.column):
        return ""
    return _said("label", " · ".join(filter(None, (line(place.row), line(place.column)))))


def _said(subject: str, text: str) -> str:
    return "" if '"' in text or "\\" in text else f'{subject}:"{text}"'
