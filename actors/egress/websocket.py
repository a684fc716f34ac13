"""WebSocket sessions (RFC 6455) over the guard's streams: whole messages, and a failure with its blame at the end.

A session is a connection of trio-websocket with bounds (`bounded.py`). Its reader is only little ahead of the caller
of `receive`, so a busy caller slows the server down through TCP. A link whose other end has vanished looks like a
quiet one: a ping goes out every 20 seconds, and a link with no data at all for 20 seconds after one is dead. Detection
takes at most 60 seconds.

Redirects of a handshake are not followed, as in browsers: no server can rely on it, and a push source's record should
have its real URL.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

import h11
import trio
from trio_websocket import ConnectionClosed
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Event, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from actors.egress.bounded import CHUNK, MESSAGE_LIMIT, SEND_WITHIN, BoundedConnection, size_of
from actors.egress.closing import broken
from actors.egress.cookies import Heard, set_by
from actors.egress.decoding import TooLarge, inflated
from actors.egress.failures import Blame, LookFailed, in_words
from actors.egress.guard import Guard
from actors.egress.headers import collect, retry_after, sent_at, user_agent
from actors.egress.statuses import failure, is_redirect
from actors.egress.url import Url
from actors.settings import Settings
from actors.world import World

FRAME_LIMIT = MESSAGE_LIMIT
PING_EVERY = 20.0
SIGN_WITHIN = 20.0
_GRACE = 1.0
"""Seconds that a late reader listens before it calls a link dead: the pong may be unread."""
_CLOSE_GRACE = 1.0
MOST_LEFT = 4 << 20
"""Bytes of messages that are kept while a session is being closed."""
_MOST_LOCATION = 200
_WANTS_MORE = {
    400: "; it may want `subprotocols`, or `headers` such as an Origin or a token",
    403: "; it may want `headers` such as an Origin or a token",
    426: "; it may want other `subprotocols`",
}
_BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)


Given = Sequence[tuple[bytes, bytes]]
"""Header names and values."""


@dataclass(frozen=True, slots=True)
class FramesStatistics:
    """Counts of received messages; `skipped` ones could not be read, the last one for `why`. `size` is in bytes."""

    received: int
    skipped: int
    size: int
    why: str = ""


class Frames:
    """The messages of one session. Call `receive` until it raises; one reader only."""

    def __init__(self, stream: trio.abc.Stream, connection: BoundedConnection) -> None:
        self._stream = stream
        self._connection = connection
        self._received = self._skipped = self._size = 0
        self._why = ""
        self._waiting: Sequence[str | bytes] = ()
        self._left: list[str] = []
        self._ping_at = trio.current_time() + PING_EVERY
        self._asked: float | None = None
        self._reading = trio.CancelScope(shield=True)
        self._read = trio.Event()
        self.subprotocol = connection.subprotocol

    def __repr__(self) -> str:
        return f"<Frames {self._received} received, {self._skipped} skipped>"

    def statistics(self) -> FramesStatistics:
        return FramesStatistics(self._received, self._skipped, self._size, self._why)

    async def run(self) -> None:
        """Read until the session is closed, even during cancellation, to take the server's last messages."""
        try:
            with self._reading:
                await self._connection._reader_task()
        finally:
            self._read.set()

    async def receive(self) -> list[str]:
        """Return the next messages, at least one and few together; block only while there are none.

        Text, or UTF-8 bytes, even compressed; other bytes are counted and skipped. Raises SessionOver when the session
        has ended and all earlier messages are taken. If cancelled, no message is lost.
        """
        while True:
            if texts := self._texts(self._waiting or await self._next()):
                return texts

    def left(self) -> list[str]:
        """Return messages not taken when the session was closed: at most `MOST_LEFT` bytes, plus those read ahead."""
        left, self._left = self._left, []
        return left

    def give_back(self, texts: Sequence[str]) -> None:
        """Return these from `left` as well: their receiver was cancelled."""
        self._left += texts

    async def send(self, text: str) -> None:
        """Send a message. If the server does not take it, the session has ended, as `receive` reports."""
        await self._say(TextMessage(data=text))

    async def aclose(self) -> None:
        """Send a close frame, wait at most a second for the reply, and close the stream."""
        with trio.move_on_after(_CLOSE_GRACE, shield=True), suppress(ConnectionClosed):
            if self._connection.open:
                await self._connection._send(CloseConnection(code=1000))
                await self._take_on(MOST_LEFT)
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            self._reading.cancel()
            await self._read.wait()
            await trio.aclose_forcefully(self._stream)
            with suppress(ConnectionClosed):
                await self._take_on(MOST_LEFT)  # messages read ahead, if the server closed first or did not reply

    async def _take_on(self, most: int) -> None:
        until = self._size + most
        while self._size <= until:
            self._left += self._texts(self._waiting or await self._connection.take())

    async def _next(self) -> list[str | bytes]:
        """Wait for messages, with pings. Raises SessionOver when the session has ended, or the link is dead."""
        connection = self._connection
        while True:
            now, asked = trio.current_time(), self._unanswered()
            if now >= self._ping_at:
                self._ping_at = now + PING_EVERY
                self._asked = asked = now if asked is None else asked
                await self._say(Ping(payload=b"sanderling"))
            dead_at = self._ping_at if asked is None else max(asked + SIGN_WITHIN, now + _GRACE)
            try:
                with trio.move_on_at(min(dead_at, max(self._ping_at, now + _GRACE))):
                    return await connection.take()
            except ConnectionClosed:
                raise connection.end or broken("the connection ended without a close") from None
            asked = self._unanswered()
            if asked is not None and trio.current_time() >= asked + SIGN_WITHIN:
                raise broken(f"the link is dead: no pong within {SIGN_WITHIN:g} s")

    def _unanswered(self) -> float | None:
        """Return when the last ping was sent, unless a frame has come since."""
        asked = self._asked
        return None if asked is None or self._connection.heard_at >= asked else asked

    async def _say(self, event: Event) -> None:
        """Send a whole frame, even when cancelled: half a frame would corrupt the rest. `receive` reports failures."""
        with trio.move_on_after(SEND_WITHIN + _GRACE, shield=True), suppress(ConnectionClosed):
            if self._connection.open:
                await self._connection._send(event)

    def _texts(self, messages: Sequence[str | bytes]) -> list[str]:
        """Count messages; return those that are text or UTF-8. After a large one the rest waits for the next call."""
        texts: list[str] = []
        unpacked = 0
        self._waiting = ()
        for number, message in enumerate(messages, 1):
            self._received += 1
            if isinstance(message, str):
                self._size += size_of(message)
                texts.append(message)
                continue
            try:
                text, size = _text_of(message)
                texts.append(text)
            except (UnicodeDecodeError, TooLarge) as error:
                size = MESSAGE_LIMIT if isinstance(error, TooLarge) else len(message)
                why = str(error) if isinstance(error, TooLarge) else "neither text nor compressed text"
                self._skipped, self._why = self._skipped + 1, f"a binary frame is {why}"
            self._size += size
            unpacked += size - len(message)
            if unpacked >= MESSAGE_LIMIT:
                self._waiting = messages[number:]
                break
        return texts


def _text_of(message: bytes) -> tuple[str, int]:
    """Return a binary message as text, and its unpacked size. Raises UnicodeDecodeError, TooLarge."""
    try:
        return message.decode(), len(message)
    except UnicodeDecodeError:
        if (found := inflated(message, MESSAGE_LIMIT)) is None:
            raise
        return found.decode(), len(found)


@asynccontextmanager
async def open_websocket(
    url: Url,
    guard: Guard,
    settings: Settings,
    world: World,
    *,
    subprotocols: Sequence[str] = (),
    given: Given = (),
    heard: Heard | None = None,
) -> AsyncIterator[Frames]:
    """Open a session and keep it open during the block. Raises LookFailed (with `status`, if it was refused).

    `subprotocols` are offered in this order. given: a user's headers. heard: called with the cookies of the
    handshake's response, even a refusal. Leaving the block closes the session politely, within 2 seconds.
    """
    frames = await _open(url, guard, settings, world, _Offer(subprotocols, given, heard))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(frames.run)
            try:
                yield frames
            finally:
                await frames.aclose()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from None


class _Offer(NamedTuple):
    """A handshake's subprotocols and headers, and the callback for cookies."""

    subprotocols: Sequence[str]
    given: Given
    heard: Heard | None


async def _open(url: Url, guard: Guard, settings: Settings, world: World, offer: _Offer) -> Frames:
    """Connect and shake hands within a check's time limit. Raises LookFailed."""
    stream: trio.abc.Stream | None = None
    subprotocols, given, heard = offer
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection = WSConnection(ConnectionType.CLIENT)
            agent = (b"User-Agent", user_agent(settings.contact).encode())
            asked = Request(url.authority, url.target, subprotocols=list(subprotocols), extra_headers=[agent, *given])
            answer = await _shake(stream, connection, asked)
            _tell(answer, heard, world)
            if isinstance(answer, RejectConnection):
                raise _refused(answer, world)
    except trio.TooSlowError:
        await _drop(stream)
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"no handshake within {settings.look_timeout:g} s") from None
    except BaseException:
        await _drop(stream)
        raise
    return Frames(stream, BoundedConnection(stream, connection, answer.subprotocol))


async def _shake(
    stream: trio.abc.Stream, connection: WSConnection, asked: Request
) -> AcceptConnection | RejectConnection:
    """Send the request and return the response; further data stays in `connection`."""
    try:
        await stream.send_all(connection.send(asked))
        while True:
            data = await stream.receive_some(CHUNK)
            if not data:
                raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection ended in the handshake")
            connection.receive_data(bytes(data))
            answer: Event | None = next(iter(connection.events()), None)
            if isinstance(answer, AcceptConnection | RejectConnection):
                return answer
    except _BROKEN:
        raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection broke in the handshake") from None
    except (ProtocolError, h11.ProtocolError, UnicodeError) as error:  # wsproto decodes some headers as ASCII
        if "subprotocol" in str(error):
            says = f"{in_words(error)}: the server chose one that was not offered; name it in `subprotocols`"
            raise LookFailed(Blame.REMOTE_PERMANENT, says) from None
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"the server breaks the protocol: {in_words(error)}") from None


def _tell(answer: AcceptConnection | RejectConnection, heard: Heard | None, world: World) -> None:
    """Pass on a response's cookies, if any."""
    raw, status = (
        (answer.extra_headers, 101) if isinstance(answer, AcceptConnection) else (answer.headers, answer.status_code)
    )
    wall = world.wall()
    sets = set_by(raw, sent_at(collect(raw), wall), wall)
    if heard is not None and sets.lines:
        heard(sets, status)


async def _drop(stream: trio.abc.Stream | None) -> None:
    if stream is not None:
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await trio.aclose_forcefully(stream)


def _refused(answer: RejectConnection, world: World) -> LookFailed:
    """Return the failure for a response other than 101."""
    headers, status = collect(answer.headers), answer.status_code
    found = failure(status, retry_after(headers.get("retry-after"), sent_at(headers, world.wall())))
    if is_redirect(status):
        moved = Blame.REMOTE_PERMANENT if status in (301, 308) else Blame.REMOTE_TRANSIENT
        return LookFailed(moved, f"{found.reason}{_elsewhere(headers)}", status=status)
    if 200 <= status < 300:
        return LookFailed(Blame.REMOTE_PERMANENT, f"{found.reason}: there is no WebSocket here", status=status)
    if status in _WANTS_MORE:
        return LookFailed(
            found.blame, f"{found.reason}{_WANTS_MORE[status]}", status=status, retry_after=found.retry_after
        )
    return found


def _elsewhere(headers: Mapping[str, str]) -> str:
    where = headers.get("location", "")[:_MOST_LOCATION]
    return f", to {where!r}: a handshake is not redirected; watch that address instead" if where else ""
