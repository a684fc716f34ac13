"""A client and our side of HTTP/2 with nothing between them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import h2.connection
from h2.settings import SettingCodes

from api.frames import Frame, Kind
from api.http2 import Happening, Http2
from tests.api.http2.peer import LAX

HEAD = [(":method", "GET"), (":scheme", "https"), (":authority", "x.test"), (":path", "/")]
POST = [(":method", "POST"), *HEAD[1:]]
KIB = 1 << 10


class Pair:
    """A client and our side, with nothing between them."""

    def __init__(self, **initial: int) -> None:
        self.ours = Http2()
        self.client = h2.connection.H2Connection(LAX)
        self.client.local_settings.update({getattr(SettingCodes, name): value for name, value in initial.items()})
        self.client.local_settings.acknowledge()
        self.client.initiate_connection()
        self.frames: list[Frame] = []
        """What we have sent."""
        self.now = 0.0
        self.say()
        self.hear()
        self.say()

    def say(self, *frames: Frame) -> list[Happening]:
        """Give us what the client has to say; return what it means."""
        self.ours.feed(self.client.data_to_send() + b"".join(frame.encode() for frame in frames))
        return everything(self.ours, self.now)

    def hear(self, limit: int = 1 << 20) -> list[Any]:
        """Give the client what we send; return its events."""
        sent, events = self.ours.pump(limit), []
        for frame in frames_in(sent):
            self.frames.append(frame)
            if frame.kind != Kind.GOAWAY:  # after which h2 would hear nothing
                events += self.client.receive_data(frame.encode())
        return events

    def ask(self, head: Sequence[tuple[str, str]] = HEAD, *, ended: bool = True) -> tuple[int, list[Happening]]:
        number = self.client.get_next_available_stream_id()
        self.client.send_headers(number, head, end_stream=ended)
        return number, self.say()

    def sent(self, kind: Kind) -> list[Frame]:
        return [frame for frame in self.frames if frame.kind == kind]

    def resets(self) -> list[tuple[int, int]]:
        return [(frame.stream, int.from_bytes(frame.payload)) for frame in self.sent(Kind.RST_STREAM)]

    def goaway(self) -> tuple[int, int] | None:
        self.hear()
        found = self.sent(Kind.GOAWAY)
        return struct.unpack(">LL", found[0].payload) if found else None


def everything(ours: Http2, now: float = 0) -> list[Happening]:
    found = []
    while (happenings := ours.step(now)) is not None:
        found += happenings
    return found


def frames_in(raw: bytes) -> list[Frame]:
    found = []
    while raw:
        size = int.from_bytes(raw[:3])
        kind, flags, stream = struct.unpack_from(">BBL", raw, 3)
        found.append(Frame(kind, flags, stream, raw[9 : 9 + size]))
        raw = raw[9 + size :]
    return found
