"""The preview of watching a stream: its first frames, and which of them would become events."""

from __future__ import annotations

from typing import Final

import msgspec

from actors.content.bodies.frames import Frame
from actors.content.messages.requests import FrameRequest
from actors.egress.failures import LookFailed
from actors.egress.stream_lines import name_of
from actors.messages.requests import DetectRequest
from actors.previews import EXCERPT, DraftEvent, Preview, PushPreview
from actors.sources.detection.classify import Classification
from actors.sources.detection.handshake import MOST_FRAMES
from actors.sources.looks.reading import in_jail
from actors.sources.ports import Ports
from storage.records.event import NEW
from storage.records.identity import SourceId
from storage.records.source import Source

LISTEN: Final = 3.0
"""Seconds to wait for the first frames."""
_NOBODY: Final = SourceId("")


async def preview(ports: Ports, found: Classification, asked: DetectRequest) -> Preview:
    """Return the preview of a classified stream."""
    greeting, url = found.greeting, found.watch_url
    assert greeting is not None, "its first frames were waited for"
    source = Source(_NOBODY, url, url, "push", found.detection, found.at, found.at, filter=asked.filter)
    await ports.admission.refresh()
    wanted = ports.admission.wanted(source)
    shown: list[DraftEvent] = []
    for text in greeting.frames:
        request = msgspec.msgpack.encode(FrameRequest(str(text), url, name_of(text)))
        try:
            answer = await in_jail(ports.world.jail, "frame", request)
        except LookFailed:
            continue  # an unreadable frame becomes no event either
        for frame in msgspec.msgpack.decode(answer, type=list[Frame])[: MOST_FRAMES - len(shown)]:
            shown.append(_framed(frame, url, wanted.admits(frame.title, frame.content, frame.tags)))
    push = PushPreview(greeting.subprotocol, greeting.waited, len(greeting.frames), tuple(shown), greeting.ended)
    return Preview(found.at, push=push)


def _framed(frame: Frame, url: str, told: bool) -> DraftEvent:
    content = frame.content[:EXCERPT]
    tags = (NEW, *frame.tags)
    return DraftEvent(frame.title, frame.url or url, frame.author, content, frame.published_at, tags, "id", told)
