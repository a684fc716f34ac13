"""A saved view: the filters of a dashboard list, under a name."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

Place = Literal["sources", "stream"]
"""The list that the view filters."""


class SavedView(Struct, frozen=True):
    """query: the query string of the list's URL when the view was saved."""

    id: str
    place: Place
    name: str
    query: str
    created_at: Millis
