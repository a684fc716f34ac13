"""HTTP/2 as we speak it: h2 between our own reading of frames and heads and our own order of sending. No I/O.

What is left of h2 is the state of connection and streams, HPACK, and the windows. A fault of one request (RFC 9113,
section 8.1.1) stays with its stream; what is wrong with the connection ends it, as the RFC asks. What is to be sent
waits in an outbox for each stream, and leaves in turns of one frame each, so that a stream whose window is shut, or
that has much to say, holds up no other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from h2.config import H2Configuration
from h2.connection import AllowedStreamIDs, H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from h2.stream import H2Stream

from api.frames import FRAME_LIMIT, PREFACE, Code, ConnectionFault, Frame, Frames, Kind, goaway
from api.http2_head import Fault, Fields, Head, check_values, read_head
from api.outbox import Outbox

STREAMS = 100
"""Requests at once on one connection; RFC 9113 asks for no fewer."""
HEADS = 16 << 10
"""Bytes of a head that we ask for at most; up to `DECODED` it gets an answer that says what is too long."""
DECODED = 64 << 10
"""Bytes of a head, decoded, beyond which the connection ends: a bomb of HPACK (CVE-2016-6581)."""
WINDOW = 1 << 20
"""Bytes of bodies on their way to us over one connection; for each stream it is HTTP/2's own 64 KiB."""
UNSENT = 256 << 10
"""Bytes that a peer may make us say without reading them."""
_NO_PRIORITIES = 9  # RFC 9218
_CONFIGURATION = H2Configuration(  # the checks are ours: `read_head`, `check_values`
    client_side=False, header_encoding=None, validate_inbound_headers=False, validate_outbound_headers=False
)


class Opened(NamedTuple):
    """A request has come; `ended`: it has no body."""

    stream: int
    head: Head | Fault
    ended: bool


class Arrived(NamedTuple):
    """A part of a body. Its place in the windows is given back by `Http2.consumed`."""

    stream: int
    data: bytes


class Ended(NamedTuple):
    """The body is complete."""

    stream: int


class Broken(NamedTuple):
    """The request turned out to be malformed; nothing more of it comes."""

    stream: int
    fault: Fault


class Gone(NamedTuple):
    """The stream was reset, by either side."""

    stream: int


Happening = Opened | Arrived | Ended | Broken | Gone


class _Half:
    """What we know of an open stream.

    left: bytes of body that were announced and have not come; unread: that came; deaf: no more is read; ended: all
    came; ending: the outbox holds the last; answered: it was sent; gone: reset.
    """

    __slots__ = ("answered", "deaf", "ended", "ending", "gone", "left", "outbox", "unread")

    def __init__(self, left: int | None, ended: bool) -> None:
        self.left, self.ended = left, ended
        self.unread = 0
        self.outbox = Outbox()
        self.ending = self.answered = self.gone = False
        self.deaf = ended


class _Stream(H2Stream):
    """h2's stream without its check of Content-Length, which would end the whole connection."""

    def _initialize_content_length(self, headers: object) -> None:
        self._expected_content_length = None


class _Connection(H2Connection):
    """h2's connection, which remembers fewer closed streams, and makes streams of ours."""

    MAX_CLOSED_STREAMS = 1_000

    def _begin_new_stream(self, stream_id: int, allowed_ids: AllowedStreamIDs) -> H2Stream:
        like = super()._begin_new_stream(stream_id, allowed_ids)
        windows = like.inbound_flow_control_window, like.outbound_flow_control_window
        made = self.streams[stream_id] = _Stream(stream_id, self.config, *windows)
        made.max_outbound_frame_size = like.max_outbound_frame_size
        return made


class Http2:
    """The server's side of one connection. over: why it ends, once it must; leaving: no new streams come or are taken.

    Bytes go in by `feed` and come out of `step` as what they mean; `pump` returns bytes to send.
    """

    def __init__(self) -> None:
        self._h2 = _Connection(_CONFIGURATION)
        self._frames = Frames()
        self._open: dict[int, _Half] = {}
        self._waiting: dict[int, None] = {}
        self._queued = 0
        self._out = bytearray()
        self._last = 0
        self.over: str | None = None
        self.leaving = False
        self._greet()

    @property
    def in_head(self) -> bool:
        """Whether a head has begun whose end has not come."""
        return self._frames.block_open

    @property
    def has_words(self) -> bool:
        """Whether `pump` may have something to send."""
        return bool(self._out or self._waiting)

    def feed(self, data: bytes | bytearray) -> None:
        """Take what has arrived."""
        self._frames.feed(data)

    def step(self, now: float) -> Sequence[Happening] | None:
        """Read the next frame and return what it means; None when no whole one is there, or all is over."""
        if self.over is not None:
            return None
        try:
            frame = self._frames.next_frame(now)
            if frame is None:
                return None
            found = [happening for event in self._take(frame) for happening in self._meaning(event, now)]
            self._collect()
            if len(self._out) > UNSENT:
                raise ConnectionFault(Code.ENHANCE_YOUR_CALM, "The peer makes us talk and does not listen.")
        except ConnectionFault as fault:
            self.end(fault.code, str(fault))
        except ProtocolError as error:  # of which h2 has told the peer
            self.over = str(error)
        else:
            return found
        return None

    def consumed(self, stream: int, size: int) -> None:
        """Give the place of so much of a body back to the peer."""
        half = self._open.get(stream)
        if half is not None and size and self.over is None:
            half.unread -= size
            self._h2.acknowledge_received_data(size, stream)

    def proceed(self, stream: int) -> None:
        """Ask for a body that the client holds back until it is asked."""
        if self._alive(stream) is not None:
            self._h2.send_headers(stream, [(b":status", b"100")])

    def respond(self, stream: int, status: int, headers: Fields, *, ended: bool = False) -> None:
        """Send the head of an answer; `ended`: there is no more of it. Raises ValueError for what is no header."""
        check_values(headers)
        half = self._alive(stream)
        if half is not None:
            fields: Fields = [(b":status", b"%d" % status), *headers]
            self._h2.send_headers(stream, fields, end_stream=ended)
            half.answered = ended

    def put(self, stream: int, data: bytes, *, ended: bool = False) -> None:
        """Lay data into a stream's outbox; `ended`: it is the last."""
        half = self._alive(stream)
        if half is not None and not half.answered:
            half.outbox.put(data)
            half.ending = ended
            self._queued += len(data)
            self._waiting[stream] = None

    def room(self, stream: int) -> int:
        """Return how many bytes can be put that no window holds up."""
        half = self._alive(stream)
        if half is None or half.answered:
            return 0
        mine = self._h2.streams[stream].outbound_flow_control_window - len(half.outbox)
        return max(0, min(mine, self._h2.outbound_flow_control_window - self._queued))

    def pending(self, stream: int) -> int:
        """Return how many bytes wait in a stream's outbox; 1 when only its end does."""
        half = self._open.get(stream)
        return 0 if half is None else len(half.outbox) or int(half.ending)

    def reset(self, stream: int, code: Code) -> None:
        """End a stream in the middle; what waits in its outbox is dropped."""
        half = self._alive(stream)
        if half is not None:
            self._lose(stream, half)
            self._reset(stream, code)

    def close(self, stream: int) -> None:
        """Take a stream off the list, whose handler is done. If it does not look whole, it is reset."""
        half = self._open.get(stream)
        if half is None:
            return
        gone = half.gone
        self.consumed(stream, half.unread)
        self._lose(stream, half)
        del self._open[stream]
        if self.over is None and not gone and not (half.answered and half.ended):
            # NO_ERROR: the answer is whole, the rest of the request is not wanted (RFC 9113, section 8.1)
            self._reset(stream, Code.NO_ERROR if half.answered else Code.INTERNAL_ERROR)

    def leave(self) -> None:
        """Say that no new streams are taken; those that are open go on. A second call says nothing."""
        if not self.leaving and self.over is None:
            self.leaving = True
            self._collect()
            self._out += goaway(self._last, Code.NO_ERROR)

    def end(self, code: Code, why: str) -> None:
        """Say that this is the end of the connection."""
        if self.over is None:
            self.over = why
            self._collect()
            self._out += goaway(self._last, code)

    def pump(self, limit: int) -> bytes:
        """Return what is to be sent next, about so many bytes; b"" when nothing is, or every window is shut."""
        self._collect()
        while len(self._out) < limit and self.over is None and self._go_round(limit):
            pass
        data = bytes(self._out)
        self._out.clear()
        return data

    def __len__(self) -> int:
        return len(self._open)

    def __repr__(self) -> str:
        state = f"over: {self.over}" if self.over is not None else "leaving" if self.leaving else "open"
        return f"<Http2 {len(self._open)} streams, {self._queued} bytes queued, {state}>"

    def _greet(self) -> None:
        codes, h2 = SettingCodes, self._h2
        said = {codes.MAX_CONCURRENT_STREAMS: STREAMS, codes.MAX_HEADER_LIST_SIZE: HEADS, _NO_PRIORITIES: 1}
        h2.local_settings = Settings(client=False, initial_values=said)  # type: ignore[arg-type]  # h2 knows no 9
        h2.initiate_connection()
        h2.receive_data(PREFACE)  # which `Frames` takes off
        # h2 would end the connection for one stream too many; RFC 9113 (5.1.2) has us refuse that one.
        h2.local_settings = Settings(client=False, initial_values={SettingCodes.MAX_CONCURRENT_STREAMS: 2**31 - 1})
        h2.decoder.max_header_list_size = DECODED
        h2.increment_flow_control_window(WINDOW - h2.inbound_flow_control_window)

    def _take(self, frame: Frame) -> Sequence[Event]:
        """Hand a frame to h2; GOAWAY is ours, since h2 would send nothing after it."""
        if frame.kind != Kind.GOAWAY or self.in_head:
            return self._h2.receive_data(frame.encode())
        if frame.stream or len(frame.payload) < 8:
            raise ConnectionFault(Code.PROTOCOL_ERROR, "GOAWAY is malformed.")
        _, code = struct.unpack_from(">LL", frame.payload)
        self.leaving = True
        if code:
            self.over = f"The peer ends the connection with the code {code}."
        return ()

    def _meaning(self, event: Event, now: float) -> Iterator[Happening]:
        if isinstance(event, RequestReceived):
            yield from self._opened(event, now)
            return
        stream = getattr(event, "stream_id", None)
        half = self._open.get(stream) if stream is not None else None
        match event:
            case DataReceived():
                yield from self._arrived(event, half, now)
            case TrailersReceived(stream_id=stream) if half is not None and not half.deaf:
                yield self._broken(stream, half, Fault("body", "Trailers are not read."), now)
            case StreamEnded(stream_id=stream) if half is not None:
                half.ended = True
                if half.left and not half.deaf:
                    yield self._broken(stream, half, Fault("body", "The body is shorter than Content-Length."), now)
                elif not half.deaf:
                    half.deaf = True
                    yield Ended(stream)
            case StreamReset(stream_id=stream, remote_reset=remote):
                if not remote:  # a fault of the peer's that h2 has answered so (CVE-2025-8671)
                    self._frames.spend("reset", now)
                if half is not None:
                    self._lose(stream, half)
                    yield Gone(stream)
            case _:
                pass

    def _opened(self, event: RequestReceived, now: float) -> Iterator[Happening]:
        stream, ended = event.stream_id, event.stream_ended is not None
        if self.leaving or len(self._open) >= STREAMS:
            self._frames.spend("reset", now)
            self._reset(stream, Code.REFUSED_STREAM)
            return
        head: Head | Fault
        try:
            head = read_head(event.headers, ended=ended)
        except Fault as fault:
            self._frames.spend("reset", now)
            head = fault
        self._last = stream
        self._open[stream] = _Half(head.length if isinstance(head, Head) else None, ended)
        yield Opened(stream, head, ended)

    def _arrived(self, event: DataReceived, half: _Half | None, now: float) -> Iterator[Happening]:
        stream, data = event.stream_id, event.data or b""
        dropped = event.flow_controlled_length - len(data)
        if half is None or half.deaf:
            dropped += len(data)
        elif half.left is not None and len(data) > half.left:
            dropped += len(data)
            yield self._broken(stream, half, Fault("body", "The body is longer than Content-Length."), now)
        elif data:
            half.left = None if half.left is None else half.left - len(data)
            half.unread += len(data)
            yield Arrived(stream, data)
        if dropped:
            self._h2.acknowledge_received_data(dropped, stream)

    def _broken(self, stream: int, half: _Half, fault: Fault, now: float) -> Broken:
        self._frames.spend("reset", now)
        half.deaf = True
        return Broken(stream, fault)

    def _go_round(self, limit: int) -> bool:
        """Give each stream that waits a turn of one frame; return whether any could take it."""
        moved = False
        for stream in tuple(self._waiting):
            if len(self._out) >= limit:
                return True
            moved |= self._send_some(stream, self._open[stream])
        return moved

    def _send_some(self, stream: int, half: _Half) -> bool:
        size = min(len(half.outbox), self._h2.local_flow_control_window(stream), FRAME_LIMIT)
        if size <= 0 and (half.outbox or not half.ending):
            return False
        data = half.outbox.take(max(size, 0))
        last = half.ending and not half.outbox
        self._h2.send_data(stream, data, end_stream=last)
        self._frames.data_sent()
        self._queued -= len(data)
        self._out += self._h2.data_to_send()
        del self._waiting[stream]
        if last:
            half.answered, half.ending = True, False
        elif half.outbox:
            self._waiting[stream] = None  # behind the others
        return True

    def _alive(self, stream: int) -> _Half | None:
        """Return a stream on which something can be sent."""
        half = self._open.get(stream)
        return None if half is None or half.gone or self.over is not None else half

    def _lose(self, stream: int, half: _Half) -> None:
        """Send nothing more on a stream."""
        half.gone = half.deaf = True
        self._queued -= len(half.outbox)
        half.outbox.clear()
        half.ending = False
        self._waiting.pop(stream, None)

    def _reset(self, stream: int, code: Code) -> None:
        with suppress(ProtocolError):  # it is closed already
            self._h2.reset_stream(stream, code)

    def _collect(self) -> None:
        self._out += self._h2.data_to_send()
