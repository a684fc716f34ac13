"""Strict HTTP/1.1: refuse everything that RFC 9112 lets a server tolerate; one request and its answer; one open stream.

Request smuggling works when two parsers read one request differently. So check each head, byte for byte, before h11
takes it from the same buffer: lines end only in CRLF, no line is folded, the body's length is given once and in one
way, the target is a path, the version is 1.0 or 1.1. Chunks have neither extensions nor trailers. Drop the Upgrade
header and answer the request without it (RFC 9110, section 7.8); this disables h2c too.

A stream on a plain socket leaves its connection after the head: only the socket, the cursor and the limits remain, for
a third of the cost and half of the memory. It has a task while bytes or the log are in its way. Otherwise it is parked:
the tail calls it with new events, `Keepalives`, and `Park` when its peer has gone. A connection with TLS or in memory
needs a task to notice its peer, so its stream waits there.
"""

from __future__ import annotations

import re
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, Literal

import h11
import trio
from h11._readers import READERS, ChunkedReader, maybe_read_from_IDLE_client
from h11._receivebuffer import ReceiveBuffer
from hypercorn.events import RawData
from hypercorn.protocol.h11 import H11Protocol

from actors.overseer.overseer import StreamOwner
from api.app import Api
from api.nouns.service import PROBES
from api.problems import INTERNAL, MEDIA, FieldError, Refusal
from api.refusals import refusal_of
from api.route import Answer
from api.server.wire import Wire
from api.streams.export import Export, Revoked, pour
from api.streams.keepalives import KeepaliveState, Writer
from api.streams.reader import SEND_SIZE, FellBehind, Reader
from api.streams.sse import damaged, left_behind, opening, stopping
from api.streams.streams import Feed
from api.unsent import ADDRESS, OPENED, Outgoing
from storage.errors import Corrupt, StorageError
from storage.records.access import ApiKey, Holder
from storage.records.secrecy import without_secrets

LINE_LIMIT = 8 << 10  # bytes of a request line; RFC 9112 requires at least 8,000
HEAD_LIMIT = 8 << 10  # bytes of a request's headers in total
JOINED = 64 << 10  # bytes of a body that are copied to go out together with their head
_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0")
_METHOD = re.compile(rb"[A-Z]{1,20}")  # Hypercorn upper-cases methods, so a proxy's rules could miss a lower-case one
_CONTROLS = bytes(code for code in (*range(0x20), 0x7F) if code != 0x09)
_BARE = "Lines end in CRLF; a CR or LF alone ends none."
_FOLDED = re.compile(rb"\n[ \t]")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_CHUNK_LINE = 10
_CHUNK_BEGUN = re.compile(rb"[0-9A-Fa-f]{0,8}|[0-9A-Fa-f]{1,8}\r")
_UPGRADE = re.compile(rb"\n(upgrade|http2-settings):", re.IGNORECASE)
Whole = tuple[int, Sequence[tuple[bytes, bytes]], bytes]  # a whole answer: status, headers, body


class Fault(h11.RemoteProtocolError):
    """The peer broke a rule. rule: a sentence; where: the place in the request."""

    def __init__(self, where: str, rule: str, status: int = 400) -> None:
        super().__init__(rule, error_status_hint=status)
        self.where, self.rule = where, rule


def check_head(head: bytes) -> None:
    """Refuse a head that another parser could read differently. It ends in an empty line. Raises Fault."""
    line, _, fields = head.partition(b"\r\n")
    if line.count(b" ") != 2:
        raise Fault("line", "A request line is a method, a path and a version, with one space between them.")
    method, target, version = line.split(b" ")
    if not _METHOD.fullmatch(method):
        raise Fault("line", "The method must be written in capital letters.")
    if version not in _VERSIONS:
        raise Fault("line", "The version must be HTTP/1.1 or HTTP/1.0.")
    if not target.startswith(b"/") or b"#" in target:
        raise Fault("line", "The target must be a path that begins with / and has no fragment.")
    if _FOLDED.search(head):
        raise Fault("headers", "A header may not be folded over lines (RFC 9112, section 5.2).")
    small = fields.lower()
    if b"content-length" in small or b"transfer-encoding" in small:  # most requests have neither
        _check_framing(small, version)


def _check_framing(fields: bytes, version: bytes) -> None:
    """Refuse a body whose length is ambiguous or in an unsupported form. fields: in lower case."""
    said: dict[bytes, list[bytes]] = {b"content-length": [], b"transfer-encoding": []}
    for field in fields.split(b"\r\n"):
        name, _, value = field.partition(b":")
        if name in said:
            said[name].append(value.strip(b" \t"))
    lengths, codings = said.values()
    if len(lengths) + len(codings) > 1:
        raise Fault("header.Content-Length", "Send the length of the body once: Content-Length or Transfer-Encoding.")
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        raise Fault("header.Content-Length", "Content-Length is a decimal number of at most 15 digits.")
    if codings and (codings[0] != b"chunked" or version != b"HTTP/1.1"):
        raise Fault("header.Transfer-Encoding", "The only transfer coding is chunked, with HTTP/1.1.")


def read_head(buffer: ReceiveBuffer) -> h11.Request | None:
    """Take a request's head, without upgrade headers, from a buffer; None while it is incomplete. Raises Fault."""
    raw = bytes(buffer)
    end = raw.find(b"\r\n\r\n")
    seen = raw if end < 0 else raw[: end + 4]
    text = seen.removesuffix(b"\r").replace(b"\r\n", b"")
    if len(text.translate(None, _CONTROLS)) != len(text):
        bare = b"\n" in text or b"\r" in text
        raise Fault("head", _BARE if bare else "A head holds no control characters.")
    line = seen.find(b"\r\n")
    if (line if line >= 0 else len(seen)) > LINE_LIMIT:
        raise Fault("line", f"The request line is longer than {LINE_LIMIT} bytes.", 414)
    if line >= 0 and len(seen) - line > HEAD_LIMIT:
        raise Fault("headers", f"The headers are longer than {HEAD_LIMIT} bytes.", 431)
    if end < 0:
        return None
    check_head(seen)
    request = maybe_read_from_IDLE_client(buffer)
    if request is None or not _UPGRADE.search(seen):
        return request
    kept = [pair for pair in request.headers.raw_items() if pair[0].lower() not in (b"upgrade", b"http2-settings")]
    return h11.Request(method=request.method, target=request.target, headers=kept, http_version=request.http_version)


class Chunks:
    """Takes a chunked body from a buffer: sizes, data, CRLF, nothing else. Joins small chunks."""

    def __init__(self) -> None:
        self._left = 0
        self._awaits: Literal["size", "data", "crlf", "end", "nothing"] = "size"

    def __call__(self, buffer: ReceiveBuffer) -> h11.Data | h11.EndOfMessage | None:
        """Return the data that has arrived, or None. Raises Fault."""
        data = bytearray()
        while self._awaits != "nothing" and self._step(buffer, data):
            pass
        if data:
            return h11.Data(data=bytes(data))
        return h11.EndOfMessage() if self._awaits == "nothing" else None

    def read_eof(self) -> Any:
        raise Fault("body", "The body ended before its last chunk.")

    def _step(self, buffer: ReceiveBuffer, data: bytearray) -> bool:
        if self._awaits == "data":
            piece = buffer.maybe_extract_at_most(self._left)
            data += piece or b""
            self._left -= len(piece or b"")
            self._awaits = "data" if self._left else "crlf"
            return not self._left
        if self._awaits == "size":
            return self._take_size(buffer)
        if not self._take_crlf(buffer):
            return False
        self._awaits = "nothing" if self._awaits == "end" else "size"
        return True

    def _take_size(self, buffer: ReceiveBuffer) -> bool:
        raw = bytes(buffer._data[:_CHUNK_LINE])  # not the whole buffer: that would be quadratic in the chunks
        found = _CHUNK.match(raw)
        if found is None:
            if not _CHUNK_BEGUN.fullmatch(raw):
                raise Fault("body", "A chunk begins with its size in hexadecimal and CRLF; extensions are not read.")
            return False
        buffer.maybe_extract_at_most(found.end())
        self._left = int(found[1], 16)
        self._awaits = "data" if self._left else "end"
        return True

    @staticmethod
    def _take_crlf(buffer: ReceiveBuffer) -> bool:
        raw = bytes(buffer._data[:2])
        if not b"\r\n".startswith(raw):
            raise Fault("body", "A chunk's data ends in CRLF, the last chunk in an empty line; trailers are not read.")
        if raw != b"\r\n":
            return False
        buffer.maybe_extract_at_most(2)
        return True


class StrictConnection(h11.Connection):
    """h11's server side with our strict readers. fault: the broken rule of ours that ended it, if any."""

    fault: Fault | None = None
    _deaf = False

    def receive_data(self, data: bytes) -> None:
        if not self._deaf:
            super().receive_data(data)

    def next_event(self) -> Any:
        """Return the next event, as h11 does. An error during an answer is none: that answer ends the connection."""
        if self._deaf:
            return h11.NEED_DATA
        try:
            return super().next_event()
        except h11.RemoteProtocolError as error:
            self.fault = error if isinstance(error, Fault) else None
            self._deaf = True
            if self.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                raise
            return h11.NEED_DATA

    @property
    def half_head(self) -> bool:
        return self.their_state is h11.IDLE and bool(self.trailing_data[0])

    @property
    def unread(self) -> bool:
        """Whether the peer may still be sending data that will not be read."""
        return self.their_state in (h11.SEND_BODY, h11.ERROR) or bool(self.trailing_data[0])

    def _get_io_object(self, role: Any, event: Any, io_dict: Any) -> Any:
        found = super()._get_io_object(role, event, io_dict)
        if io_dict is not READERS:
            return found
        if found is maybe_read_from_IDLE_client:
            return read_head
        return Chunks() if isinstance(found, ChunkedReader) else found


class Http1(H11Protocol):
    """Hypercorn's HTTP/1.1 on a StrictConnection, without WebSockets and h2c.

    how: returns the answer to an invalid request, given a status and the broken rule; and that to a request without a
    body that needs no task and no application, None for others.
    """

    def __init__(
        self, *of: Any, how: tuple[Callable[[int, Fault | None], Whole], Callable[[Any], Whole | None]]
    ) -> None:
        super().__init__(*of)
        self.strict = StrictConnection(h11.SERVER, max_incomplete_event_size=LINE_LIMIT + HEAD_LIMIT)
        self.connection = self.strict
        self._refusal, self._at_once = how
        self._refused = False
        self._head = b""
        """An answer's head that waits for the body."""

    async def refuse(self, status_code: int) -> None:
        with suppress(h11.LocalProtocolError):  # an answer has begun already
            status, headers, body = self._refusal(status_code, self.strict.fault)
            piece = self._whole(status, [*headers, (b"connection", b"close")], body)
            self._refused = True
            await self.send(piece)

    def _whole(self, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> RawData:
        """Return an answer in one piece: the application's must not interleave. Raises h11.LocalProtocolError."""
        head = h11.Response(status_code=status, headers=[*headers, (b"content-length", b"%d" % len(body))])
        sent = [self.strict.send(event) for event in (head, h11.Data(data=body), h11.EndOfMessage())]
        return RawData(data=b"".join(piece or b"" for piece in sent))

    async def _create_stream(self, request: h11.Request) -> None:
        found = self._at_once(request)
        if found is None:
            await super()._create_stream(request)
            return
        self.strict.next_event()  # the end of the request
        await self.send(self._whole(*found))
        await self._maybe_recycle()

    async def stream_send(self, event: Any) -> None:
        """Send the application's answer, unless the request was refused in the meantime."""
        if not self._refused:
            await super().stream_send(event)

    async def _send_h11_event(self, event: Any) -> None:
        """Send an event of the answer. A head that states the body's length waits for the body, to share its packet."""
        try:
            data = self.strict.send(event) or b""
        except h11.LocalProtocolError:
            if self.strict.their_state != h11.ERROR:
                raise
            return
        if isinstance(event, h11.Response) and any(name == b"content-length" for name, _ in event.headers):
            self._head = data
            return
        head, self._head = self._head, b""
        if len(data) <= JOINED:
            head, data = b"", head + data
        for piece in (head, data):
            if piece:
                await self.send(RawData(data=piece))

    _send_error_response = refuse

    async def _check_protocol(self, event: h11.Request) -> None:
        """Never switch: no h2c, neither by upgrade nor by prior knowledge."""


GONE = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""Errors of a send after the client disconnected or was cut: the normal end of a stream."""
RETURN = 3.0  # seconds until clients may reconnect after a stop; spread up to twice as many
PEERS = 100  # peers that have gone, between two checkpoints


class LiveStream(KeepaliveState):
    """A stream with its slot, its row in the operator's list, and its keepalives, until `run` returns True."""

    __slots__ = ("_api", "_key", "_park", "_row", "_scope", "ended", "number", "reader", "wire")

    def __init__(
        self, api: Api, key: Holder, reader: Reader | Feed, writer: Writer, wire: Wire, *, address: str, asked: str
    ) -> None:
        streams, context = api.streams, api.context
        super().__init__(reader.form, writer, streams.silence())
        self._api, self._key, self.reader, self.wire = api, key, reader, wire
        self._scope: trio.CancelScope | None = None
        self._park: Park | None = None
        self.number = -1
        self.ended = wire.eof
        place = reader if isinstance(reader, Reader) else None
        self.parks = place is not None and wire.parks
        named = (key.name, key.prefix) if isinstance(key, ApiKey) else ("dashboard",)
        whose, add, now = StreamOwner(key.id, *named), context.open_streams.add, context.world.now()
        self._row = add(whose, address, asked, now, progress=place, close=self.cancel)
        streams.add(self, key)
        wire.on_eof = self.cancel
        wire.hold(SEND_SIZE)
        if place is not None:
            self.rest = writer.send_nowait(opening(place.form, place.replay_from))
            streams.keepalives.add(self)
        if self.parks:
            streams.keep_place(key)

    def close(self) -> None:
        streams = self._api.streams
        self.ended, self.waits, self.wire.on_eof = True, False, None
        self._api.context.open_streams.drop(self._row)
        streams.drop(self, self._key)
        if isinstance(self.reader, Reader):
            self.reader.tail.unpark(self)
            streams.keepalives.drop(self)
        if self.parks:
            streams.free_place(self._key)

    async def run(self) -> bool:
        """Feed until the stream parks or ends; return whether it has ended. Any end is regular and gets last words."""
        last_words, streams = b"", self._api.streams
        try:
            last_words = await self._feed()
        finally:
            self._scope = None
            if not self.waits:
                self.close()
        if self.waits:
            return False
        if streams.ending:
            last_words = stopping(self.form, RETURN * (1 + streams.spread()))
        if last_words and not self.wire.eof:
            with suppress(*GONE):
                await self.writer.send(self.writer.send_nowait(last_words))
        return True

    async def _feed(self) -> bytes:
        try:
            with trio.CancelScope() as self._scope, suppress(*GONE):
                if self.ended:
                    return b""
                if not isinstance(self.reader, Reader):
                    await self.reader.feed(self.writer)
                    return b""
                await self._api.streams.feed(self.reader, self)
                if not self.ended:
                    self.waits = True
                    self.reader.tail.park(self)
        except FellBehind:
            self._api.context.world.metrics.fell_behind.add()
            return left_behind(self.form)
        except Corrupt as error:
            self._api.context.world.log("stream.cut", level="warning", error=str(error))
            return damaged(self.form)
        return b""

    def cancel(self) -> None:
        if not self.ended:
            self.ended = True
            if self._scope is not None:
                self._scope.cancel()
            elif self.waits:
                self._wake()

    def interrupt(self) -> None:
        if self.parks and self.waits:
            self._wake()
        else:
            super().interrupt()

    def published(self) -> None:
        """Write new events, if that needs no waiting; else let a task do it."""
        reader = self.reader
        if not isinstance(reader, Reader) or reader.at_end():
            return
        try:
            frames = reader.take_nowait()
        except Exception as error:  # last resort: one stream's bug must not end the others
            self._api.report(error, {})
            self.cancel()
            return
        if frames:
            reader.sent += len(frames)
            self.rest = self.writer.send_nowait(frames)
        if self.rest or not reader.at_end():
            self._wake()

    def settle(self, park: Park) -> None:
        self._park = park
        self._wake()

    def _wake(self) -> None:
        assert isinstance(self.reader, Reader) and self._park is not None
        self.waits = False
        self.reader.tail.unpark(self)
        self._park.start(self)


class Park:
    """The streams of one server that have left their connections. release: gives up the place of a connection."""

    def __init__(self, nursery: trio.Nursery, api: Api, release: Callable[[Wire], None]) -> None:
        assert sys.platform == "linux"
        self._nursery, self._api, self._release = nursery, api, release
        self._streams: dict[int, LiveStream] = {}
        self._peers = select.epoll()
        nursery.start_soon(self._watch)

    def add(self, stream: LiveStream) -> None:
        stream.number = stream.wire.fileno()
        if stream.number < 0 or self._peers.closed:
            stream.ended = True
        else:
            self._streams[stream.number] = stream
            self._peers.register(stream.number, select.EPOLLRDHUP | select.EPOLLONESHOT)
        stream.settle(self)

    def start(self, stream: LiveStream) -> None:
        self._nursery.start_soon(self._run, stream)

    async def _run(self, stream: LiveStream) -> None:
        over = True
        try:
            over = await stream.run()
            if over and not stream.wire.eof:
                with suppress(*GONE):
                    await stream.writer.finish()
        except Exception as error:  # last resort: one stream's bug must not end the others
            self._api.report(error, {})
        finally:
            if not over and self._peers.closed:  # the server was cut off before the task began
                over = True
                stream.close()
            if over:
                self._drop(stream)

    def _drop(self, stream: LiveStream) -> None:
        if self._streams.get(stream.number) is stream:  # else another has the number by now
            del self._streams[stream.number]
            with suppress(OSError, ValueError):  # it or the epoll may be closed
                self._peers.unregister(stream.number)
        stream.wire.close()
        self._release(stream.wire)

    async def _watch(self) -> None:
        """Notice the peers that go. When cancelled, close every stream that has no task."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self._peers.fileno())
                for number, _ in self._peers.poll(0, PEERS):
                    if (stream := self._streams.get(number)) is not None:
                        stream.wire.ended()
        finally:
            self._peers.close()
            for parked in [stream for stream in self._streams.values() if stream.waits]:
                parked.close()
                self._drop(parked)


LONGEST_SHOWN = 500  # letters of a stream's request that are stored for display
Message = dict[str, Any]
_SLUGS = {408: "request-timeout", 414: "target-too-long", 431: "headers-too-large", 503: "unavailable"}


class Exchange:
    """Routes the requests of a connection to their applications."""

    __slots__ = ("_api", "_line")

    def __init__(self, api: Api, line: Wire) -> None:
        self._api, self._line = api, line

    async def answer(self, scope: Message, receive: Any, send: Any, *_: Any) -> None:
        """Answer through Quart, or at a bin without it. If that opens a stream, feed it. Never raises into the tree."""
        head: Message | None = None
        begun = False

        async def tap(message: Message) -> None:
            nonlocal head, begun
            if OPENED not in scope:
                begun = True
                await outgoing.send(message)
            elif message["type"] == "http.response.start":
                head = message

        others = () if self._api.alone else self._api.endpoints  # other listeners have only the API
        application: Any = next((each for each in others if each.applies(scope)), self._api)
        if application is self._api and self._api.face_of(scope) is self._api.programs:
            send = partial(self._count, send)
        outgoing = Outgoing(self._api.unsent, self._api.proxies, self._api.base_url, scope, send)
        try:
            with outgoing:
                await application(scope, receive, tap)
                await outgoing.settle()
            if head is not None:
                with self._place(*scope[OPENED]):
                    begun = True
                    await self._stream(scope, head, send)
        except Exception as error:
            if begun or not isinstance(error, Refusal):
                self._api.report(error, scope)
            if not begun:
                await self._fail(send, refusal_of(error) or INTERNAL)

    async def _count(self, send: Any, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._api.context.world.metrics.requests.add(f"{message['status'] // 100}xx")
        await send(message)

    def _place(self, key: Any, source: Reader | Feed | Export) -> AbstractContextManager[None]:
        # Check again and take the slot: others may have been admitted while heads were being sent.
        streams = self._api.streams
        return streams.exports.running(key) if isinstance(source, Export) else streams.place(key)

    async def _stream(self, scope: Message, head: Message, send: Any) -> None:
        head["headers"] = [pair for pair in head["headers"] if pair[0].lower() != b"content-length"]
        key, source = scope[OPENED]
        if isinstance(source, Reader) and self._line.parks:
            head["headers"].append((b"connection", b"close"))  # no further request is read
        query = scope.get("query_string", b"").decode("latin-1")
        asked = without_secrets(f"{scope['path']}?{query}" if query else str(scope["path"]))[:LONGEST_SHOWN]
        await send(head)
        head["headers"] = scope["headers"] = []  # free them: a stream may run for weeks
        writer, whole = _WireWriter(self._line, chunked=scope["http_version"] == "1.1"), False
        try:
            if isinstance(source, Export):
                whole = await self._pour(key, source, writer)
            else:
                address = scope.get(ADDRESS, "")
                stream = LiveStream(self._api, key, source, writer, self._line, address=address, asked=asked)
                if stream.parks:
                    self._line.stream, whole = stream, True  # the connection ends, the stream continues
                    return
                whole = await stream.run()
        finally:
            if not whole:
                await self._line.cut()  # a partial answer must not look complete
        if not self._line.eof:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pour(self, key: Holder, export: Export, writer: Writer) -> bool:
        line, context = self._line, self._api.context
        with trio.CancelScope() as scope, suppress(*GONE):
            line.on_eof = scope.cancel
            try:
                if not line.eof:
                    await pour(export, writer, partial(self._api.streams.has_gone, key))
                    return True
            except (FellBehind, Revoked, StorageError) as error:
                context.world.log("export.cut", level="warning", export=repr(export), error=repr(error))
            finally:
                line.on_eof = None
        return False

    async def _fail(self, send: Any, refusal: Refusal) -> None:
        body = refusal.encode(self._api.base_url)
        headers = [(b"content-type", MEDIA.encode()), (b"content-length", b"%d" % len(body))]
        headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


class _WireWriter:
    __slots__ = ("_chunked", "_wire", "spoke")

    def __init__(self, wire: Wire, *, chunked: bool) -> None:
        self._wire, self._chunked = wire, chunked
        self.spoke = trio.current_time()

    def send_nowait(self, data: bytes) -> bytes:
        if not data:
            return b""
        self.spoke = trio.current_time()
        framed = b"".join((b"%x\r\n" % len(data), data, b"\r\n")) if self._chunked else data  # `%b` copies twice
        return bytes(self._wire.send_nowait(framed))

    async def send(self, rest: bytes) -> None:
        await self._wire.send_all(rest)
        self.spoke = trio.current_time()

    async def finish(self) -> None:
        await self._wire.send_all(b"0\r\n\r\n" if self._chunked else b"")


_ROUTED = frozenset(b"authorization content-length origin transfer-encoding x-api-key x-request-id".split())
"""Headers that change the answer to a probe, or say that it has a body."""


def probed(api: Api, request: h11.Request) -> Whole | None:
    """Return the answer to a plain probe, as the framework would give it; None for other requests."""
    path = request.target.decode("latin-1")
    if path not in PROBES or request.method != b"GET" or api.alone or any(n in _ROUTED for n, _ in request.headers):
        return None
    try:
        answer = PROBES[path](api.context)
    except Refusal as refusal:
        answer = Answer(refusal.encode(api.base_url, path), refusal.status, MEDIA, dict(refusal.headers))
    api.context.world.metrics.requests.add(f"{answer.status // 100}xx")
    named = {**answer.headers, "Content-Type": answer.media, "X-Request-Id": api.new_request_id()}
    named |= {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **api.only_https}
    return answer.status, [(name.lower().encode(), value.encode()) for name, value in named.items()], answer.encoded()


def refused(api: Api, status: int, fault: Fault | None) -> Whole:
    where, rule = "head", "The request is not HTTP/1.1 as RFC 9112 defines it."
    if fault is not None:
        where, rule = fault.where, fault.rule
    refusal = Refusal(_SLUGS.get(status, "invalid-request"), rule, [FieldError(where, rule)])
    request_id = api.new_request_id()
    api.context.world.log("http.refused", level="debug", request_id=request_id, status=refusal.status, rule=rule)
    headers = {"content-type": MEDIA, "x-request-id": request_id, "cache-control": "no-store"}
    headers |= {"x-content-type-options": "nosniff"} | ({"retry-after": "10"} if status == 503 else {})
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return refusal.status, pairs, refusal.encode(api.base_url)
