"""A byte stream in memory that behaves like TCP over a distance: latency, bounded buffers, resets, stalls.

Each direction is a `Wire`: chunks with their arrival times. A fault's effect on a connection (`Weather`) is read at the
moment it matters, so a partition that begins now also holds bytes under way.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import trio

ROOM = 64 * 1024
"""Most bytes under way in one direction before the sender waits."""


class Weather(Protocol):
    """The network's present effect on a connection's bytes."""

    def delay(self) -> float:
        """Return the seconds that a chunk sent now takes."""

    def held_until(self) -> float:
        """Return the virtual time before which nothing arrives (a partition), or 0."""


class Wire:
    """One direction of a connection."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather
        self._chunks: deque[tuple[float, bytes]] = deque()
        self._held = 0
        self._last = 0.0
        self._turn = trio.lowlevel.ParkingLot()
        self._ended = self._broken = self._deaf = False
        self.silent = False
        """Bytes are lost silently, and nothing arrives any more (half-open)."""
        self.breaks_after = math.inf
        """Bytes after which the connection is reset (a fault)."""
        self.on_break: Callable[[], None] = self.snap

    async def put(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes, waiting while too many are under way. Raises BrokenResourceError, ClosedResourceError."""
        await trio.lowlevel.checkpoint()
        rest = bytes(data)
        while True:
            if self._ended:
                raise trio.ClosedResourceError("this end was closed")
            if self._broken or self._deaf:
                raise trio.BrokenResourceError("connection reset by peer")
            if not rest or self.silent:
                return
            if self._held >= ROOM:
                await self._turn.park()
                continue
            chunk, rest = rest[: ROOM - self._held], rest[ROOM - self._held :]
            self._push(chunk)
            self.breaks_after -= len(chunk)
            if self.breaks_after < 0:
                self.on_break()

    async def take(self, most: int) -> bytes:
        """Return the next bytes, b"" at the end. Raises BrokenResourceError, ClosedResourceError."""
        await trio.lowlevel.checkpoint()
        while True:
            if self._deaf:
                raise trio.ClosedResourceError("this end was closed")
            if self._broken:
                raise trio.BrokenResourceError("connection reset by peer")
            if not self._chunks or self.silent:
                await self._turn.park()
                continue
            arrives = max(self._chunks[0][0], self._weather.held_until())
            if arrives > trio.current_time():
                with trio.move_on_at(arrives):
                    await self._turn.park()
                continue
            return self._pop(most)

    def end(self) -> None:
        """Send the end of the stream; bytes under way still arrive."""
        if not self._ended:
            self._ended = True
            self._push(b"")

    def deafen(self) -> None:
        """The reader has gone: its peer's next send fails."""
        self._deaf = True
        self._turn.unpark_all()

    def snap(self) -> None:
        """Reset: both ends fail at once and bytes under way are lost."""
        self._broken = True
        self._chunks.clear()
        self._turn.unpark_all()

    @property
    def drained(self) -> bool:
        """Whether the reader took all bytes."""
        return not any(chunk for _, chunk in self._chunks) and not self._broken

    @property
    def finished(self) -> bool:
        """Whether nothing more can be sent this way."""
        return self._broken or self._ended or self._deaf

    def _push(self, chunk: bytes) -> None:
        self._last = max(self._last, trio.current_time() + self._weather.delay())  # bytes don't overtake each other
        self._chunks.append((self._last, chunk))
        self._held += len(chunk)
        self._turn.unpark_all()

    def _pop(self, most: int) -> bytes:
        arrives, chunk = self._chunks[0]
        if len(chunk) > most:
            self._chunks[0] = (arrives, chunk[most:])
            chunk = chunk[:most]
        elif chunk:
            self._chunks.popleft()
        # An end (an empty chunk) stays, so that every later read sees it too.
        self._held -= len(chunk)
        self._turn.unpark_all()
        return chunk


@dataclass(frozen=True, slots=True)
class SocketNames:
    """The socket methods that Hypercorn calls."""

    here: tuple[str, int]
    there: tuple[str, int]
    family: int = 2
    """AF_INET."""

    def getsockname(self) -> tuple[str, int]:
        return self.here

    def getpeername(self) -> tuple[str, int]:
        return self.there


class SimStream(trio.abc.HalfCloseableStream):
    """One end of a connection. `socket` gives both addresses to a server."""

    def __init__(self, incoming: Wire, outgoing: Wire, socket: SocketNames) -> None:
        self._in = incoming
        self._out = outgoing
        self.socket = socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all bytes; if cancelled, some may have been sent."""
        await self._out.put(data)

    async def wait_send_all_might_not_block(self) -> None:
        """Return at once: `send_all` itself waits."""
        await trio.lowlevel.checkpoint()

    async def send_eof(self) -> None:
        await trio.lowlevel.checkpoint()
        self._out.end()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the next bytes, b"" at the end."""
        return await self._in.take(max_bytes or ROOM)

    async def aclose(self) -> None:
        """Close both directions; sent bytes still arrive."""
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close both directions, synchronously."""
        self._out.end()
        self._in.deafen()

    def reset(self) -> None:
        """Break the connection for both ends at once, as the end of a process does."""
        self._in.snap()
        self._out.snap()

    def hang(self) -> None:
        """Let the connection go dead silently for both ends."""
        self._in.silent = self._out.silent = True

    @property
    def hung(self) -> bool:
        """Whether it is silently dead."""
        return self._out.silent

    def resets_after(self, sent: int) -> None:
        """Let the connection break once this end has sent so many more bytes."""
        self._out.breaks_after = sent

    @property
    def delivered(self) -> bool:
        """Whether the peer took all bytes."""
        return self._out.drained

    @property
    def over(self) -> bool:
        """Whether nothing more can happen on it."""
        return self._in.finished and self._out.finished

    def __repr__(self) -> str:
        return f"<SimStream {self.socket.here} -> {self.socket.there}>"


def connection(weather: Weather, client: tuple[str, int], server: tuple[str, int]) -> tuple[SimStream, SimStream]:
    """Return the client's and the server's end of a new connection."""
    there, back = Wire(weather), Wire(weather)
    near = SimStream(back, there, SocketNames(client, server))
    far = SimStream(there, back, SocketNames(server, client))
    there.on_break = back.on_break = near.reset
    return near, far
