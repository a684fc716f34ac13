"""One connection: Hypercorn's protocol on a stream of ours, and the way from a Quart answer to a live stream.

Hypercorn shields its sends without a deadline, so that one client that stops reading would hold up every stop; `Wire`
is the stream we hand it, and puts a deadline on each send. `Wire` is also the place from which a live stream is
written straight: Quart and all its hooks answer `GET /v1/stream` with a head and a reader, Hypercorn sends that head,
and from then on each chunk goes to the socket without passing their layers again (a third of the cost, half of the
memory).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import h11
import trio
from hypercorn.config import Config
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext

from api.problems import INTERNAL, MEDIA, Refusal, refusal_of
from api.reader import FellBehind, Reader
from api.sse import left_behind, stopping

if TYPE_CHECKING:
    from api.app import Api
    from api.streams import Writer
    from storage.records.key import ApiKey

GONE = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""What a send says when the client has gone or was cut: a stream's ordinary end."""
RETURN = 3.0
"""Seconds after which the clients of a service that stops may come back, the last of them after twice as many."""
OPENED = "sanderling.opened"
"""Where in an ASGI scope a view leaves the key and the reader of a stream that it has opened."""
Message = dict[str, Any]


class _NoSocket:
    """What Hypercorn asks of a socket, for streams that have none (memory streams)."""

    family = socket.AF_INET

    def getpeername(self) -> tuple[str, int]:
        return ("127.0.0.1", 0)

    getsockname = getpeername


class Wire(trio.abc.Stream):
    """A connection's byte stream with a deadline on every send. `eof` once the peer has gone, or was cut off."""

    def __init__(self, inner: trio.abc.Stream, patience: float) -> None:
        self.socket = getattr(inner, "socket", None) or _NoSocket()
        self.eof = False
        self.on_eof: Callable[[], None] | None = None
        self._inner, self._patience = inner, patience
        self._sending: trio.CancelScope | None = None
        plain = isinstance(inner, trio.SocketStream)
        self._descriptor = inner.socket.fileno() if plain else None  # type: ignore[attr-defined]  # seen by `plain` only

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything, or cut the connection after the deadline, or when cancelled half way.

        Raises trio.BrokenResourceError when cut off, by either end.
        """
        data = self.send_nowait(data)
        if not data:
            await trio.lowlevel.checkpoint()
            return
        done = False
        try:
            with trio.CancelScope(deadline=trio.current_time() + self._patience) as self._sending:
                await self._inner.send_all(data)
                done = True
        finally:
            self._sending = None
            if not done:
                await self._cut()
        if not done:
            raise trio.BrokenResourceError("the peer took nothing until the deadline")

    def send_nowait(self, data: bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
        """Send what a socket takes at once; return the rest (all of it, where there is no socket).

        Trio's own send does the same and costs more than the system call. An error is left to the next `send_all`.
        """
        if self._descriptor is None or self.eof:
            return data
        try:
            return data[os.write(self._descriptor, data) :]
        except OSError:
            return data

    async def wait_send_all_might_not_block(self) -> None:
        """Wait as the inner stream does."""
        await self._inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive, and notice the peer's end."""
        try:
            data = await self._inner.receive_some(max_bytes)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._ended()
            raise
        if not data:
            self._ended()
        return data

    async def aclose(self) -> None:
        """Close."""
        self._descriptor = None  # the system gives the number to the next connection
        await self._inner.aclose()

    def hurry(self) -> None:
        """Give up the send under way, if any: the service stops."""
        self._patience = 0.0
        if self._sending is not None:
            self._sending.cancel()

    async def _cut(self) -> None:
        self._ended()
        self._descriptor = None
        await trio.aclose_forcefully(self._inner)

    def _ended(self) -> None:
        self.eof = True
        if self.on_eof is not None:
            self.on_eof()


class Connection(TCPServer):
    """Hypercorn's server of one connection; itself the application that its requests are given to."""

    def __init__(self, api: Api, config: Config, context: WorkerContext, wire: Wire) -> None:
        super().__init__(self.answer, config, context, {}, wire)  # type: ignore[arg-type]  # it asks for less than an SSLStream
        self._api, self._wire = api, wire
        self._app: Any = api  # plain ASGI: dicts, as it arrives from Hypercorn

    @property
    def protocol(self) -> ProtocolWrapper:
        """The protocol; what it can't parse is answered with a problem document instead of an empty body."""
        return self._protocol

    @protocol.setter
    def protocol(self, wrapper: ProtocolWrapper) -> None:
        assert isinstance(wrapper.protocol, H11Protocol)
        assert callable(wrapper.protocol._send_error_response)
        wrapper.protocol._send_error_response = partial(_refuse, self._api, wrapper.protocol)  # type: ignore[method-assign]  # Hypercorn has no hook
        self._protocol = wrapper

    async def _read_data(self) -> None:
        """Read until the peer's end, and then do not wait for the next request's deadline."""
        await super()._read_data()
        await self.idle_task.stop()

    async def answer(self, scope: Message, receive: Any, send: Any, _spawn: Any, _soon: Any) -> None:
        """Answer one request through Quart; if that opens a stream, feed it. Nothing raised here reaches the tree."""
        head: Message | None = None
        begun = False

        async def tap(message: Message) -> None:
            nonlocal head, begun
            if OPENED not in scope:
                begun = True
                await send(message)
            elif message["type"] == "http.response.start":
                head = message

        try:
            await self._app(scope, receive, tap)
            if head is not None:
                await self._stream(scope, head, send)
        except Exception as error:
            self._api.report(error, scope)
            if not begun and head is None:
                await self._fail(send, refusal_of(error) or INTERNAL)

    async def _stream(self, scope: Message, head: Message, send: Any) -> None:
        head["headers"] = [pair for pair in head["headers"] if pair[0].lower() != b"content-length"]
        key, reader = scope[OPENED]
        await send(head)
        head["headers"] = scope["headers"] = []  # nobody reads them any more, and a stream may stay for weeks
        await self._feed(key, reader, self._writer(scope["http_version"], send))
        if not self._wire.eof:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _feed(self, key: ApiKey, reader: Reader, writer: Writer) -> None:
        wire, streams, last_words = self._wire, self._api.streams, b""
        with streams.opened(key) as scope, suppress(*GONE):
            wire.on_eof = scope.cancel
            try:
                if not wire.eof:
                    await streams.feed(reader, writer)
            except FellBehind:
                last_words = left_behind(reader.form)
            finally:
                wire.on_eof = None
        if streams.ending:
            last_words = stopping(reader.form, RETURN * (1 + streams.spread()))
        if last_words and not wire.eof:
            with suppress(*GONE):
                await writer.send(writer.send_nowait(last_words))

    def _writer(self, version: str, send: Any) -> Writer:
        """Return what writes a body whose head has been sent."""
        if version in ("1.0", "1.1"):
            return _WireWriter(self._wire, chunked=version == "1.1")
        return _AsgiWriter(send, self._api.doors.settings.send_timeout)

    async def _fail(self, send: Any, refusal: Refusal) -> None:
        body = refusal.encode(self._api.base_url)
        headers = [(b"content-type", MEDIA.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


class _WireWriter:
    """Writes HTTP/1 straight to the wire, in chunks if the client knows them."""

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


class _AsgiWriter:
    """Writes through Hypercorn: HTTP/2 has flow control of its own, which waits for the client's window."""

    def __init__(self, send: Any, patience: float) -> None:
        self._send, self._patience = send, patience
        self.spoke = trio.current_time()

    def send_nowait(self, data: bytes) -> bytes:
        return data

    async def send(self, rest: bytes) -> None:
        with trio.fail_after(self._patience):
            await self._send({"type": "http.response.body", "body": rest, "more_body": True})
        self.spoke = trio.current_time()


async def _refuse(api: Api, protocol: H11Protocol, status: int) -> None:
    slug = "headers-too-large" if status == 431 else "invalid-request"
    refusal = Refusal(slug, "The request is not HTTP/1.1 as RFC 9112 defines it, or its head is larger than 8 KiB.")
    body = refusal.encode(api.base_url)
    headers = [
        (b"content-type", MEDIA.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        (b"x-request-id", api.new_request_id().encode()),
    ]
    await protocol._send_h11_event(h11.Response(status_code=refusal.status, headers=headers))
    await protocol._send_h11_event(h11.Data(data=body))
    await protocol._send_h11_event(h11.EndOfMessage())
