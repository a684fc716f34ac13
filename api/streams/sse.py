"""Frames of a stream, as Server-Sent Events and as NDJSON. Pure.

An SSE frame has `event:`, `data:`, `id:` in this order: a client that reads the id and then loses the connection must
already hold the data. The stored JSON goes out unchanged, except that U+0085, U+2028 and U+2029 are escaped, since some
readers split lines there. For JSON parsers and the signature, the event is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from storage.append import Recent

Form = Literal["sse", "ndjson"]
MEDIA: dict[Form, str] = {"sse": "text/event-stream; charset=utf-8", "ndjson": "application/x-ndjson"}
RETRY = b"retry: 3000\n\n"
_FIRST = [b"$schema", b"id", b"source_id", b"source_type"]
"""The first fields of an event that this version wrote (see `Event`). Their values need no escapes."""
_SPLITTERS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


class EventHeader(Struct):
    """The fields that frames and filters need."""

    id: str
    source_type: str
    alert_type: str = ""


_head = msgspec.json.Decoder(EventHeader)


def head_of(body: bytes) -> EventHeader:
    return _head.decode(body)


def one_line(body: bytes) -> bytes:
    r"""Return JSON that every reader takes for one line.

    >>> one_line(b'"a\xe2\x80\xa8b"')
    b'"a\\u2028b"'
    """
    for raw, escape in _SPLITTERS:
        if raw[-1] in body and raw in body:  # a search for one byte is twenty times as fast
            body = body.replace(raw, escape)
    return body


def event_frame(body: bytes) -> bytes:
    """Return the SSE frame of an event.

    >>> event_frame(b'{"id":"x","source_type":"feed"}')
    b'event: feed\\ndata: {"id":"x","source_type":"feed"}\\nid: x\\n\\n'
    """
    return frames((body,), "sse")


def frames(bodies: Iterable[bytes], form: Form) -> bytes:
    """Return the frames of events in one piece. Escape line splitters once for all."""
    if form == "ndjson":
        return one_line(b"".join([body + b"\n" for body in bodies]))
    parts = list[bytes]()
    for body in bodies:
        words = body.split(b'"', 16)  # reads only the first fields: later ones may hold anything, even another `id`
        if words[1:14:4] == _FIRST:
            kind, id = words[15], words[7]
        else:  # written by an older version
            head = head_of(body)
            kind, id = head.source_type.encode(), head.id.encode()
        parts += (b"event: ", kind, b"\ndata: ", body, b"\nid: ", id, b"\n\n")
    return one_line(b"".join(parts))


def frame_of(recent: Recent, form: Form) -> bytes:
    """Return the frame of an event in the ring. All readers share one SSE frame."""
    if form == "ndjson":
        return one_line(recent.stored.body) + b"\n"
    if recent.frame is None:
        recent.frame = event_frame(recent.stored.body)
    return recent.frame


def opening(form: Form, replay_from: str) -> bytes:
    """Return the opening of a stream: the retry hint, and a comment with the id that it replays after."""
    return RETRY + b": replay-from %b\n\n" % replay_from.encode() if form == "sse" else b""


def left_behind(form: Form) -> bytes:
    """Return the last words for a reader that retention has overtaken. NDJSON has none."""
    words = b": ended: events after the last one were deleted before they were sent; a resume from there is 410\n\n"
    return words if form == "sse" else b""


def damaged(form: Form) -> bytes:
    """Return the last words if the data are damaged: resume with the same id, but not at once."""
    return b"retry: 60000\n: ended: the database is damaged; a backup must be restored\n\n" if form == "sse" else b""


def stopping(form: Form, back_in: float) -> bytes:
    """Return the last words of a stopping service, with the seconds until clients may reconnect."""
    return b"retry: %d\n: ended: the service stops\n\n" % (back_in * 1000) if form == "sse" else b""


def keepalive(form: Form, newest: str) -> bytes:
    return b": keepalive %b\n\n" % newest.encode() if form == "sse" else b"\n"
