"""WebSocket sessions (RFC 6455) over the guard's streams: text frames in, a failure with its blame at the end.

A link whose other end has vanished looks like a quiet one. So a ping goes every 30 seconds, and a link that answers
neither with a pong nor with anything else for 20 seconds is dead: found within 50 seconds of its last sign of life.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import h11
import trio
from trio_websocket import ConnectionClosed, ConnectionRejected, WebSocketConnection, wrap_client_stream
from wsproto.utilities import ProtocolError

from actors.egress.failures import Blame, LookFailed
from actors.egress.guard import Guard
from actors.egress.headers import collect, retry_after, user_agent
from actors.egress.statuses import failure
from actors.egress.url import Url
from actors.settings import Settings
from actors.world import World

FRAME_LIMIT = 1 << 20
PING_EVERY = 30.0
PONG_WITHIN = 20.0
_CLOSE_GRACE = 2.0
_PROTOCOL_ERRORS = (h11.ProtocolError, ProtocolError, ConnectionClosed, trio.BrokenResourceError)

E = TypeVar("E", bound=Exception)

# Close codes (RFC 6455, 7.4, and the IANA registry) that are not remote-transient.
_BLAMES = {
    1003: Blame.CONTENT,
    1007: Blame.CONTENT,
    1008: Blame.REMOTE_PERMANENT,  # policy
    1009: Blame.CONTENT,
    1010: Blame.REMOTE_PERMANENT,  # an extension that we lack
    1013: Blame.THROTTLED,  # try again later
    3000: Blame.REMOTE_PERMANENT,  # unauthorised
    3003: Blame.REMOTE_PERMANENT,  # forbidden
}


@dataclass(frozen=True, slots=True)
class FramesStatistics:
    """Counts since the handshake."""

    received: int
    skipped: int


class Frames:
    """The frames of one session. `receive` until it raises; one reader only."""

    def __init__(self, connection: WebSocketConnection) -> None:
        self._connection = connection
        self._received = self._skipped = 0
        self._waiting_since: float | None = None
        self._dead: LookFailed | None = None
        self.subprotocol = connection.subprotocol

    def __repr__(self) -> str:
        return f"<Frames {self._received} received, {self._skipped} skipped>"

    def statistics(self) -> FramesStatistics:
        """Return the counts."""
        return FramesStatistics(self._received, self._skipped)

    async def receive(self) -> str:
        """Return the next frame of text, or of bytes that are UTF-8; other bytes are counted and skipped.

        Raises LookFailed when the session is over. Cancelled, no frame is lost.
        """
        while True:
            frame = await self._next()
            self._received += 1
            if isinstance(frame, str):
                return frame
            try:
                return frame.decode()
            except UnicodeDecodeError:
                self._skipped += 1

    async def _next(self) -> str | bytes:
        self._waiting_since = trio.current_time()
        try:
            return await self._connection.get_message()
        except ConnectionClosed as closed:
            raise self._dead or _ended(closed) from None
        finally:
            self._waiting_since = None

    async def watch(self) -> None:
        """Ping until the link is dead; then close it, which ends `receive`. Runs beside the reader."""
        number = 0
        while self._dead is None:
            await trio.sleep(PING_EVERY)
            number += 1
            asked, before = trio.current_time(), self._received
            with trio.move_on_after(PONG_WITHIN) as waiting:
                try:
                    await self._connection.ping(number.to_bytes(4))
                except ConnectionClosed:
                    return
            if waiting.cancelled_caught and before == self._received and self._waited_since(asked):
                self._dead = LookFailed(Blame.REMOTE_TRANSIENT, f"the link is dead: no pong within {PONG_WITHIN:g} s")
        await _abort(self._connection)

    def _waited_since(self, moment: float) -> bool:
        """Whether the reader waited all the time; if it was busy, frames and the pong may lie unread, and prove
        life.
        """
        return self._waiting_since is not None and self._waiting_since <= moment


@asynccontextmanager
async def open_websocket(
    url: Url, guard: Guard, settings: Settings, world: World, *, subprotocols: Sequence[str] = ()
) -> AsyncIterator[Frames]:
    """Open a session and keep it while the block lasts. Raises LookFailed (with `status`, if it was refused).

    What the block raises comes out as it is. Leaving it closes the session politely, within 2 seconds.
    """
    raised: Exception | None = None
    try:
        async with trio.open_nursery() as nursery:
            connection = await _handshake(nursery, url, guard, settings, subprotocols)
            frames = Frames(connection)
            nursery.start_soon(frames.watch)
            try:
                yield frames
            except Exception as error:  # kept out of the nursery, which would wrap it in a group; raised below
                raised = error
            finally:
                with trio.move_on_after(_CLOSE_GRACE, shield=True):
                    await connection.aclose()
                await _abort(connection)
                nursery.cancel_scope.cancel()
    except* ConnectionRejected as group:
        raised = _refused(_first(group), world)
    except* LookFailed as group:
        raised = _first(group)
    except* _PROTOCOL_ERRORS as group:
        # The library's reader runs in our nursery, and trips over some of what a hostile server can say.
        raised = LookFailed(Blame.REMOTE_TRANSIENT, f"the server breaks the protocol: {_first(group)}")
    if raised is not None:
        raise raised


async def _handshake(
    nursery: trio.Nursery, url: Url, guard: Guard, settings: Settings, subprotocols: Sequence[str]
) -> WebSocketConnection:
    """Connect and shake hands within the time of a look. Raises LookFailed."""
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection: WebSocketConnection = await wrap_client_stream(
                nursery,
                stream,  # type: ignore[arg-type]  # any stream will do; the library's annotation is too narrow
                url.authority,
                url.target,
                subprotocols=list(subprotocols),
                extra_headers=[(b"User-Agent", user_agent(settings.contact).encode())],
                max_message_size=FRAME_LIMIT,
            )
    except trio.TooSlowError:
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"no handshake within {settings.look_timeout:g} s") from None
    except BaseException:
        if stream is not None:
            await trio.aclose_forcefully(stream)
        raise
    return connection


def _first(group: BaseExceptionGroup[E]) -> E:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


async def _abort(connection: WebSocketConnection) -> None:
    """Close the stream below, without a word; the library's reader then ends."""
    with trio.move_on_after(_CLOSE_GRACE, shield=True):
        await trio.aclose_forcefully(connection._stream)


def _ended(closed: ConnectionClosed) -> LookFailed:
    code = closed.reason.code if closed.reason is not None else 1006
    words = f" ({closed.reason.reason[:200]})" if closed.reason is not None and closed.reason.reason else ""
    return LookFailed(_BLAMES.get(code, Blame.REMOTE_TRANSIENT), f"the session was closed with code {code}{words}")


def _refused(rejected: ConnectionRejected, world: World) -> LookFailed:
    headers = collect(rejected.headers)
    return failure(rejected.status_code, retry_after(headers.get("retry-after"), world.wall()))
