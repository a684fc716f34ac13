"""WebSocket sessions (RFC 6455) over the guard's streams: whole messages in, a failure with its blame at the end.

A session is one task's: whoever calls `receive` reads the socket, answers pings and sends ours, so nothing is read
ahead of its reader, and a reader that is busy pushes back on the server by TCP itself. A link whose other end has
vanished looks like a quiet one: a ping goes every 20 seconds, and a link that brings nothing at all for 20 seconds
after one is dead. That is found within 60 seconds of its last sign of life.

Redirects of a handshake are not followed, as in browsers: no server can count on it, and where a push source is
should be what its record says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import h11
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import AcceptConnection, CloseConnection, Event, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from actors.egress.assembly import MESSAGE_LIMIT, Assembly
from actors.egress.closing import broken
from actors.egress.failures import Blame, LookFailed
from actors.egress.guard import Guard
from actors.egress.headers import collect, retry_after, sent_at, user_agent
from actors.egress.statuses import failure, is_redirect
from actors.egress.url import Url
from actors.settings import Settings
from actors.world import World

FRAME_LIMIT = MESSAGE_LIMIT
PING_EVERY = 20.0
SIGN_WITHIN = 20.0
SLICE = 64
"""Frames that are read in one step of the loop."""
SEND_WITHIN = 5.0
"""Seconds for what we say, which is little: a server that does not read it is not there."""
_CHUNK = 1 << 16
_GRACE = 1.0
"""Seconds that a reader who comes back late listens before it calls a link dead: the sign may lie unread."""
_CLOSE_GRACE = 1.0
MOST_LEFT = 4 << 20
"""Bytes of messages that are kept while a session is being closed."""
_MOST_LOCATION = 200
_BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass(frozen=True, slots=True)
class FramesStatistics:
    """Counts since the handshake; `skipped` messages were neither text nor UTF-8, `size` is in bytes."""

    received: int
    skipped: int
    size: int


class Frames:
    """The messages of one session. `receive` until it raises; one reader only."""

    def __init__(self, stream: trio.abc.Stream, connection: WSConnection, subprotocol: str | None) -> None:
        self._stream = stream
        self._connection = connection
        self._assembly = Assembly(connection, trio.current_time())
        self._whole: list[str] = []
        self._hungry = False
        self._ping_at = trio.current_time() + PING_EVERY
        self._asked: float | None = None
        self.subprotocol = subprotocol

    def __repr__(self) -> str:
        return f"<Frames {self._assembly.received} received, {self._assembly.skipped} skipped>"

    def statistics(self) -> FramesStatistics:
        """Return the counts."""
        return FramesStatistics(self._assembly.received, self._assembly.skipped, self._assembly.size)

    async def receive(self) -> list[str]:
        """Return the next messages, at least one and at most `SLICE`, waiting only while there are none.

        Text, or bytes that are UTF-8; other bytes are counted and skipped. Raises SessionOver when the session has
        ended and all messages before its end are taken. Cancelled, no message is lost.
        """
        await trio.lowlevel.checkpoint()
        while True:
            if not self._hungry:
                texts, self._hungry = self._assembly.take(SLICE, trio.current_time())
                self._whole += texts
            if self._assembly.replies:
                await self._reply()
            if self._whole:
                whole, self._whole = self._whole, []
                return whole
            if self._assembly.end is not None:
                raise self._assembly.end
            if self._hungry:
                await self._read()
            else:
                await trio.lowlevel.checkpoint()

    def left(self) -> list[str]:
        """Return the messages that came while the session was being closed, at most `MOST_LEFT` bytes or one more."""
        whole, self._whole = self._whole, []
        return whole

    async def send(self, text: str) -> None:
        """Send a message. If the server does not take it, the session has ended, as `receive` says."""
        await self._send(self._connection.send(TextMessage(data=text)))

    async def aclose(self) -> None:
        """Say good-bye, wait a second at most for the answer, and close the stream."""
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            with suppress(*_BROKEN):
                await self._part()
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await trio.aclose_forcefully(self._stream)

    async def _part(self) -> None:
        if self._connection.state is not ConnectionState.OPEN or self._assembly.end is not None:
            return
        await self._stream.send_all(self._connection.send(CloseConnection(code=1000)))
        most = self._assembly.size + MOST_LEFT
        while self._assembly.end is None:
            if self._hungry:
                data = await self._stream.receive_some(_CHUNK)
                if not data:
                    return
                self._assembly.feed(bytes(data))
            texts, self._hungry = self._assembly.take(SLICE, trio.current_time())
            self._whole += texts if self._assembly.size <= most or not self._whole else ()
            await trio.lowlevel.checkpoint()

    async def _read(self) -> None:
        """Wait for bytes, pinging meanwhile. Raises SessionOver when the link is broken or dead."""
        now = trio.current_time()
        if now >= self._ping_at:
            self._ping_at = now + PING_EVERY
            self._asked = now if self._asked is None else self._asked
            await self._send(self._connection.send(Ping(payload=b"sanderling")))
            if self._assembly.end is not None:
                return
        dead_at = self._ping_at if self._asked is None else max(self._asked + SIGN_WITHIN, now + _GRACE)
        with trio.move_on_at(min(dead_at, max(self._ping_at, now + _GRACE))) as waiting:
            try:
                data = await self._stream.receive_some(_CHUNK)
            except _BROKEN:
                raise broken("the connection broke") from None
        if not waiting.cancelled_caught:
            if not data:
                raise broken("the connection ended without a close")
            self._asked, self._hungry = None, False
            self._assembly.feed(bytes(data))
        elif self._asked is not None and trio.current_time() >= self._asked + SIGN_WITHIN:
            raise broken(f"the link is dead: no pong within {SIGN_WITHIN:g} s")

    async def _reply(self) -> None:
        data = bytes(self._assembly.replies)
        self._assembly.replies.clear()
        await self._send(data)

    async def _send(self, data: bytes) -> None:
        """Send whole, even when cancelled: half a frame would spoil all that follows. What fails ends the session."""
        with trio.move_on_after(SEND_WITHIN, shield=True) as patience:
            try:
                await self._stream.send_all(data)
            except _BROKEN:
                if self._assembly.end is None:  # else it was our answer to a close: nobody needs to hear it
                    self._assembly.end = broken("the connection broke")
        if patience.cancelled_caught:
            self._assembly.end = broken(f"the link is dead: the server has read nothing for {SEND_WITHIN:g} s")


@asynccontextmanager
async def open_websocket(
    url: Url, guard: Guard, settings: Settings, world: World, *, subprotocols: Sequence[str] = ()
) -> AsyncIterator[Frames]:
    """Open a session and keep it while the block lasts. Raises LookFailed (with `status`, if it was refused).

    `subprotocols` are offered in this order. Leaving the block closes the session politely, within 2 seconds.
    """
    frames = await _open(url, guard, settings, world, subprotocols)
    try:
        yield frames
    finally:
        await frames.aclose()


async def _open(url: Url, guard: Guard, settings: Settings, world: World, subprotocols: Sequence[str]) -> Frames:
    """Connect and shake hands within the time of a look. Raises LookFailed."""
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection = WSConnection(ConnectionType.CLIENT)
            agent = (b"User-Agent", user_agent(settings.contact).encode())
            asked = Request(url.authority, url.target, subprotocols=list(subprotocols), extra_headers=[agent])
            answer = await _shake(stream, connection, asked)
            if isinstance(answer, RejectConnection):
                raise _refused(answer, world)
    except trio.TooSlowError:
        await _drop(stream)
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"no handshake within {settings.look_timeout:g} s") from None
    except BaseException:
        await _drop(stream)
        raise
    return Frames(stream, connection, answer.subprotocol)


async def _shake(
    stream: trio.abc.Stream, connection: WSConnection, asked: Request
) -> AcceptConnection | RejectConnection:
    """Send the request, return the answer to it; what the server has sent after that stays in `connection`."""
    try:
        await stream.send_all(connection.send(asked))
        while True:
            data = await stream.receive_some(_CHUNK)
            if not data:
                raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection ended in the handshake")
            connection.receive_data(bytes(data))
            answer: Event | None = next(iter(connection.events()), None)
            if isinstance(answer, AcceptConnection | RejectConnection):
                return answer
    except _BROKEN:
        raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection broke in the handshake") from None
    except (ProtocolError, h11.ProtocolError, UnicodeError) as error:  # wsproto decodes some headers as ASCII
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"the server breaks the protocol: {error}") from None


async def _drop(stream: trio.abc.Stream | None) -> None:
    if stream is not None:
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await trio.aclose_forcefully(stream)


def _refused(answer: RejectConnection, world: World) -> LookFailed:
    """Return what an answer other than 101 means."""
    headers, status = collect(answer.headers), answer.status_code
    found = failure(status, retry_after(headers.get("retry-after"), sent_at(headers, world.wall())))
    if is_redirect(status):
        moved = Blame.REMOTE_PERMANENT if status in (301, 308) else Blame.REMOTE_TRANSIENT
        return LookFailed(moved, f"{found.reason}{_elsewhere(headers)}", status=status)
    if 200 <= status < 300:
        return LookFailed(Blame.REMOTE_PERMANENT, f"{found.reason}: there is no WebSocket here", status=status)
    return found


def _elsewhere(headers: Mapping[str, str]) -> str:
    where = headers.get("location", "")[:_MOST_LOCATION]
    return f", to {where!r}: a handshake is not redirected; watch that address instead" if where else ""
