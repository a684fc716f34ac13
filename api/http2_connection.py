"""One connection of HTTP/2: a task that reads, a task that writes, and a task for each request.

The reader takes what has arrived through `Http2` and gives it to the streams; it waits for nobody but the peer. The
writer sends what waits in the outboxes, in turns. So the peer's windows hold up the streams that they are of, and only
a peer that takes nothing at all off the wire holds up the connection, and is cut (`api/wire.py`).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, assert_never
from urllib.parse import unquote

import trio
from hypercorn.trio.tcp_server import MAX_RECV
from hypercorn.utils import parse_socket_addr

from api.connection import HEAD_TIMEOUT, LINGER
from api.exchange import GONE, Exchange, Message, refused
from api.frames import Code
from api.http2 import Arrived, Broken, Ended, Gone, Happening, Http2, Opened
from api.http2_head import Fault, Head
from api.http2_stream import Http2Stream
from api.places import Full, Places
from api.wire import Wire

if TYPE_CHECKING:
    from api.app import Api

BATCH = 64 << 10
"""Bytes that are sent at once: what a stream has to say next waits for no more of the others'."""
TURN = 32
"""Frames that are read before others get their turn."""


class Http2Connection:
    """A connection on a wire whose hands are shaken. `leave` ends it in order."""

    def __init__(self, api: Api, wire: Wire, places: Places) -> None:
        self._api, self._wire, self._places = api, wire, places
        self._http2 = Http2()
        self._streams: dict[int, Http2Stream] = {}
        self._reading = trio.CancelScope(deadline=trio.current_time() + HEAD_TIMEOUT)
        self._since = trio.current_time()
        self._in_head = False
        self._work = trio.Event()
        self._ending = self._idle = False
        self._exchanges: trio.Nursery
        self._client: tuple[str, int] | None = None
        self._server: tuple[str, int] | None = None

    async def run(self) -> None:
        """Serve until the peer goes, breaks a rule, has nothing more to ask, or is left."""
        try:
            socket = self._wire.socket
            self._client = parse_socket_addr(socket.family, socket.getpeername())
            self._server = parse_socket_addr(socket.family, socket.getsockname())
        except OSError:  # the peer has gone already
            return
        async with trio.open_nursery() as writing:
            writing.start_soon(self._write)
            async with trio.open_nursery() as self._exchanges:
                await self._read()
                self._exchanges.cancel_scope.cancel()
            self._ending = True
            self._wake()
            writing.cancel_scope.deadline = trio.current_time() + LINGER
        await self._close()

    def leave(self) -> None:
        """Take no new requests, and end once the last that is open has been answered."""
        self._http2.leave()
        self._wake()
        if not self._streams:
            self._reading.cancel()

    def __repr__(self) -> str:
        return f"<Http2Connection {self._http2!r}>"

    def _wake(self) -> None:
        self._work.set()

    async def _read(self) -> None:
        """Read until the end, whoever makes it."""
        with self._reading:
            while data := await self._receive():
                self._http2.feed(data)
                await self._act()
                if self._http2.has_words:
                    self._wake()
                if self._http2.over is not None or (self._http2.leaving and not self._streams):
                    break
                self._rearm()
        if self._reading.cancelled_caught and not self._http2.leaving:
            self._idle = not self._in_head
            self._http2.end(Code.NO_ERROR if self._idle else Code.ENHANCE_YOUR_CALM, "Nothing came in time.")
        self._api.doors.world.log("http2.ended", level="debug", why=self._http2.over)

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self._wire.receive_some(MAX_RECV)
        except GONE:
            return b""

    async def _act(self) -> None:
        """Act on all whole frames that have come, a few at a time."""
        turn = 0
        while (found := self._http2.step(trio.current_time())) is not None:
            for happening in found:
                self._happen(happening)
            turn += 1
            if turn % TURN == 0:
                self._wake()
                await trio.lowlevel.checkpoint()

    def _happen(self, happening: Happening) -> None:
        match happening:
            case Opened(number, head, ended):
                self._open(number, head, ended)
            case Arrived(number, data):
                self._streams[number].arrived(data)
            case Ended(number):
                self._streams[number].ended()
            case Broken(number, fault):
                self._streams[number].broke(fault)
            case Gone(number):
                self._streams[number].lost()
            case _:
                assert_never(happening)

    def _open(self, number: int, head: Head | Fault, ended: bool) -> None:
        stream = Http2Stream(number, self._http2, self._wake, self._api.doors.settings.send_timeout)
        self._streams[number] = stream
        guest = None
        try:
            guest = self._places.take(self._client[0] if self._client else "")
        except Full as full:
            head = Fault("connection", str(full), 503)
        if ended:
            stream.ended()
        elif isinstance(head, Head) and head.expects:
            self._http2.proceed(number)
        self._exchanges.start_soon(self._live, stream, head, guest)

    async def _live(self, stream: Http2Stream, head: Head | Fault, guest: str | None) -> None:
        """Be a request's task."""
        try:
            with stream.scope:
                if isinstance(head, Head):
                    await self._answer(stream, head)
                else:
                    stream.fault = head
            if stream.fault is not None and not stream.begun and not stream.eof:
                with trio.CancelScope() as stream.scope:
                    fault = stream.fault
                    await stream.answer(*refused(self._api, fault.status, fault.where, fault.rule))
        finally:
            del self._streams[stream.number]
            self._http2.close(stream.number)
            if guest is not None:
                self._places.free(guest)
            self._since = trio.current_time()
            self._rearm()
            self._wake()

    async def _answer(self, stream: Http2Stream, head: Head) -> None:
        stream.bodiless = head.method == "HEAD"
        path, _, query = head.target.partition(b"?")
        scope: Message = {
            "type": "http",
            "http_version": "2",
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": head.method,
            "scheme": "https",
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": head.headers,
            "client": self._client,
            "server": self._server,
            "state": {},
            "extensions": {},
        }
        await Exchange(self._api, stream, stream.writer).answer(scope, stream.receive, stream.send)

    def _rearm(self) -> None:
        """Wait for the next request, or the rest of a head, no longer than HTTP/1 would."""
        if self._http2.leaving and not self._streams:
            self._reading.cancel()
        if self._http2.in_head != self._in_head:
            self._in_head, self._since = self._http2.in_head, trio.current_time()
        waiting = self._in_head or not self._streams
        self._reading.deadline = self._since + HEAD_TIMEOUT if waiting else inf

    async def _write(self) -> None:
        """Send what waits, for as long as the peer takes it."""
        while True:
            data = self._http2.pump(BATCH)
            if data:
                try:
                    await self._wire.send_all(data)
                except GONE:
                    self._reading.cancel()
                    return
                for stream in self._streams.values():
                    stream.moved()
            elif self._ending:
                return
            else:
                self._work = trio.Event()
                await self._work.wait()

    async def _close(self) -> None:
        """Close. A peer that broke a rule is heard for a moment more, unread, so that it gets to know which."""
        if self._http2.over is not None and not self._idle and self._wire.half_close():
            with trio.move_on_after(LINGER):
                while await self._receive():
                    pass
        await self._wire.aclose()
