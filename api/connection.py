"""One connection: Hypercorn's protocol on a stream of ours, and the way from a Quart answer to a live stream.

`Wire` is the stream that Hypercorn is handed, and the place from which a live stream is written straight: Quart and
all its hooks answer `GET /v1/stream` with a head and a reader, Hypercorn sends that head, and from then on each chunk
goes to the socket without passing their layers again (a third of the cost, half of the memory).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, RawData
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext

from api.bins_door import is_for_a_bin
from api.export import Export, Revoked, pour
from api.http1 import Http1
from api.problems import INTERNAL, MEDIA, FieldError, Refusal, refusal_of
from api.reader import SEND_SIZE, FellBehind, Reader
from api.sse import left_behind, stopping
from api.wire import Wire
from storage.errors import StorageError

if TYPE_CHECKING:
    from api.app import Api
    from api.feed import Feed
    from api.signs import Writer
    from api.streams import Holder
    from storage.records.key import ApiKey

GONE = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""What a send says when the client has gone or was cut: a stream's ordinary end."""
RETURN = 3.0
"""Seconds after which the clients of a service that stops may come back, the last of them after twice as many."""
HEAD_TIMEOUT = 10
"""Seconds for the head of a request, and for the next request on a connection that is kept."""
LINGER = 1.0
"""Seconds for which a peer is heard that may not have read yet why its connection ends."""
OPENED = "sanderling.opened"
"""Where in an ASGI scope a view leaves the key (or session) and the reader of a stream that it has opened."""
Message = dict[str, Any]


class Connection(TCPServer):
    """Hypercorn's server of one connection; itself the application that its requests are given to."""

    def __init__(self, api: Api, config: Config, context: WorkerContext, wire: Wire) -> None:
        super().__init__(self.answer, config, context, {}, wire)  # type: ignore[arg-type]  # it asks for less than an SSLStream
        self._api, self._wire = api, wire
        self._app: Any = api  # plain ASGI: dicts, as it arrives from Hypercorn
        self._reading = trio.CancelScope()
        self._leaving = False
        self._bins: Any = api.bins
        self._dashboard: Any = api.dashboard

    @property
    def protocol(self) -> ProtocolWrapper:
        """The protocol: ours in the place of Hypercorn's, which has no hook for what cannot be parsed."""
        return self._protocol

    @protocol.setter
    def protocol(self, wrapper: ProtocolWrapper) -> None:
        made = wrapper.protocol
        assert isinstance(made, H11Protocol)
        wrapper.protocol = Http1(made, partial(_refuse, self._api))
        self._protocol = wrapper

    async def _read_data(self) -> None:
        """Read until the peer's end, or for a moment more once all is said; no longer wait for a next request."""
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
        """Close. A peer that may be sending yet is heard to the end for a moment, unread.

        A system that closes a socket with something unread in it resets the connection, and the peer loses the answer
        that says what was wrong.
        """
        http = self._protocol.protocol
        talking = isinstance(http, Http1) and http.strict.unread and not self.context.terminated.is_set()
        if talking and not self._leaving and self._wire.half_close():
            self._leaving = True
            self._reading.deadline = trio.current_time() + LINGER
        else:
            await self._wire.aclose()

    async def _idle_timeout(self) -> None:
        with trio.move_on_after(HEAD_TIMEOUT):
            await self.context.terminated.wait()
        http = self._protocol.protocol
        late = http if isinstance(http, Http1) and http.strict.half_head else None
        with trio.move_on_after(HEAD_TIMEOUT, shield=True):  # what it does here would else end it
            if late is not None and not self.context.terminated.is_set():
                await late.refuse(408)
            await self.protocol.handle(Closed())
            await self._close()

    async def answer(self, scope: Message, receive: Any, send: Any, _spawn: Any, _soon: Any) -> None:
        """Answer one request through Quart, at a bin without it; if that opens a stream, feed it.

        Nothing raised here reaches the tree.
        """
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
            await self._door(scope)(scope, receive, tap)
            if head is not None:
                await self._stream(scope, head, send)
        except Exception as error:
            self._api.report(error, scope)
            if not begun and head is None:
                await self._fail(send, refusal_of(error) or INTERNAL)

    def _door(self, scope: Message) -> Any:
        """Return who answers a request: a bin, the dashboard, or the API, which is alone on the admin socket."""
        if self._api.owner is not None:
            return self._app
        if is_for_a_bin(scope):
            return self._bins
        return self._dashboard if self._dashboard.serves(scope.get("path", "")) else self._app

    async def _stream(self, scope: Message, head: Message, send: Any) -> None:
        head["headers"] = [pair for pair in head["headers"] if pair[0].lower() != b"content-length"]
        key, source = scope[OPENED]
        await send(head)
        head["headers"] = scope["headers"] = []  # nobody reads them any more, and a stream may stay for weeks
        writer, whole = self._writer(scope["http_version"], send), False
        try:
            whole = await (self._pour if isinstance(source, Export) else self._feed)(key, source, writer)
        finally:
            if not whole:
                await self._wire.cut()  # what stopped half way must not look like an end
        if not self._wire.eof:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pour(self, key: ApiKey, export: Export, writer: Writer) -> bool:
        """Write an export; return whether all of it was written."""
        wire, doors = self._wire, self._api.doors
        with self._api.streams.exports.running(key), trio.CancelScope() as scope, suppress(*GONE):
            wire.on_eof = scope.cancel
            try:
                if not wire.eof:
                    await pour(export, writer, doors.storage.keys, key)
                    return True
            except (FellBehind, Revoked, StorageError) as error:
                doors.world.log("export.cut", level="warning", export=repr(export), error=repr(error))
            finally:
                wire.on_eof = None
        return False

    async def _feed(self, key: Holder, reader: Reader | Feed, writer: Writer) -> bool:
        """Write a stream for as long as it lasts. Whenever that ends, it has said all that it had to say."""
        wire, streams, last_words = self._wire, self._api.streams, b""
        with streams.opened(key) as scope, suppress(*GONE):
            wire.on_eof = scope.cancel
            wire.hold(SEND_SIZE)
            try:
                if not wire.eof:
                    await (streams.feed(reader, writer) if isinstance(reader, Reader) else reader.feed(writer))
            except FellBehind:
                last_words = left_behind(reader.form)
            finally:
                wire.on_eof = None
        if streams.ending:
            last_words = stopping(reader.form, RETURN * (1 + streams.spread()))
        if last_words and not wire.eof:
            with suppress(*GONE):
                await writer.send(writer.send_nowait(last_words))
        return True

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


_SLUGS = {408: "request-timeout", 414: "target-too-long", 431: "headers-too-large"}


async def _refuse(api: Api, protocol: Http1, status: int) -> None:
    """Answer what never became a request: it broke a rule of ours or of h11, or its head did not come in time."""
    fault = protocol.strict.fault
    if fault is not None:
        rule, where = fault.rule, fault.where
    elif status == 408:
        rule, where = f"The head of the request was not complete after {HEAD_TIMEOUT} s.", "head"
    else:
        rule, where = "The request is not HTTP/1.1 as RFC 9112 defines it.", "head"
    refusal = Refusal(_SLUGS.get(status, "invalid-request"), rule, [FieldError(where, rule)])
    request_id = api.new_request_id()
    api.doors.world.log("http.refused", level="debug", request_id=request_id, status=refusal.status, rule=rule)
    headers = [
        (b"content-type", MEDIA.encode()),
        (b"x-request-id", request_id.encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await protocol.answer(refusal.status, headers, refusal.encode(api.base_url))
