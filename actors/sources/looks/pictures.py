"""The picture of a rendered page: which checks store it, and its validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from actors.egress.http import FetchedResponse
from actors.sources.looks.reading import Reading
from storage.records.event import Draft
from storage.records.identity import Millis
from storage.records.picture import Picture, picture_of
from storage.records.source import Source


def picture_to_keep(
    source: Source, fetched: FetchedResponse, reading: Reading | None, drafts: Sequence[Draft], at: Millis
) -> Picture | None:
    """Return the picture to commit with a check: of a reported change, or of the first check.

    None if no picture was made or wanted, and if the browser returned something else.
    """
    if not source.screenshots or fetched.rendered is None or not fetched.rendered.screenshot:
        return None
    is_first = reading is not None and reading.note is not None and reading.note.came == "baseline"
    if not is_first and all(draft.delta is None for draft in drafts):
        return None
    return picture_of(fetched.rendered.screenshot, at)


def without_picture(fetched: FetchedResponse) -> FetchedResponse:
    """Return a response without its picture, for the cache."""
    if fetched.rendered is None or not fetched.rendered.screenshot:
        return fetched
    return replace(fetched, rendered=fetched.rendered._replace(screenshot=b""))
