"""A stream: events as they come, over cuts at any byte, without a gap and without a repetition.

Nothing is read before it is asked for. An id ends its frame, so a frame that was cut was not taken, and comes again.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, cast

import anyio
import httpx

from sanderling_client.calling import Pairs, refusal_of
from sanderling_client.problems import AnswerError, StreamLost
from sanderling_client.received import Received

LARGEST = 8 << 20  # bytes of one line; an event has less than a tenth of that
MEDIA = "text/event-stream"
LONGEST_WAIT = 30.0  # seconds, unless the service asks for more
PASSING = frozenset((408, 429, 500, 502, 503, 504))  # after these the same request may succeed


class Frames:
    """Server-Sent Events out of bytes, in any pieces. retry: seconds to wait after a cut; ended: the last words."""

    def __init__(self) -> None:
        self.retry, self.ended = 3.0, ""
        self._parts, self._size, self._returned = list[bytes](), 0, False
        self._id, self._type, self._data = "", "", list[str]()

    def feed(self, piece: bytes) -> list[Received]:
        """Take a piece and return the events that it completes. Raises AnswerError for a line without an end."""
        if self._returned and piece.startswith(b"\n"):  # the pieces part between the two bytes of one end of a line
            piece = piece[1:]
        self._returned = piece.endswith(b"\r")
        self._parts.append(piece)
        self._size += len(piece)
        if self._size > LARGEST:
            raise AnswerError("The stream has a line that is longer than any event.")
        if b"\n" not in piece and b"\r" not in piece:
            return []
        *lines, rest = re.split(rb"\r\n|\r|\n", b"".join(self._parts))
        self._parts, self._size = [rest], len(rest)
        return [found for line in lines if (found := self._line(line.decode("utf-8", "replace")))]

    def _line(self, line: str) -> Received | None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            found = Received(self._id, self._type or "message", "\n".join(self._data)) if self._data else None
            self._type, self._data = "", []
            return found
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._type = value
            case "id":
                self._id = value
            case "retry" if value.isascii() and value.isdigit():
                self.retry = int(value) / 1000
            case "" if value.startswith("ended: "):
                self.ended = value.removeprefix("ended: ")
        return None


class _Follower:
    """`cursor`: of the last event that you were given. `cuts`: how often it was cut or not opened; `ended`: why."""

    def __init__(self, http: Any, path: str, query: Pairs, give_up: int | None, silence: float) -> None:
        self.cursor: str | None = None
        self.cuts, self.ended = 0, ""
        timeout = httpx.Timeout(silence, connect=10.0)
        self._request = partial(http.build_request, "GET", path, params=query, timeout=timeout)
        self._http, self._since, self._give_up = http, dict(query).get("since"), give_up
        self._answer: httpx.Response | None = None
        self._frames, self._ready = Frames(), deque[Received]()
        self._wait, self._failed = 0.0, 0

    async def _following(self) -> Received:
        while not self._ready:
            try:
                if self._answer is None:
                    await self._sleep(self._wait)
                    await self._open()
                elif piece := await self._piece():
                    self._ready.extend(self._frames.feed(piece))
                    self._failed = 0
                else:
                    raise httpx.ReadError("the service closed it")
            except httpx.TransportError as error:
                await self._close()
                self._lost(error, self._frames.ended or f"{type(error).__name__}: {error}")
        received = self._ready.popleft()
        self.cursor = received.id or self.cursor
        return received

    async def _open(self) -> None:
        place = {"Last-Event-ID": self.cursor} if self.cursor else {}  # in a header it wins over `since`
        answer = await self._send(self._request(headers={"Accept": MEDIA, "Accept-Encoding": "identity", **place}))
        if not isinstance(self._pieces, bytes):
            self._answer, self._frames = answer, Frames()
            if not self._since:  # else it is asked for again: `earliest` is never too old
                self.cursor = self.cursor or answer.headers.get("Sanderling-Replay-From")
            return
        refusal = refusal_of(answer)
        if refusal.status not in PASSING:
            raise refusal
        self._lost(refusal, str(refusal), refusal.retry_after or 0.0)

    def _lost(self, error: Exception, why: str, at_least: float = 0.0) -> None:
        """Take a cut. The next wait is what the service asked for, doubled for each failure without a byte between."""
        self.cuts, self._failed, self.ended = self.cuts + 1, self._failed + 1, why
        if self._give_up is not None and self._failed > self._give_up:
            raise StreamLost(self._failed, self.cursor) from error
        doubled = min(LONGEST_WAIT, self._frames.retry * 2 ** min(10, self._failed - 1))
        self._wait = max(at_least, doubled, self._frames.retry) * random.uniform(1.0, 1.25)

    async def _sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _send(self, request: httpx.Request) -> httpx.Response:
        answer: httpx.Response = await self._http.send(request, stream=True)
        streams = answer.headers.get("Content-Type", "").startswith(MEDIA)
        self._pieces: Any = answer.aiter_bytes() if streams else await answer.aread()
        return answer

    async def _piece(self) -> bytes:
        return bytes(await anext(self._pieces, b""))

    async def _close(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            with anyio.move_on_after(1, shield=True), suppress(Exception):
                await answer.aclose()
                while await self._piece():
                    pass  # httpx iterates by generators within each other, and Trio wants each of them at its end


class AsyncStream(_Follower):
    """Events, for `async for`, on asyncio or Trio. Use it as an async context."""

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._close()

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Received:
        return await self._following()


class Stream(_Follower):
    """Events, for `for`. Use it as a context. Nothing that is awaited here waits: it blocks instead."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        _at_once(self._close())

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Received:
        return cast(Received, _at_once(self._following()))

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251  a thread has nothing else to do

    async def _send(self, request: httpx.Request) -> httpx.Response:
        answer: httpx.Response = self._http.send(request, stream=True)
        streams = answer.headers.get("Content-Type", "").startswith(MEDIA)
        self._pieces = answer.iter_bytes() if streams else answer.read()
        return answer

    async def _piece(self) -> bytes:
        return bytes(next(self._pieces, b""))

    async def _close(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.close()


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        raise AssertionError(f"it waits for {work.send(None)}")
    except StopIteration as done:
        return done.value
