"""The practice sources, for any face: shown, changed, ended; and their documents, as anybody may read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from actors.errors import NotFound
from actors.messages import ChangePractice, EndPractice, Practised, ShowPractice, SourceView
from actors.practice.documents import DOCUMENTS, WHATS, What, address
from api.acts.desk import Desk

ANSWER_WITHIN = 15.0
"""Seconds for the registry's answer; a worker that must be started first is among it."""


def what_of(text: str) -> What:
    """Return which document a word names. Raises NotFound."""
    for what in WHATS:
        if text == what:
            return what
    raise NotFound(f"There is no such practice document; there are {', '.join(WHATS)}.")


async def practice(desk: Desk, *, start: bool = False) -> Sequence[SourceView]:
    """Return the practice sources that there are; with `start`, all of them. Raises Conflict, TooSlowError."""
    views: Sequence[SourceView] = await _ask(desk, lambda reply: ShowPractice(reply, start))
    return views


async def change(desk: Desk, what: What) -> Practised:
    """Change a document, and have it looked at now. Raises TooSoon, Conflict, TooSlowError."""
    practised: Practised = await _ask(desk, lambda reply: ChangePractice(what, reply))
    return practised


async def end(desk: Desk) -> None:
    """Delete the practice sources; their events stay. Raises TooSlowError."""
    await _ask(desk, EndPractice)


async def document(desk: Desk, what: What) -> tuple[bytes, str]:
    """Return a document as it is now, or as it would begin, and its media type."""
    source = await desk.doors.storage.sources.by_url(address(desk.doors.settings.public_url(), what))
    step = 0 if source is None else source.practice or 0
    return DOCUMENTS[what].at(step), DOCUMENTS[what].media


async def _ask(desk: Desk, make: Any) -> Any:
    with trio.fail_after(ANSWER_WITHIN):
        return await desk.doors.registry.ask(make)
