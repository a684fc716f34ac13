"""Live streams in the API: Server-Sent Events or NDJSON, with the position in a header."""

from __future__ import annotations

from typing import Any

from api.operations import streams
from api.operations.streams import Listener, OpenStream
from api.route import Answer, Call, Route
from api.schemas.queries import StreamQuery
from api.streams.sse import MEDIA

HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


async def everything(call: Call) -> Answer:
    """Stream all events that pass the filters."""
    return _answer(await streams.everything(call, call.query, _listener(call)))


async def channel(call: Call) -> Answer:
    return _answer(await streams.channel(call, call.path["channel"], call.query, _listener(call)))


def _listener(call: Call) -> Listener:
    assert call.key is not None
    ndjson = "application/x-ndjson" in call.headers.get("Accept", "")
    return Listener(call.key, call.headers.get("Last-Event-ID", "").strip(), "ndjson" if ndjson else "sse")


def _answer(opened: OpenStream) -> Answer:
    headers = HEADERS | {"Sanderling-Replay-From": opened.replay_from}
    return Answer(b"", media=MEDIA[opened.reader.form], headers=headers, stream=opened.reader)


_ANSWERS = {200: str}
_FORM: dict[str, Any] = {
    "media": "text/event-stream",
    "also": ("application/x-ndjson",),
    "headers": ("Sanderling-Replay-From",),
}
ROUTES = (
    Route(
        method="GET",
        path="/v1/stream",
        scope="stream:read",
        run=everything,
        says="Follow all events live, optionally after a replay.",
        answers=_ANSWERS,
        query=StreamQuery,
        refuses=("cursor-expired",),
        **_FORM,
    ),
    Route(
        method="GET",
        path="/v1/streams/{channel}",
        scope="stream:read",
        narrower="stream:read:{channel}",
        run=channel,
        says="Follow one channel live.",
        answers=_ANSWERS,
        query=StreamQuery,
        refuses=("not-found", "cursor-expired"),
        **_FORM,
    ),
)
