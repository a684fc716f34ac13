"""The preview of watching a stream, and the search for an unreported frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from actors.content.bodies.frames import Frame
from actors.content.messages.requests import FrameRequest
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchedResponse
from actors.egress.stream_lines import name_of
from actors.messages.previews import DraftEvent, Preview, PushPreview
from actors.messages.requests import DetectRequest
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.checks.body_reader import in_jail
from actors.sources.checks.drafts import draft_event
from actors.sources.detection.classify import Classification
from actors.sources.detection.handshake import MOST_FRAMES
from actors.sources.explanation import counts_of
from actors.sources.ports import Ports
from storage.records import trail
from storage.records.identity import SourceId
from storage.records.message import joined, message
from storage.records.source import Source
from storage.records.trail import Note

LISTEN: Final = 3.0
"""Seconds to wait for the first frames."""
_NOBODY: Final = SourceId("")


async def preview(ports: Ports, classification: Classification, detect_request: DetectRequest) -> Preview:
    greeting, url = classification.greeting, classification.watch_url
    assert greeting is not None, "its first frames were waited for"
    at, detection = classification.at, classification.detection
    source = Source(_NOBODY, url, url, "push", detection, at, at, filter=detect_request.filter)
    await ports.admission.refresh()
    filter = ports.admission.filter_for(source)
    events: list[DraftEvent] = []
    for text in greeting.frames:
        request = FrameRequest(str(text), url, name_of(text))
        try:
            frames = await in_jail(ports.world.jail, "frame", request, list[Frame])
        except CheckFailed:
            continue  # an unreadable frame becomes no event either
        for frame in frames[: MOST_FRAMES - len(events)]:
            events.append(draft_event(frame, url, "id", filter.admits(frame.title, frame.content, frame.tags)))
    push = PushPreview(greeting.subprotocol, greeting.waited, len(greeting.frames), tuple(events), greeting.ended)
    return Preview(classification.at, push=push)


async def search(
    ports: Ports, view: SourceView, memory: trail.StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    return [frame_reason(view, trail.read_notes(memory.notes))]


def frame_reason(view: SourceView, notes: Sequence[Note]) -> Reason:
    reason = message("A frame is reported if an alert matches it; others are not stored.")
    if view.source.filter is not None:
        reason = message("A frame is reported if its source's filter or an alert matches; others are not stored.")
    push = view.push
    if push is not None and push.frames:
        since = message(
            "Since the service started %(count)s frames have arrived: %(told)s reported, %(unasked)s that nothing "
            "matched, %(again)s repeated, %(bad)s unreadable.",
            count=push.frames,
            told=push.admitted,
            unasked=push.filtered,
            again=push.duplicates,
            bad=push.unreadable,
        )
        return Reason("unasked", joined([reason, since]))
    last = next((note for note in reversed(notes) if note.came == "stretch"), None)
    counts = None if last is None else message("From %(at)s: %(counts)s.", at=last.at, counts=counts_of(last))
    return Reason("unasked", joined([reason, counts]))
