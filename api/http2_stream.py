"""One request on an HTTP/2 connection, as its handler sees it: ASGI's `receive` and `send`, and the line it ends with.

Whoever waits here waits for this one client alone: a window that stays shut ends the stream after `send_timeout`, as a
connection of HTTP/1 is cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio

from api.exchange import GONE, Headers, Message
from api.frames import Code
from api.http2 import Http2
from api.http2_head import Fault
from api.reader import SEND_SIZE


class Http2Stream:
    """A stream: `scope` is its handler's; `fault`: why its request is refused; `begun`: an answer is on its way."""

    def __init__(self, number: int, http2: Http2, wake: Callable[[], None], patience: float) -> None:
        self.number = number
        self.scope = trio.CancelScope()
        self.eof = self.begun = False
        self.on_eof: Callable[[], None] | None = None
        self.fault: Fault | None = None
        self.bodiless = False
        """Whether answers have no body, as those to HEAD."""
        self._http2, self._wake, self._patience = http2, wake, patience
        self._pieces: deque[bytes] = deque()
        self._whole = self._told = False
        self._came = self._sent = trio.Event()

    def arrived(self, data: bytes) -> None:
        """Take a part of the request's body. The client's window bounds how much waits here."""
        self._pieces.append(data)
        self._came.set()

    def ended(self) -> None:
        """Know that the body is complete."""
        self._whole = True
        self._came.set()

    def broke(self, fault: Fault) -> None:
        """Give the handler up: the request is malformed. It is still answered, if no other answer has begun."""
        self.fault = fault
        if self.begun:
            self.abandon(Code.PROTOCOL_ERROR)
        self.scope.cancel()

    def lost(self) -> None:
        """Give the handler up: the client has reset the stream."""
        self.eof = True
        if self.on_eof is not None:
            self.on_eof()
        self.scope.cancel()

    def moved(self) -> None:
        """Look whether all has been sent that was waited for."""
        if not self._http2.pending(self.number):
            self._sent.set()

    def abandon(self, code: Code) -> None:
        """End the stream in the middle of whatever it is."""
        self.eof = True
        self._http2.reset(self.number, code)
        self._wake()

    def hold(self, size: int) -> None:
        """Do nothing: what waits on a connection is bounded for all its streams together."""

    async def cut(self) -> None:
        """Reset the stream, so that nobody takes it for whole."""
        self.abandon(Code.INTERNAL_ERROR)
        await trio.lowlevel.checkpoint()

    async def receive(self) -> Message:
        """Return the next part of the body, as ASGI wants it; after the last, wait until cancelled."""
        while not self._pieces and not (self._whole and not self._told):
            self._came = trio.Event()
            await self._came.wait()
        if self._pieces:
            data = self._pieces.popleft()
            self._http2.consumed(self.number, len(data))
            self._wake()
            return {"type": "http.request", "body": data, "more_body": True}
        self._told = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Message) -> None:
        """Send a part of the answer, as ASGI gives it. A client that does not take it ends the handler.

        A checkpoint only where it waits, so that head, body and end of a short answer leave together.
        """
        if message["type"] == "http.response.start":
            self.bodiless |= message["status"] in (204, 304)
            self._http2.respond(self.number, message["status"], message["headers"], ended=self.bodiless)
            self.begun = True
            self._wake()
        elif not self.bodiless:
            ended = not message.get("more_body", False)
            self._http2.put(self.number, message.get("body", b""), ended=ended)
            self._wake()
            if ended or self._http2.pending(self.number) > SEND_SIZE:
                try:
                    await self.wait_sent()
                except GONE:
                    self.scope.cancel()
                    await trio.lowlevel.checkpoint()

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole answer."""
        length = (b"content-length", b"%d" % len(body))
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await self.send({"type": "http.response.body", "body": body})

    def writer(self, _scope: Message) -> StreamWriter:
        """Return what writes a body whose head has been sent."""
        return StreamWriter(self, self._http2, self._wake)

    async def wait_sent(self) -> None:
        """Wait until the outbox is empty. If cancelled, or after the deadline, the stream is reset.

        Raises trio.TooSlowError, trio.BrokenResourceError.
        """
        done = False
        try:
            with trio.fail_after(self._patience):
                while self._http2.pending(self.number):
                    self._sent = trio.Event()
                    await self._sent.wait()
            done = True
        finally:
            if not done:
                self.abandon(Code.CANCEL)
        if self.eof:
            raise trio.BrokenResourceError("the stream was reset")


class StreamWriter:
    """Writes a live stream or an export; see `api.streams.Writer`."""

    __slots__ = ("_http2", "_stream", "_wake", "spoke")

    def __init__(self, stream: Http2Stream, http2: Http2, wake: Callable[[], None]) -> None:
        self._stream, self._http2, self._wake = stream, http2, wake
        self.spoke = trio.current_time()

    def send_nowait(self, data: bytes) -> bytes:
        """Take data if no window holds it up and little waits; else return it."""
        number, http2 = self._stream.number, self._http2
        if not data or len(data) > http2.room(number) or http2.pending(number) > SEND_SIZE:
            return data
        http2.put(number, data)
        self._wake()
        self.spoke = trio.current_time()
        return b""

    async def send(self, rest: bytes) -> None:
        """Send what was not taken. Raises trio.TooSlowError, trio.BrokenResourceError; the stream is then reset."""
        self._http2.put(self._stream.number, rest)
        self._wake()
        await self._stream.wait_sent()
        self.spoke = trio.current_time()
