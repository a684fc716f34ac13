"""Live streams."""

from __future__ import annotations

from msgspec import json

from api.openapi.examples import example_of
from api.openapi.operation import Operation
from api.streams.sse import event_frame, keepalive, opening
from storage.records.event import Event

_EVENT = json.encode(example_of(Event))
_BEFORE = "019db0a4-6000-7000-8000-000000000042"
_SSE = opening("sse", _BEFORE) + event_frame(_EVENT) + keepalive("sse", example_of(Event)["id"])
_SHOWS = {200: {"text/event-stream": _SSE.decode(), "application/x-ndjson": _EVENT.decode() + "\n"}}
_FORM = """\
Each frame is `event: <source_type>`, `data: <the event as one line of JSON>`, `id: <its id>`; a comment every 15 s \
shows that the stream is alive and names the newest event of the log. With `Accept: application/x-ndjson` it is one \
event a line, and an empty line now and then.

**Resuming.** A client that was cut sends the last id that it took as `Last-Event-ID` (browsers' readers and most \
SSE libraries do so by themselves), and nothing is missed or repeated. `since` is the same in the URL. 410 when \
retention has deleted what lies behind that id; an id of the future begins live.

**Filters.** Values of one parameter are alternatives, and all parameters must hold.

The stream has no end. It is cut when its key is deleted, when the service stops, and when the client takes nothing \
for 30 s."""
OPERATIONS: dict[str, Operation] = {
    "GET /v1/stream": Operation(
        name="stream",
        tag="Streams",
        explains=f"Replays what came after `Last-Event-ID` or `since`, if one is given, and goes on live.\n\n{_FORM}",
        shows=_SHOWS,
    ),
    "GET /v1/streams/{channel}": Operation(
        name="streamChannel",
        tag="Streams",
        explains=f"""\
The same, for a part of the events: those of a tier, the service's own notices (`alerts`), or what the alerts of a \
channel match.\n\n{_FORM}""",
        shows=_SHOWS,
    ),
}
