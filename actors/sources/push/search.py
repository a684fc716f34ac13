"""The search for an unreported frame: only counts of frames are known."""

from __future__ import annotations

from collections.abc import Sequence

from actors.egress.http import FetchedResponse
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.explanation.sentences import counts_of
from actors.sources.ports import Ports
from storage.records import note
from storage.records.note import Note
from storage.records.times import spoken


async def search(
    ports: Ports, view: SourceView, kept: note.StoredMemory, asked: ExplainSource, today: FetchedResponse | None
) -> list[Reason]:
    """Return the counts of received frames; nothing else is stored of a frame."""
    return [on_a_link(view, note.read(kept.notes))]


def on_a_link(view: SourceView, notes: Sequence[Note]) -> Reason:
    """Return the counts from the live view, or else from the last note on listening."""
    asked = "its own filter or an alert asks for it" if view.source.filter is not None else "an alert asks for it"
    says = f"A frame is told when {asked}; of others nothing is kept."
    seen = view.push
    if seen is not None and seen.frames:
        others = f"{seen.admitted} were told, {seen.filtered} nothing asks for, {seen.duplicates} had come before"
        says += (
            f" Since the service started {seen.frames} frames have come: {others}, {seen.unreadable} were unreadable."
        )
        return Reason("unasked", says)
    last = next((note for note in reversed(notes) if note.came == "stretch"), None)
    return Reason("unasked", says if last is None else f"{says} From {spoken(last.at)}: {counts_of(last)}.")
