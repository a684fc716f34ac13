"""trio-websocket's connection, within bounds that a server can't extend.

The library reads, answers pings and assembles messages, but does not bound the work and memory that a server can
cause. Here a message has at most `MESSAGE_LIMIT` bytes in at most `MOST_PARTS` fragments (an empty one costs memory
too); frames without a message (pings, pongs, fragments) may come in bursts of `BURST` and then at `PER_SECOND`; other
tasks run after every `SLICE` frames; at most `SLICE` messages, and `AHEAD` bytes plus one message, wait for `take`;
the server must read our frames within `SEND_WITHIN` seconds. A refused handshake's body is never read (`websocket.py`
shakes hands). Compression is not offered, so a frame that claims it ends the session.

The overridden handlers are private to the library, which is pinned by hash; tests/actors/egress/test_websocket.py
names them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NoReturn

import trio
from trio_websocket import CloseReason, ConnectionClosed, WebSocketConnection
from wsproto import WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage
from wsproto.frame_protocol import CloseReason as Code

from actors.egress.closing import SessionOver, broken, closed, unlawful, unreadable

MESSAGE_LIMIT: Final = 1 << 20
MOST_PARTS: Final = 1 << 14
BURST: Final = 2_000
PER_SECOND: Final = 100.0
SLICE: Final = 64
SEND_WITHIN: Final = 5.0
"""Seconds for our few frames: a server that does not read them is gone."""
CHUNK: Final = 1 << 16
AHEAD: Final = CHUNK


class BoundedConnection(WebSocketConnection):
    """A client's connection after the handshake. `heard_at`: time of the last frame. `end`: why the session ended.

    Run `_reader_task` alongside; `take` and `_send` raise ConnectionClosed once it has ended.
    """

    def __init__(self, stream: trio.abc.Stream, connection: WSConnection, subprotocol: str | None) -> None:
        super().__init__(
            stream,
            connection,
            host="",
            path="",
            message_queue_size=SLICE,
            max_message_size=MESSAGE_LIMIT,
            receive_buffer_size=CHUNK,
        )
        self._initial_request = None
        self._subprotocol = subprotocol
        self.end: SessionOver | None = None
        self.heard_at = self._allowed_at = trio.current_time()
        self._allowance = float(BURST)
        self._length = self._ahead = self._frames = 0
        self._room = trio.lowlevel.ParkingLot()

    @property
    def open(self) -> bool:
        """Return whether both sides may still send."""
        return self.end is None and self._wsproto.state is ConnectionState.OPEN

    async def take(self) -> list[str | bytes]:
        """Return the waiting messages, at least one; block only while there is none. Raises ConnectionClosed."""
        messages = [await self.get_message()]
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while len(messages) < SLICE:
                messages.append(self._recv_channel.receive_nowait())
        self._ahead -= sum(map(size_of, messages))
        self._room.unpark_all()
        return messages

    async def _handle_message_event(self, event: BytesMessage | TextMessage) -> None:
        self._length += size_of(event.data)
        if self._length > MESSAGE_LIMIT or len(self._message_parts) >= MOST_PARTS:
            limit = f"{MOST_PARTS} parts" if self._length <= MESSAGE_LIMIT else f"{MESSAGE_LIMIT >> 20} MiB"
            await self._break_off(Code.MESSAGE_TOO_BIG, unreadable(f"a frame has more than {limit}"))
        self.heard_at = trio.current_time()
        if not event.message_finished:
            await self._spend()
            return await super()._handle_message_event(event)
        while self._ahead > AHEAD:
            await self._room.park()
        self._ahead, self._length = self._ahead + self._length, 0
        await self._turn()
        if not self._message_parts:  # the library's way costs a turn of the loop for each message
            with suppress(trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
                self._send_channel.send_nowait(event.data if isinstance(event.data, str) else bytes(event.data))
                return None
        return await super()._handle_message_event(event)

    async def _handle_ping_event(self, event: Ping) -> None:
        await self._spend()
        if self._wsproto.state is ConnectionState.OPEN:  # else the answer would come after our close
            await super()._handle_ping_event(event)

    async def _handle_pong_event(self, event: Pong) -> None:
        await self._spend()
        await super()._handle_pong_event(event)

    async def _handle_close_connection_event(self, event: CloseConnection) -> None:
        """Answer a close. One that the server did not send is wsproto's report of a protocol error."""
        why = event.reason or ""
        if self._wsproto.state is not ConnectionState.OPEN:
            self.end = self.end or closed(int(event.code), event.reason)
        elif event.code == Code.INVALID_FRAME_PAYLOAD_DATA:
            await self._break_off(event.code, unreadable(f"a frame of text is not UTF-8: {why}"))
        else:
            await self._break_off(event.code, unlawful(why))
        await super()._handle_close_connection_event(event)

    async def _spend(self) -> None:
        """Count a frame without a message; end the session of a server that sends little else."""
        now = self.heard_at = trio.current_time()
        self._allowance = min(BURST, self._allowance + (now - self._allowed_at) * PER_SECOND) - 1
        self._allowed_at = now
        if self._allowance < 0:
            why = f"more than {BURST} frames without content at once, and {PER_SECOND:.0f} a second"
            await self._break_off(Code.POLICY_VIOLATION, unlawful(why))
        await self._turn()

    async def _turn(self) -> None:
        self._frames += 1
        if self._frames % SLICE == 0:
            await trio.lowlevel.checkpoint()

    async def _break_off(self, code: int, end: SessionOver) -> NoReturn:
        self._message_parts = []
        self.end = self.end or end
        if self._wsproto.state is ConnectionState.OPEN:
            await self._send(CloseConnection(code=code, reason=end.reason))
        await self._close_web_socket(code, end.reason)
        raise ConnectionClosed(self._close_reason)

    async def _send(self, event: Event) -> None:
        try:
            with trio.fail_after(SEND_WITHIN):
                await super()._send(event)
        except ConnectionClosed:
            await self._send_channel.aclose()  # the library wakes its reader only while it has no reason yet
            raise
        except trio.TooSlowError:
            self.end = self.end or broken(f"the link is dead: the server has read nothing for {SEND_WITHIN:g} s")
            await self._abort_web_socket()
            await self._send_channel.aclose()
            raise ConnectionClosed(CloseReason(Code.ABNORMAL_CLOSURE, None)) from None


def size_of(data: str | bytes | bytearray) -> int:
    """Return the size of a message, or a part of one, in UTF-8 bytes."""
    return len(data) if isinstance(data, bytes | bytearray) or data.isascii() else len(data.encode())
