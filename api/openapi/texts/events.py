"""History."""

from __future__ import annotations

from msgspec import json

from api.openapi.example_records import EVENT
from api.openapi.operation import Operation
from api.streams.export import HEADER, line_of

_BODY = json.encode(EVENT)

OPERATIONS: dict[str, Operation] = {
    "GET /v1/events": Operation(
        name="listEvents",
        tag="Events",
        explains="""\
Events of a window of time, oldest first unless `order=desc`. Pages follow each other without a gap or a repetition \
while new events come in. A page may hold fewer than `limit` events, or none, and still have a `next_cursor`: a \
rare filter is looked for piece by piece. A time as `from` is in the window, an event's id is not, as with `since` of \
a stream; a `next_cursor` may be handed back as `from` as well as `cursor`. `retention_clamped` says that the window \
began later than was asked. In the lists a comma also separates values.""",
        leads=dict.fromkeys(("readEvent", "whyEvent", "teach"), "/events/0/id"),
    ),
    "GET /v1/events/export": Operation(
        name="exportEvents",
        tag="Events",
        explains="""\
A window of time as one file, oldest first, with the filters of the history. It is written as it is read, and its end \
is fixed when it begins. A file that could not be finished never looks finished: the connection is cut in the middle \
of a chunk, and a JSON array stays open.

- `json` is an array, `ndjson` one event a line; both have the events byte for byte as they were signed.
- `csv` is RFC 4180 with a header line. A cell that begins with `=`, `+`, `-`, `@`, a tab or a line break gets an \
apostrophe in front, so that what others wrote does not run as a formula.

A key may have 2 exports at once, the service 4.""",
        others={
            "application/x-ndjson": f"{_BODY.decode()}\n",
            "text/csv": (HEADER + line_of(_BODY)).decode(),
        },
    ),
    "GET /v1/events/{id}": Operation(
        name="readEvent",
        tag="Events",
        explains="Byte for byte as it was signed, streamed and delivered.",
    ),
    "GET /v1/events/{id}/screenshot": Operation(
        name="readScreenshot",
        tag="Events",
        explains="""\
Of a source with `screenshots` whose page a browser shows: a picture is kept of the first look and with each change \
that is told, for `screenshot_days` and within `screenshot_bytes`. `before` is the newest one from before this event. \
It is sent as a picture and nothing else: its first bytes say which kind it is, and a policy without any right stands \
beside it. 404 where none is kept.""",
        shows={200: {"image/webp": "RIFF....WEBPVP8 ", "image/png": "PNG....IHDR", "image/jpeg": "JFIF"}},
    ),
}
