"""The frames of HTTP/2, cut out of what arrives before h2 sees any of it. Pure.

h2 takes whatever fits the grammar, at any rate, and waits for a frame of 16 MiB to its last byte before it finds it too
long. So lengths are looked at in a frame's first nine bytes, a header block is bounded while it is being sent, and each
kind of frame that carries nothing has a bucket of its own: floods of PING, SETTINGS, RST_STREAM (CVE-2023-44487), empty
DATA (CVE-2019-9518) and the like end the connection. What we have no use for (priorities, unknown kinds, unknown
settings) is dropped here, as RFC 9113 asks (sections 5.3.2, 5.5 and 6.5.2).
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Literal, NamedTuple

from api.ratelimit import Bucket, Limit, take

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_LIMIT = 16 << 10
"""Bytes of a frame; the least that RFC 9113 lets a server ask for."""
BLOCK_LIMIT = 32 << 10
"""Bytes of a compressed header block, over all its frames."""
BLOCK_FRAMES = 8
THIN = 64
"""Bytes below which a DATA frame is more frame than data."""
TABLE_SIZE = 4 << 10
"""Bytes of memory that a client can make us spend on the compression of our answers' headers."""
_ALIVE = 4.0
"""WINDOW_UPDATE frames that a DATA frame of ours may bring back beside what is allowed anyway."""
_SETTINGS = (1, 2, 3, 4, 5, 6, 8)
_TABLE = 1


class Kind(IntEnum):
    """The kinds of frames of RFC 9113, section 6."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class Code(IntEnum):
    """The codes of errors that we send (RFC 9113, section 7)."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    ENHANCE_YOUR_CALM = 11


Waste = Literal["ping", "settings", "reset", "other", "thin", "window"]
ALLOWED: dict[Waste, Limit] = {
    "ping": Limit(10, 100),
    "settings": Limit(1, 20),
    "reset": Limit(20, 200),
    "other": Limit(20, 200),
    "thin": Limit(1_000, 5_000),
    "window": Limit(200, 2_000),
}
"""What may come a second, and at once. reset: also each stream that ends by a fault of the client's; other: priorities
and unknown kinds; thin: DATA that hardly carries any."""


class ConnectionFault(Exception):
    """The peer broke a rule that ends the connection: `code` tells the peer, the message our log."""

    def __init__(self, code: Code, rule: str) -> None:
        super().__init__(rule)
        self.code = code


class Frame(NamedTuple):
    """One frame."""

    kind: int
    flags: int
    stream: int
    payload: bytes

    def encode(self) -> bytes:
        """Return the frame as it goes over the wire."""
        size = len(self.payload)
        return struct.pack(">BHBBL", size >> 16, size & 0xFFFF, self.kind, self.flags, self.stream) + self.payload


def goaway(last: int, code: Code) -> bytes:
    """Return the frame that announces the end: streams up to `last` were or are being served."""
    return Frame(Kind.GOAWAY, 0, 0, struct.pack(">LL", last, code)).encode()


class Frames:
    """Takes bytes, gives whole frames that are allowed. `block_open`: a head has begun that is not there yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._preface = PREFACE
        self._greeted = False
        self._block = self._block_frames = 0
        self._buckets: dict[Waste, Bucket] = {}

    @property
    def block_open(self) -> bool:
        """Whether a header block has begun whose end has not come."""
        return self._block_frames > 0

    def feed(self, data: bytes | bytearray) -> None:
        """Take what has arrived."""
        self._buffer += data

    def next_frame(self, now: float) -> Frame | None:
        """Return the next frame that is of use, None when it is not there yet. Raises ConnectionFault."""
        if self._preface and not self._take_preface():
            return None
        while (frame := self._cut()) is not None:
            if self._of_use(frame, now):
                return _tamed(frame) if frame.kind == Kind.SETTINGS else frame
        return None

    def spend(self, waste: Waste, now: float) -> None:
        """Count something that costs more than it is worth. Raises ConnectionFault when there was too much of it."""
        limit = ALLOWED[waste]
        bucket = self._buckets.get(waste) or Bucket(float(limit.burst), now)
        self._buckets[waste], verdict = take(bucket, limit, now)
        if not verdict.admitted:
            raise ConnectionFault(Code.ENHANCE_YOUR_CALM, f"Too many frames of one kind: {waste}.")

    def data_sent(self) -> None:
        """Allow more updates of windows: what we send is what they answer."""
        if (bucket := self._buckets.get("window")) is not None:
            self._buckets["window"] = Bucket(min(ALLOWED["window"].burst, bucket.tokens + _ALIVE), bucket.at)

    def _take_preface(self) -> bool:
        begun = bytes(self._buffer[: len(self._preface)])
        if not self._preface.startswith(begun):
            raise ConnectionFault(Code.PROTOCOL_ERROR, "The connection does not begin as HTTP/2 does.")
        if len(begun) < len(self._preface):
            return False
        del self._buffer[: len(begun)]
        self._preface = b""
        return True

    def _cut(self) -> Frame | None:
        if len(self._buffer) < 9:
            return None
        high, low, kind, flags, stream = struct.unpack_from(">BHBBL", self._buffer)
        size = high << 16 | low
        if size > FRAME_LIMIT:
            raise ConnectionFault(Code.FRAME_SIZE_ERROR, f"A frame has more than {FRAME_LIMIT} bytes.")
        if kind in (Kind.HEADERS, Kind.CONTINUATION) and self._block + size > BLOCK_LIMIT:
            raise ConnectionFault(Code.ENHANCE_YOUR_CALM, f"A header block has more than {BLOCK_LIMIT} bytes.")
        if len(self._buffer) < 9 + size:
            return None
        payload = bytes(self._buffer[9 : 9 + size])
        del self._buffer[: 9 + size]
        return Frame(kind, flags, stream & 0x7FFFFFFF, payload)

    def _of_use(self, frame: Frame, now: float) -> bool:
        """Count a frame; return whether h2 is to see it. Raises ConnectionFault."""
        if not self._greeted and (frame.kind != Kind.SETTINGS or frame.flags & 1):
            raise ConnectionFault(Code.PROTOCOL_ERROR, "The first frame must be SETTINGS.")
        self._greeted = True
        in_block = self.block_open
        if frame.kind in (Kind.HEADERS, Kind.CONTINUATION):
            self._count_block(frame)
            return True
        if in_block:
            return True  # which h2 refuses
        waste = _waste(frame)
        if waste is not None:
            self.spend(waste, now)
        return waste != "other"

    def _count_block(self, frame: Frame) -> None:
        self._block += len(frame.payload)
        self._block_frames += 1
        if frame.flags & 4:  # END_HEADERS
            self._block = self._block_frames = 0
        elif self._block_frames >= BLOCK_FRAMES:
            raise ConnectionFault(Code.ENHANCE_YOUR_CALM, f"A header block has more than {BLOCK_FRAMES} frames.")


def _waste(frame: Frame) -> Waste | None:
    """Return as what a frame is counted that carries no request and no body."""
    match frame.kind:
        case Kind.DATA:
            padding = frame.payload[0] + 1 if frame.flags & 8 and frame.payload else 0
            return "thin" if len(frame.payload) - padding < THIN and not frame.flags & 1 else None
        case Kind.PING:
            return "ping"
        case Kind.SETTINGS:
            return "settings"
        case Kind.RST_STREAM:
            return "reset"
        case Kind.WINDOW_UPDATE:
            return "window"
        case Kind.PUSH_PROMISE | Kind.GOAWAY:
            return None
        case _:
            return "other"


def _tamed(frame: Frame) -> Frame:
    """Return SETTINGS without those that we do not know, and with a table of headers that is not too large.

    h2 would remember every unknown one, up to 65,536 of them, and make a table as large as it is told.
    """
    if len(frame.payload) % 6:
        return frame  # which h2 refuses
    kept = bytearray()
    for name, value in struct.iter_unpack(">HL", frame.payload):
        if name in _SETTINGS:
            kept += struct.pack(">HL", name, min(value, TABLE_SIZE) if name == _TABLE else value)
    return frame._replace(payload=bytes(kept))
