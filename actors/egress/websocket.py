"""WebSocket sessions (RFC 6455) over the guard's streams, within bounds that a server can't extend.

A session is a connection of trio-websocket with bounds. Its reader is only little ahead of the caller of `receive`, so
a busy caller slows the server down through TCP. A link whose other end has vanished looks like a quiet one: a ping goes
out every 20 seconds, and a link with no data at all for 20 seconds after one is dead. Redirects of a handshake are not
followed, as in browsers.

The library reads, answers pings and assembles messages, but does not bound the work and memory that a server can cause.
Here a message has at most `MESSAGE_LIMIT` bytes in at most `MOST_PARTS` fragments; frames without a message may come in
bursts of `BURST` and then at `PER_SECOND`; other tasks run after every `SLICE` frames; at most `SLICE` messages, and
`AHEAD` bytes plus one message, wait for `take`; the server must read our frames within `SEND_WITHIN` seconds. A refused
handshake's body is never read. Compression is not offered, so a frame that claims it ends the session. The overridden
handlers are private to the library, which is pinned by hash.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, NoReturn

import h11
import trio
from trio_websocket import CloseReason, ConnectionClosed, WebSocketConnection
from wsproto import ConnectionType, WSConnection, events
from wsproto.connection import ConnectionState
from wsproto.frame_protocol import CloseReason as Code
from wsproto.utilities import ProtocolError

from actors.egress.cookies import CookieCallback, pass_cookies
from actors.egress.decoding import TooLarge, inflated
from actors.egress.failures import Blame, CheckFailed, failure, in_words, is_redirect
from actors.egress.guard import Guard
from actors.egress.headers import retry_after, sent_at, user_agent
from actors.egress.url import Url
from actors.settings import Settings
from actors.world import World

_MOST_WORDS: Final = 200
_ORDERLY: Final = frozenset({1000, 1001, 1005, 1012})
"""Ends without a fault, after which the server soon accepts us again: done, going away, no code, restarting."""

# Codes that are not remote-transient. Repeating a rejected message (1003, 1007, 1009) would not help.
_BLAMES: Final = {
    **dict.fromkeys((1003, 1007, 1008, 1009, 1010, 3000, 3003), Blame.REMOTE_PERMANENT),
    1013: Blame.THROTTLED,
}
_WORDS: Final = {
    1000: "it has finished",
    1001: "it is going away",
    1002: "it says that we break the protocol",
    1003: "it can't take the kind of message that we sent",
    1005: "it gives no code",
    1007: "it can't read the message that we sent",
    1008: "its policy forbids this session",
    1009: "the message that we sent is too big for it",
    1010: "it wants an extension that we lack",
    1011: "it reported an internal error",
    1012: "it is restarting",
    1013: "it is overloaded and asks to come back later",
    1014: "the server behind it does not answer",
    3000: "it wants us to be authorised",
    3003: "it forbids us this",
    3008: "it has run out of time",
}


class SessionEnded(CheckFailed):
    """An open session has ended. `code`: of its close frame. answered: the server sent last, so the way to it works."""

    def __init__(self, blame: Blame, reason: str, *, code: int | None = None, answered: bool = False) -> None:
        super().__init__(blame, reason)
        self.code, self.answered = code, answered
        self.orderly = code in _ORDERLY


def closed(code: int, reason: str | None) -> SessionEnded:
    """Return the end for a server's close frame.

    >>> closed(1013, "busy").reason
    'the server closed the session with 1013: it is overloaded and asks to come back later ("busy")'
    """
    words = _WORDS.get(code) or ("the application's own code" if 4000 <= code <= 4999 else "a code without a meaning")
    said = f' ("{reason[:_MOST_WORDS]}")' if reason else ""
    blame = _BLAMES.get(code, Blame.REMOTE_TRANSIENT)
    return SessionEnded(blame, f"the server closed the session with {code}: {words}{said}", code=code, answered=True)


def broken(reason: str) -> SessionEnded:
    """Return the end of a link that broke or went dead, without a close frame."""
    return SessionEnded(Blame.REMOTE_TRANSIENT, reason)


def unreadable(reason: str) -> SessionEnded:
    """Return the end of a session with unreadable frames: not text, or too large."""
    return SessionEnded(Blame.CONTENT, reason, answered=True)


def unlawful(reason: str) -> SessionEnded:
    """Return the end of a session whose server breaks the protocol, or abuses it."""
    return SessionEnded(Blame.REMOTE_TRANSIENT, f"the server violates the protocol: {reason}", answered=True)


MESSAGE_LIMIT, MOST_PARTS, BURST = 1 << 20, 1 << 14, 2_000
PER_SECOND, SLICE = 100.0, 64
SEND_WITHIN: Final = 5.0  # seconds for our few frames: a server that does not read them is gone
CHUNK: Final = 1 << 16
AHEAD: Final = CHUNK


class BoundedConnection(WebSocketConnection):
    """A connection after the handshake; run `_reader_task` alongside. `last_frame_at`: time of the last frame. `end`:
    why the session ended; then `take` and `_send` raise ConnectionClosed.
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
        self._initial_request, self._subprotocol = None, subprotocol
        self.end: SessionEnded | None = None
        self.last_frame_at = self._allowed_at = trio.current_time()
        self._allowance = float(BURST)
        self._length = self._ahead = self._frames = 0
        self._room = trio.lowlevel.ParkingLot()

    @property
    def open(self) -> bool:
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

    async def _handle_message_event(self, event: events.BytesMessage | events.TextMessage) -> None:
        self._length += size_of(event.data)
        if self._length > MESSAGE_LIMIT or len(self._message_parts) >= MOST_PARTS:
            limit = f"{MOST_PARTS} parts" if self._length <= MESSAGE_LIMIT else f"{MESSAGE_LIMIT >> 20} MiB"
            await self._break_off(Code.MESSAGE_TOO_BIG, unreadable(f"a frame has more than {limit}"))
        self.last_frame_at = trio.current_time()
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

    async def _handle_ping_event(self, event: events.Ping) -> None:
        await self._spend()
        if self._wsproto.state is ConnectionState.OPEN:  # else the answer would come after our close
            await super()._handle_ping_event(event)

    async def _handle_pong_event(self, event: events.Pong) -> None:
        await self._spend()
        await super()._handle_pong_event(event)

    async def _handle_close_connection_event(self, event: events.CloseConnection) -> None:
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
        now = self.last_frame_at = trio.current_time()
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

    async def _break_off(self, code: int, end: SessionEnded) -> NoReturn:
        self._message_parts = []
        self.end = self.end or end
        if self._wsproto.state is ConnectionState.OPEN:
            await self._send(events.CloseConnection(code=code, reason=end.reason))
        await self._close_web_socket(code, end.reason)
        raise ConnectionClosed(self._close_reason)

    async def _send(self, event: events.Event) -> None:
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


FRAME_LIMIT = MESSAGE_LIMIT
PING_EVERY, SIGN_WITHIN = 20.0, 20.0
_GRACE = 1.0  # seconds that a late reader listens before it calls a link dead: the pong may be unread
_CLOSE_GRACE = 1.0
MOST_LEFT = 4 << 20  # bytes of messages that are kept while a session is being closed
_MOST_LOCATION = 200
_WANTS_MORE = {
    400: "; it may want `subprotocols`, or `headers` such as an Origin or a token",
    403: "; it may want `headers` such as an Origin or a token",
    426: "; it may want other `subprotocols`",
}
BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)

HeaderPairs = Sequence[tuple[bytes, bytes]]


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
        self._stream, self._connection = stream, connection
        self._received = self._skipped = self._size = 0
        self._why = ""
        self._waiting: Sequence[str | bytes] = ()
        self._unread: list[str] = []
        self._ping_at = trio.current_time() + PING_EVERY
        self._asked: float | None = None
        self._reading = trio.CancelScope(shield=True)
        self._read = trio.Event()
        self.subprotocol = connection.subprotocol

    def statistics(self) -> FramesStatistics:
        return FramesStatistics(self._received, self._skipped, self._size, self._why)

    async def run(self) -> None:
        try:
            with self._reading:
                await self._connection._reader_task()
        finally:
            self._read.set()

    async def receive(self) -> list[str]:
        """Return the next messages, at least one and few together; block only while there are none. Text, or UTF-8
        bytes, even compressed; other bytes are counted and skipped. Raises SessionEnded when the session has ended and
        all earlier messages are taken. If cancelled, no message is lost.
        """
        while True:
            if texts := self._texts(self._waiting or await self._next()):
                return texts

    def unread(self) -> list[str]:
        """Return messages not taken when the session was closed: at most `MOST_LEFT` bytes, plus those read ahead."""
        left, self._unread = self._unread, []
        return left

    def push_back(self, texts: Sequence[str]) -> None:
        """Return these from `unread` as well: their receiver was cancelled."""
        self._unread += texts

    async def send(self, text: str) -> None:
        """Send a message. If the server does not take it, the session has ended, as `receive` reports."""
        await self._say(events.TextMessage(data=text))

    async def aclose(self) -> None:
        """Send a close frame, wait at most a second for the reply, and close the stream."""
        with trio.move_on_after(_CLOSE_GRACE, shield=True), suppress(ConnectionClosed):
            if self._connection.open:
                await self._connection._send(events.CloseConnection(code=1000))
                await self._take_on()
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            self._reading.cancel()
            await self._read.wait()
            await trio.aclose_forcefully(self._stream)
            with suppress(ConnectionClosed):
                await self._take_on()  # messages read ahead, if the server closed first or did not reply

    async def _take_on(self) -> None:
        until = self._size + MOST_LEFT
        while self._size <= until:
            self._unread += self._texts(self._waiting or await self._connection.take())

    async def _next(self) -> list[str | bytes]:
        """Wait for messages, with pings. Raises SessionEnded when the session has ended, or the link is dead."""
        connection = self._connection
        while True:
            now, asked = trio.current_time(), self._unanswered()
            if now >= self._ping_at:
                self._ping_at = now + PING_EVERY
                self._asked = asked = now if asked is None else asked
                await self._say(events.Ping(payload=b"sanderling"))
            dead_at = self._ping_at if asked is None else max(asked + SIGN_WITHIN, now + _GRACE)
            try:
                with trio.move_on_at(min(dead_at, max(self._ping_at, now + _GRACE))):
                    return await connection.take()
            except ConnectionClosed:
                raise connection.end or broken("the connection ended without a close") from None
            asked = self._unanswered()
            if asked is not None and trio.current_time() >= asked + SIGN_WITHIN:
                raise broken(f"the connection is dead: no pong within {SIGN_WITHIN:g} s")

    def _unanswered(self) -> float | None:
        """Return when the last ping was sent, unless a frame has come since."""
        asked = self._asked
        return None if asked is None or self._connection.last_frame_at >= asked else asked

    async def _say(self, event: events.Event) -> None:
        """Send a whole frame, even when cancelled: half a frame would corrupt the rest. `receive` reports failures."""
        with trio.move_on_after(SEND_WITHIN + _GRACE, shield=True), suppress(ConnectionClosed):
            if self._connection.open:
                await self._connection._send(event)

    def _texts(self, messages: Sequence[str | bytes]) -> list[str]:
        """Count messages; return those that are text or UTF-8. After a large one the rest waits for the next call."""
        texts, unpacked, self._waiting = list[str](), 0, ()
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
    user_headers: HeaderPairs = (),
    on_cookies: CookieCallback | None = None,
) -> AsyncIterator[Frames]:
    """Open a session and keep it open during the block. Raises CheckFailed (with `status`, if it was refused).
    `subprotocols` are offered in this order. user_headers: a user's headers. on_cookies: called with the cookies of the
    handshake's response, even a refusal. Leaving the block closes the session politely, within 2 seconds.
    """
    agent = (b"User-Agent", user_agent(settings.contact).encode())
    headers_sent = [agent, *user_headers]
    asked = events.Request(url.authority, url.target, subprotocols=list(subprotocols), extra_headers=headers_sent)
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection = WSConnection(ConnectionType.CLIENT)
            answer = await _shake(stream, connection, asked)
            raw = answer.headers if isinstance(answer, events.RejectConnection) else answer.extra_headers
            headers = pass_cookies(raw, getattr(answer, "status_code", 101), on_cookies, world.wall())
            if isinstance(answer, events.RejectConnection):
                raise _refused(headers, answer.status_code, world)
    except trio.TooSlowError:
        await drop(stream)
        raise CheckFailed(Blame.REMOTE_TRANSIENT, f"no handshake within {settings.look_timeout:g} s") from None
    except BaseException:
        await drop(stream)
        raise
    frames = Frames(stream, BoundedConnection(stream, connection, answer.subprotocol))
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


async def _shake(
    stream: trio.abc.Stream, connection: WSConnection, asked: events.Request
) -> events.AcceptConnection | events.RejectConnection:
    """Send the request and return the response; further data stays in `connection`."""
    try:
        await stream.send_all(connection.send(asked))
        while True:
            data = await stream.receive_some(CHUNK)
            if not data:
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the connection ended in the handshake")
            connection.receive_data(bytes(data))
            answer: events.Event | None = next(iter(connection.events()), None)
            if isinstance(answer, events.AcceptConnection | events.RejectConnection):
                return answer
    except BROKEN:
        raise CheckFailed(Blame.REMOTE_TRANSIENT, "the connection broke in the handshake") from None
    except (ProtocolError, h11.ProtocolError, UnicodeError) as error:  # wsproto decodes some headers as ASCII
        if "subprotocol" in str(error):
            says = f"{in_words(error)}: the server chose one that was not offered; name it in `subprotocols`"
            raise CheckFailed(Blame.REMOTE_PERMANENT, says) from None
        raise CheckFailed(Blame.REMOTE_TRANSIENT, f"the server violates the protocol: {in_words(error)}") from None


async def drop(stream: trio.abc.Stream | None) -> None:
    """Close a stream by force, within a second even when cancelled."""
    if stream is not None:
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await trio.aclose_forcefully(stream)


def _refused(headers: Mapping[str, str], status: int, world: World) -> CheckFailed:
    found = failure(status, retry_after(headers.get("retry-after"), sent_at(headers, world.wall())))
    if is_redirect(status):
        moved = Blame.REMOTE_PERMANENT if status in (301, 308) else Blame.REMOTE_TRANSIENT
        where = headers.get("location", "")[:_MOST_LOCATION]
        advice = f", to {where!r}: a handshake is not redirected; watch that address instead" if where else ""
        return CheckFailed(moved, f"{found.reason}{advice}", status=status)
    if 200 <= status < 300:
        return CheckFailed(Blame.REMOTE_PERMANENT, f"{found.reason}: there is no WebSocket here", status=status)
    reason = f"{found.reason}{_WANTS_MORE.get(status, '')}"
    return CheckFailed(found.blame, reason, status=status, retry_after=found.retry_after)
