"""HTTP/1.1 for `sanderling listen`: h11 on a Trio stream, with a limit and a deadline for everything.

Only complete requests reach `take`. Invalid, oversized or slow ones are refused here and reported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

import h11
import trio

from sanderling_client.receiver.capture import Capture

BODY_LIMIT = 4 << 20
"""A digest has up to 1 MiB of events plus its frame, and the largest single event is smaller than this."""
HEAD_LIMIT = 16 << 10
PATIENCE = 30.0
"""Seconds for one request, and for the next one on a kept connection."""
LINGER = 2.0
"""Seconds for draining a refused request, so that its sender gets to read the response."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a response text."""

    status: int
    text: str = ""


Take = Callable[[Capture], Awaitable[Reply]]


class _Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class HttpReceiver:
    """Serves connections. take: makes the reply to a POST. answered: called after a reply was sent or failed. tell:
    receives refused requests.
    """

    def __init__(
        self, take: Take, *, now: Callable[[], int], answered: Callable[[], None], tell: Callable[[str], None]
    ) -> None:
        self._take, self._now, self._answered, self._tell = take, now, answered, tell

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Serve one connection to its end. Errors affect only this connection."""
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)
        try:
            while await self._exchange(connection, stream):
                connection.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            pass  # the peer is gone, or does not read the response
        finally:
            with trio.move_on_after(1, shield=True):
                await trio.aclose_forcefully(stream)

    async def _exchange(self, connection: h11.Connection, stream: trio.abc.Stream) -> bool:
        """Answer one request; return whether another may follow."""
        try:
            with trio.fail_after(PATIENCE):
                capture = await self._read(connection, stream)
        except (_Refused, h11.RemoteProtocolError, trio.TooSlowError) as error:
            await self._refuse(connection, stream, _refusal(error))
            return False
        if capture is None:
            return False
        try:
            await _send(connection, stream, await self._take(capture))
        finally:
            self._answered()
        return bool(connection.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE})

    async def _read(self, connection: h11.Connection, stream: trio.abc.Stream) -> Capture | None:
        """Return the next request, None if the peer is gone. Raises _Refused, RemoteProtocolError."""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                if connection.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    await stream.send_all(connection.send(go_on) or b"")
                connection.receive_data(bytes(await stream.receive_some(65536)))
            elif isinstance(event, h11.Request):
                head = event
                if event.method != b"POST":
                    raise _Refused(405, "deliveries are POSTs; this is `sanderling listen`")
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > BODY_LIMIT:
                    raise _Refused(413, f"a body of more than {BODY_LIMIT >> 20} MiB is no delivery")
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                return _capture(head, bytes(body), self._now())
            else:  # closed; PAUSED cannot occur before a reply
                return None

    async def _refuse(self, connection: h11.Connection, stream: trio.abc.Stream, refused: _Refused) -> None:
        self._tell(f"answered {refused.status}: {refused.why}")
        if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await _send(connection, stream, Reply(refused.status, refused.why), last=True)
            with trio.move_on_after(LINGER):
                while await stream.receive_some(65536):
                    pass


def _refusal(error: Exception) -> _Refused:
    match error:
        case _Refused():
            return error
        case h11.RemoteProtocolError():
            return _Refused(error.error_status_hint, f"no HTTP that can be read: {error}")
        case _:
            return _Refused(408, f"no whole request within {PATIENCE:g} s")


def _capture(head: h11.Request, body: bytes, now: int) -> Capture:
    path, _, query = head.target.decode("latin-1").partition("?")
    raw = head.headers.raw_items()
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)
    return Capture(head.method.decode("latin-1"), path, query, headers, body, now)


async def _send(connection: h11.Connection, stream: trio.abc.Stream, reply: Reply, *, last: bool = False) -> None:
    body = b"" if reply.status in (204, 304) else (reply.text or _phrase(reply.status)).encode() + b"\n"
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    headers += [("Content-Length", str(len(body)))] if reply.status not in (204, 304) else []
    headers += [("Allow", "POST")] if reply.status == 405 else []
    headers += [("Connection", "close")] if last else []
    head = h11.Response(status_code=reply.status, headers=headers, reason=_phrase(reply.status).encode())
    parts = [connection.send(head), connection.send(h11.Data(data=body)), connection.send(h11.EndOfMessage())]
    with trio.fail_after(PATIENCE):
        await stream.send_all(b"".join(part or b"" for part in parts))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "As told"
