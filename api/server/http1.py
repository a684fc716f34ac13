"""Strict HTTP/1.1: refuse everything that RFC 9112 lets a server tolerate.

Request smuggling works when two parsers read one request differently. So check each head, byte for byte, before h11
takes it from the same buffer: lines end only in CRLF, no line is folded, the body's length is given once and in one
way, the target is a path, the version is 1.0 or 1.1. Chunks have neither extensions nor trailers. Drop the Upgrade
header and answer the request without it (RFC 9110, section 7.8); this disables h2c too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import h11
from h11._readers import READERS, ChunkedReader, maybe_read_from_IDLE_client
from h11._receivebuffer import ReceiveBuffer
from hypercorn.events import RawData
from hypercorn.protocol.h11 import H11Protocol

LINE_LIMIT = 8 << 10
"""Bytes of a request line; RFC 9112 requires at least 8,000."""
HEAD_LIMIT = 8 << 10
"""Bytes of a request's headers in total."""
JOINED = 64 << 10
"""Bytes of a body that are copied to go out together with their head."""
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
Whole = tuple[int, Sequence[tuple[bytes, bytes]], bytes]
"""A whole answer: status, headers, body."""


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
