"""One HTTP/1.1 connection: Hypercorn's protocol on our stream, within the limit of open ones.

Hypercorn gets a `Wire`. For a live stream (`api/server/live.py`) Hypercorn sends the head; after that each chunk goes
straight to the wire, and on a plain socket the stream outlives the connection's tasks.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext

from api.app import Api
from api.server.exchange import Exchange, Message, probed, refused
from api.server.http1 import Http1
from api.server.wire import Wire
from api.streams.keepalives import Writer

HEAD_TIMEOUT = 10
"""Seconds for the head of the first request; later heads get at most twice as long."""
IDLE_TIMEOUT = 75
"""Seconds to keep an idle connection. Longer than clients poll and load balancers keep theirs."""
LINGER = 1.0
"""Seconds to keep reading from a peer that may not have read yet why its connection ends."""


class Connection(TCPServer):
    """Hypercorn's server for one connection, and the application that gets its requests."""

    def __init__(self, api: Api, config: Config, context: WorkerContext, wire: Wire) -> None:
        super().__init__(self.answer, config, context, {}, wire)  # type: ignore[arg-type]  # Wire covers what TCPServer uses of an SSLStream
        self._api, self._wire = api, wire
        self._reading = trio.CancelScope()
        self._leaving = False
        self._idle_until = trio.current_time() + HEAD_TIMEOUT
        """When to close; never during a request."""
        self._timer = trio.CancelScope()
        """The wait for the next check of an idle connection."""
        self._late: Http1 | None = None
        """The protocol, if half a head was there at the last check."""
        self._protocol: ProtocolWrapper | None = None

    @property
    def protocol(self) -> ProtocolWrapper:
        """The protocol: ours instead of Hypercorn's, which has no hook for unparsable requests."""
        assert self._protocol is not None, "the connection has begun"
        return self._protocol

    @protocol.setter
    def protocol(self, wrapper: ProtocolWrapper) -> None:
        made = wrapper.protocol
        assert isinstance(made, H11Protocol)
        wrapper.protocol = Http1(made, partial(_refuse, self._api), partial(probed, self._api))
        self._protocol = wrapper

    async def protocol_send(self, event: Event) -> None:
        """Send bytes, close, or note that a request began or ended."""
        if isinstance(event, Updated):
            now = trio.current_time() if event.idle else math.inf
            self._idle_until, self._timer.deadline = now + IDLE_TIMEOUT, now + HEAD_TIMEOUT
            self._late = None
        elif isinstance(event, RawData) and not self.send_lock.locked():
            if rest := self._wire.send_nowait(event.data):
                await super().protocol_send(RawData(bytes(rest)))
        else:
            await super().protocol_send(event)

    async def _read_data(self) -> None:
        """Read until the peer's end. While leaving, discard the data and stop at the deadline."""
        with self._reading:
            while data := await self._receive():
                if not self._leaving:
                    await self.protocol.handle(RawData(bytes(data)))
            if not self._leaving:
                await self.protocol.handle(RawData(b""))
        await self.protocol.handle(Closed())
        await self.idle_task.stop()

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self.stream.receive_some(MAX_RECV)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def _close(self) -> None:
        """Close, unless a stream continues. Discard a peer's remaining data for a moment first.

        Closing a socket with unread data resets the connection, and the peer loses the answer that explains the error.
        """
        if self._wire.stream is not None:
            self._reading.cancel()
            return
        http = self._protocol and self._protocol.protocol  # None if the peer reset it before anything was read
        talking = isinstance(http, Http1) and http.strict.unread and not self.context.terminated.is_set()
        if talking and not self._leaving and self._wire.half_close():
            self._leaving = True
            self._reading.deadline = trio.current_time() + LINGER
        else:
            await self._wire.aclose()

    def _half_head(self) -> Http1 | None:
        http = self.protocol.protocol
        return http if isinstance(http, Http1) and http.strict.half_head else None

    async def _idle_timeout(self) -> None:
        """Close the connection once it has been idle for too long. Runs beside all its requests."""
        terminated, waits = self.context.terminated, True
        while waits:
            with trio.move_on_at(min(self._idle_until, trio.current_time() + HEAD_TIMEOUT)) as self._timer:
                await terminated.wait()
            before, self._late = self._late, self._half_head()
            waits = not (terminated.is_set() or trio.current_time() >= self._idle_until or (before and self._late))
        if self._idle_until == math.inf:
            return  # the last answer ends the connection
        with trio.move_on_after(HEAD_TIMEOUT, shield=True):  # stopping the idle task must not cancel this
            if self._late is not None and not terminated.is_set():
                await self._late.refuse(408)
            await self.protocol.handle(Closed())
            await self._close()

    def answer(self, scope: Message, receive: Any, send: Any, _spawn: Any, _soon: Any) -> Awaitable[None]:
        """Answer one request when awaited. Never raises into the tree."""

        def writer(scope: Message) -> Writer:
            return _WireWriter(self._wire, chunked=scope["http_version"] == "1.1")

        return Exchange(self._api, self._wire, writer).answer(scope, receive, send)


class _WireWriter:
    """Writes HTTP/1 straight to the wire, in chunks if the client supports them."""

    __slots__ = ("_chunked", "_wire", "spoke")

    def __init__(self, wire: Wire, *, chunked: bool) -> None:
        self._wire, self._chunked = wire, chunked
        self.spoke = trio.current_time()

    def send_nowait(self, data: bytes) -> bytes:
        if not data:
            return b""
        self.spoke = trio.current_time()
        return bytes(self._wire.send_nowait(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data))

    async def send(self, rest: bytes) -> None:
        await self._wire.send_all(rest)
        self.spoke = trio.current_time()

    async def finish(self) -> None:
        await self._wire.send_all(b"0\r\n\r\n" if self._chunked else b"")


async def _refuse(api: Api, protocol: Http1, status: int) -> None:
    """Answer an invalid request: it broke one of our rules or h11's, or its head came too late."""
    fault = protocol.strict.fault
    if fault is not None:
        rule, where = fault.rule, fault.where
    elif status == 408:
        rule, where = f"The head of the request was not complete after {HEAD_TIMEOUT} s.", "head"
    else:
        rule, where = "The request is not HTTP/1.1 as RFC 9112 defines it.", "head"
    await protocol.answer(*refused(api, status, where, rule))
