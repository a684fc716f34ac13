"""A client of HTTP/2: h2 on a stream, with everything written down that comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h2.connection
import h2.events
import trio
from h2.config import H2Configuration

from api.frames import Frame, Kind
from sanderling.certificate import CertificateFiles
from tests.api.house import House, make_house, running
from tests.support.certificates import NAME, trusting

Fields = Sequence[tuple[str, str]]
LAX = H2Configuration(header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False)
"""A client that sends whatever it is told."""


class Answer:
    """What has come on one stream."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.informed: list[str] = []
        self.body = b""
        self.ended = False
        self.reset: int | None = None

    @property
    def status(self) -> int:
        return int(self.headers.get(":status", "0"))

    @property
    def over(self) -> bool:
        return self.ended or self.reset is not None


class Http2Peer:
    """A client. `ask` opens a stream, `until` reads until something holds. closed: the server has ended the connection.

    `frozen`: it gives no window back for what it reads.
    """

    def __init__(self, stream: trio.abc.Stream, *, frozen: bool = False) -> None:
        self.stream, self.frozen = stream, frozen
        config = H2Configuration(
            header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False
        )
        self.h2 = h2.connection.H2Connection(config)
        self.answers: defaultdict[int, Answer] = defaultdict(Answer)
        self.goaway: tuple[int, int] | None = None
        self.pongs: list[bytes] = []
        self.frames: list[tuple[Kind, int, int]] = []
        """Of what has come: kind, stream, bytes."""
        self.closed = False
        self._rest = b""

    async def greet(self, settings: dict[Any, int] | None = None) -> None:
        if settings:
            self.h2.local_settings.update(settings)
            self.h2.local_settings.acknowledge()
        self.h2.initiate_connection()
        await self.flush()

    async def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and not self.closed:
            try:
                await self.stream.send_all(data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self.closed = True

    async def send_frames(self, *frames: Frame) -> None:
        """Send what h2 would not."""
        await self.flush()
        try:
            await self.stream.send_all(b"".join(frame.encode() for frame in frames))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.closed = True

    async def ask(self, path: str, *more: tuple[str, str], method: str = "GET", ended: bool = True) -> int:
        """Open a stream; return its number."""
        head = [(":method", method), (":scheme", "https"), (":authority", "sanderling.test"), (":path", path), *more]
        return await self.ask_raw(head, ended=ended)

    async def ask_raw(self, fields: Fields, *, ended: bool = True) -> int:
        number = self.h2.get_next_available_stream_id()
        self.h2.send_headers(number, fields, end_stream=ended)
        await self.flush()
        return int(number)

    async def data(self, number: int, data: bytes, *, ended: bool = False) -> None:
        self.h2.send_data(number, data, end_stream=ended)
        await self.flush()

    async def get(self, path: str, *more: tuple[str, str], method: str = "GET") -> Answer:
        """Ask, and wait for the whole answer."""
        number = await self.ask(path, *more, method=method)
        return await self.answer(number)

    async def answer(self, number: int) -> Answer:
        await self.until(lambda: self.answers[number].over)
        return self.answers[number]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Read until it holds, or the connection is closed."""
        while not holds() and not self.closed:
            await self.read_some()

    async def read_some(self) -> None:
        try:
            data = await self.stream.receive_some(65536)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
        if not data:
            self.closed = True
            return
        self._rest += data
        while len(self._rest) >= 9 and len(self._rest) >= (size := 9 + int.from_bytes(self._rest[:3])):
            frame, self._rest = self._rest[:size], self._rest[size:]
            self._take(frame)
        await self.flush()

    def _take(self, frame: bytes) -> None:
        if frame[3] == Kind.GOAWAY:  # after which h2 would hear nothing more
            self.goaway = (int.from_bytes(frame[9:13]), int.from_bytes(frame[13:17]))
            return
        self.frames.append((Kind(frame[3]), int.from_bytes(frame[5:9]), len(frame) - 9))
        for event in self.h2.receive_data(frame):
            self._note(event)

    async def wait_closed(self) -> None:
        await self.until(lambda: False)

    def _note(self, event: Any) -> None:
        answer = self.answers[getattr(event, "stream_id", None) or 0]
        match event:
            case h2.events.ResponseReceived():
                answer.headers = dict(event.headers)
            case h2.events.InformationalResponseReceived():
                answer.informed.append(dict(event.headers)[":status"])
            case h2.events.DataReceived():
                answer.body += event.data
                if not self.frozen:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                answer.ended = True
            case h2.events.StreamReset():
                answer.reset = int(event.error_code)
            case h2.events.PingAckReceived():
                self.pongs.append(event.ping_data)


def securing(house: House, pair: tuple[Path, Path]) -> House:
    """Return the house with TLS in front."""
    world = replace(house.doors.world, certificate=CertificateFiles(*pair))
    house.doors = replace(house.doors, world=world)
    return house


@asynccontextmanager
async def secured(pair: tuple[Path, Path], **settings: object) -> AsyncIterator[House]:
    async with running(securing(make_house(**settings), pair)) as house:  # type: ignore[arg-type]
        yield house


@asynccontextmanager
async def connected(
    house: House, pair: tuple[Path, Path], *, frozen: bool = False, settings: dict[Any, int] | None = None
) -> AsyncIterator[Http2Peer]:
    """Speak HTTP/2 to a house for the length of the block."""
    stream = trio.SSLStream(
        await house.listener.connect(), trusting(pair[0]), server_hostname=NAME, https_compatible=True
    )
    await stream.do_handshake()
    assert stream.selected_alpn_protocol() == "h2"
    peer = Http2Peer(stream, frozen=frozen)
    await peer.greet(settings)
    try:
        yield peer
    finally:
        await trio.aclose_forcefully(stream)
