"""Streams over HTTP/1.1 on the guard's connections: Server-Sent Events and JSON lines, read on demand.

There is no background reader: while the caller is busy, TCP slows the server down. A server can't be pinged, so a
stream without a byte, not even a comment, for `QUIET` seconds is reopened. The caller follows redirects: each is a
separate request, checked as those of checks are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus

import h11
import trio

from actors.egress.cookies import CookieCallback, pass_cookies
from actors.egress.failures import Blame, CheckFailed, failure, is_redirect
from actors.egress.guard import Guard
from actors.egress.headers import retry_after, sendable, sent_at, user_agent
from actors.egress.http import RedirectElsewhere, Sign, redirect
from actors.egress.stream_lines import KIND_NAMES, StreamLines, kind_of
from actors.egress.url import Url
from actors.egress.websocket import BROKEN, FramesStatistics, HeaderPairs, SessionEnded, broken, drop
from actors.settings import Settings
from actors.world import World

ACCEPT = b"text/event-stream, application/x-ndjson;q=0.9, application/jsonl;q=0.9, */*;q=0.1"
QUIET = 300.0
AT_ONCE = 64  # events returned at once, at most
_CHUNK, _MOST_HEAD = 16 << 10, 64 << 10
_GRACE = 1.0  # seconds that a late reader listens before it calls a stream quiet


class EventStream:
    """The events of one response. `resume_id`: to resume after those that `receive` returned; None if unknown."""

    subprotocol: str | None = None

    def __init__(self, stream: trio.abc.Stream, connection: h11.Connection, content_type: str, last_id: str) -> None:
        self._stream, self._connection = stream, connection
        kind = kind_of(content_type)
        assert kind is not None, "the answer was checked"
        self.says = f"{content_type.partition(';')[0].strip().lower()}: {KIND_NAMES[kind]}"
        self.lines = StreamLines(kind, last_id)
        self._events: deque[tuple[str | None, str | None]] = deque()
        self._returned: list[str] = []
        self._received = self._size = 0
        self._end: SessionEnded | None = None
        self._last_data_at = trio.current_time()
        self.resume_id: str | None = None

    def statistics(self) -> FramesStatistics:
        skipped = self.lines.skipped
        why = "an event has more than 1 MiB" if skipped else ""
        return FramesStatistics(self._received + skipped, skipped, self._size, why)

    async def receive(self) -> list[str]:
        """Return the next events, at least one and few together; none if only the place has moved. Raises SessionEnded
        when the stream has ended and all earlier events are taken. If cancelled, no event is lost.
        """
        if self._returned:
            returned, self._returned = self._returned, []
            return returned
        while not self._events:
            if self._end is not None:
                raise self._end
            await self._read()
        texts: list[str] = []
        while self._events and len(texts) < AT_ONCE:
            text, id = self._events.popleft()
            self.resume_id = self.resume_id if id is None else id
            if text is not None:
                self._received += 1
                texts.append(text)
        return texts

    def unread(self) -> list[str]:
        """Return the events that were given back, or had arrived and were not received."""
        texts, self._returned = self._returned, []
        texts += [text for text, _ in self._events if text is not None]
        self.resume_id = next((id for _, id in reversed(self._events) if id is not None), self.resume_id)
        self._events.clear()
        return texts

    def push_back(self, texts: Sequence[str]) -> None:
        """Return these again from the next `receive` or `unread`: their receiver was cancelled."""
        self._returned += texts

    async def send(self, text: str) -> None:
        """Do nothing: a stream only listens."""

    async def _read(self) -> None:
        try:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                with trio.fail_at(max(self._last_data_at + QUIET, trio.current_time() + _GRACE)):
                    data = bytes(await self._stream.receive_some(_CHUNK))
                self._last_data_at = trio.current_time()
                self._connection.receive_data(data)
            elif isinstance(event, h11.Data):
                self._size += len(event.data)
                self._events += self.lines.feed(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed) or event is h11.PAUSED:
                self._events += self.lines.end()
                reason = "the server ended the stream"
                self._end = SessionEnded(Blame.REMOTE_TRANSIENT, reason, code=1000, answered=True)
        except trio.TooSlowError:
            reason = f"nothing has come for {QUIET:g} s, so the stream is opened again"
            self._end = SessionEnded(Blame.REMOTE_TRANSIENT, reason, code=1000)
        except (*BROKEN, h11.RemoteProtocolError):
            self._end = broken("the stream broke off")


@asynccontextmanager
async def open_stream(
    url: Url,
    guard: Guard,
    settings: Settings,
    world: World,
    *,
    last_id: str = "",
    user_headers: HeaderPairs = (),
    on_cookies: CookieCallback | None = None,
    sign: Sign | None = None,
) -> AsyncIterator[EventStream]:
    """Request a stream and keep it open during the block. Raises CheckFailed, RedirectElsewhere. last_id: of the event
    to resume after. user_headers: a user's headers. on_cookies: called with the response's cookies.
    """
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
            signed = await sign("GET", url) if sign is not None and url.secure else ()
            headers = [(b"Host", url.authority.encode()), (b"User-Agent", user_agent(settings.contact).encode())]
            headers.append((b"Accept-Encoding", b"identity"))
            resume_id = last_id.encode() if last_id and sendable(last_id.encode().decode("latin-1")) else None
            headers += [pair for pair in user_headers if resume_id is None or pair[0].lower() != b"last-event-id"]
            if not any(name.lower() == b"accept" for name, _ in user_headers):
                headers.append((b"Accept", ACCEPT))
            if resume_id is not None:
                headers.append((b"Last-Event-ID", resume_id))
            headers += [(name.encode(), value.encode()) for name, value in signed]
            response = await _request(stream, connection, h11.Request(method="GET", target=url.target, headers=headers))
            content_type = _validated(url, response, on_cookies, world)
        yield EventStream(stream, connection, content_type, last_id)
    except trio.TooSlowError:
        raise CheckFailed(Blame.REMOTE_TRANSIENT, f"no answer within {settings.look_timeout:g} s") from None
    finally:
        await drop(stream)


async def _request(stream: trio.abc.Stream, connection: h11.Connection, request: h11.Request) -> h11.Response:
    try:
        await stream.send_all((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(bytes(await stream.receive_some(_CHUNK)))
            elif isinstance(event, h11.Response):
                return event
            elif not isinstance(event, h11.InformationalResponse):
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the connection ended before the answer")
    except BROKEN:
        raise CheckFailed(Blame.REMOTE_TRANSIENT, "the connection was reset") from None
    except h11.RemoteProtocolError as error:
        raise CheckFailed(Blame.REMOTE_TRANSIENT, f"the answer breaks HTTP: {error}") from None


def _validated(url: Url, response: h11.Response, on_cookies: CookieCallback | None, world: World) -> str:
    """Return the Content-Type of a streaming response. Raises CheckFailed, RedirectElsewhere."""
    status = response.status_code
    headers = pass_cookies(response.headers.raw_items(), status, on_cookies, world.wall())
    if is_redirect(status) and "location" in headers:
        raise RedirectElsewhere(redirect(url, headers["location"]), (url.text,))
    if status == HTTPStatus.NO_CONTENT:
        raise CheckFailed(Blame.REMOTE_PERMANENT, "answered 204: the server asks for no more requests", status=status)
    if status != HTTPStatus.OK:
        raise failure(status, retry_after(headers.get("retry-after"), sent_at(headers, world.wall())))
    content_type, coding = headers.get("content-type", ""), headers.get("content-encoding", "identity")
    if kind_of(content_type) is None:
        media = content_type.partition(";")[0].strip()[:100] or "no Content-Type"
        reason = f"answered 200 with {media}: a stream has text/event-stream or JSON lines (application/x-ndjson)"
        raise CheckFailed(Blame.REMOTE_PERMANENT, reason, status=status)
    if coding.strip().lower() not in {"", "identity"}:
        reason = f"the stream is compressed ({coding[:40]}), which was not requested"
        raise CheckFailed(Blame.CONTENT, reason, status=status)
    return content_type
