"""A log behind httpx: frames as the service writes them; tests cut each answer anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple

import httpx
import msgspec

from actors.recorder.actor import build
from api.streams.sse import frames, keepalive, opening, stopping
from storage.records.identity import COUNTER_BITS, Seq, id_of, millis_of
from tests.support.build import BASE_URL, NOW, a_draft, a_source_id

FIRST = NOW << COUNTER_BITS
BEFORE = id_of(Seq(FIRST), 42)


SSE = {"Content-Type": "text/event-stream; charset=utf-8"}


class Logged(NamedTuple):
    id: str
    body: bytes


def a_log(count: int, content: str = "Fält \u2028 två\u0085 🐦") -> list[Logged]:
    """Return events whose texts contain characters that careless readers split lines at."""
    made = []
    for number in range(1, count + 1):
        seq = Seq(FIRST + number)
        event = build(id_of(seq, 42), a_source_id(), a_draft(str(number), content=content), BASE_URL, millis_of(seq))
        made.append(Logged(event.id, msgspec.json.encode(event)))
    return made


def answer_after(log: list[Logged], cursor: str) -> bytes:
    """Return a whole stream from an id to the service's stop."""
    bodies = [event.body for event in log if event.id > cursor]
    return opening("sse", cursor) + frames(bodies, "sse") + keepalive("sse", log[-1].id) + stopping("sse", 4)


class Pieces(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body in small pieces, cut after `left` bytes; then it breaks, or ends."""

    def __init__(self, body: bytes, left: int, size: int, broken: bool) -> None:
        self._body, self._size = body[:left], size
        self._broken = broken and left < len(body)

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._body), self._size):
            yield self._body[at : at + self._size]
        if self._broken:
            raise httpx.ReadError("the connection was reset")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece


class CutService(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """Serves a log as `/v1/stream` does. cut: request number -> bytes of its answer to send, None for all.

    `asked` has the position of each request; `refuse` replaces the stream with another answer.
    """

    def __init__(
        self,
        log: list[Logged],
        cut: Callable[[int], int | None],
        *,
        size: int = 1 << 16,
        broken: bool = True,
        refuse: Callable[[int], httpx.Response | None] = lambda number: None,
    ) -> None:
        self.asked: list[str] = []
        self._log, self._cut, self._size, self._broken, self._refuse = log, cut, size, broken, refuse

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        cursor = request.headers.get("Last-Event-ID") or request.url.params.get("since", BEFORE)
        number = len(self.asked)
        self.asked.append(cursor)
        refusal = self._refuse(number)
        if refusal is not None:
            return refusal
        body, left = answer_after(self._log, cursor), self._cut(number)
        pieces = Pieces(body, len(body) if left is None else left, self._size, self._broken)
        return httpx.Response(200, headers={"Sanderling-Replay-From": cursor, **SSE}, stream=pieces)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def a_problem(status: int, slug: str, **headers: str) -> httpx.Response:
    document = {"$schema": "", "type": f"{BASE_URL}/problems/{slug}", "title": slug, "status": status, "detail": "No."}
    return httpx.Response(status, headers=headers, content=msgspec.json.encode(document))
