"""A saved view: the filters of a list of the dashboard, under a name."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

Place = Literal["sources", "stream"]
"""The list that it is of."""


class SavedView(Struct, frozen=True):
    """query: of the list's address, as it was when the view was saved."""

    id: str
    place: Place
    name: str
    query: str
    created_at: Millis
