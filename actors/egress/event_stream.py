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

from actors.egress.cookies import Heard, set_by
from actors.egress.failures import Blame, LookFailed, failure, is_redirect
from actors.egress.guard import Guard
from actors.egress.headers import collect, retry_after, sendable, sent_at, user_agent
from actors.egress.http import RedirectElsewhere, Sign, redirect
from actors.egress.stream_lines import SPOKEN, StreamLines, kind_of
from actors.egress.url import Url
from actors.egress.websocket import BROKEN, FramesStatistics, Given, SessionOver, broken, drop
from actors.settings import Settings
from actors.world import World

ACCEPT = b"text/event-stream, application/x-ndjson;q=0.9, application/jsonl;q=0.9, */*;q=0.1"
QUIET = 300.0
AT_ONCE = 64
"""Events returned at once, at most."""
_CHUNK = 16 << 10
_MOST_HEAD = 64 << 10
_GRACE = 1.0
"""Seconds that a late reader listens before it calls a stream quiet."""


class EventStream:
    """The events of one response, as `Frames` are those of a session.

    `place`: the id to resume after, for the events that `receive` has returned; None if the server gives none.
    """

    subprotocol: str | None = None

    def __init__(self, stream: trio.abc.Stream, connection: h11.Connection, content_type: str, last_id: str) -> None:
        self._stream = stream
        self._connection = connection
        kind = kind_of(content_type)
        assert kind is not None, "the answer was checked"
        self.says = f"{content_type.partition(';')[0].strip().lower()}: {SPOKEN[kind]}"
        self.lines = StreamLines(kind, last_id)
        self._ready: deque[tuple[str | None, str | None]] = deque()
        self._back: list[str] = []
        self._received = self._size = 0
        self._over: SessionOver | None = None
        self._heard_at = trio.current_time()
        self.place: str | None = None

    def statistics(self) -> FramesStatistics:
        skipped = self.lines.skipped
        why = "an event has more than 1 MiB" if skipped else ""
        return FramesStatistics(self._received + skipped, skipped, self._size, why)

    async def receive(self) -> list[str]:
        """Return the next events, at least one and few together; none if only the place has moved.

        Raises SessionOver when the stream has ended and all earlier events are taken. If cancelled, no event is lost.
        """
        if self._back:
            back, self._back = self._back, []
            return back
        while not self._ready:
            if self._over is not None:
                raise self._over
            await self._read()
        texts: list[str] = []
        while self._ready and len(texts) < AT_ONCE:
            text, id = self._ready.popleft()
            self.place = self.place if id is None else id
            if text is not None:
                self._received += 1
                texts.append(text)
        return texts

    def left(self) -> list[str]:
        """Return the events that were given back, or had arrived and were not received."""
        texts, self._back = self._back, []
        texts += [text for text, _ in self._ready if text is not None]
        self.place = next((id for _, id in reversed(self._ready) if id is not None), self.place)
        self._ready.clear()
        return texts

    def give_back(self, texts: Sequence[str]) -> None:
        """Return these again from the next `receive` or `left`: their receiver was cancelled."""
        self._back += texts

    async def send(self, text: str) -> None:
        """Do nothing: a stream only listens."""

    async def _read(self) -> None:
        try:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                with trio.fail_at(max(self._heard_at + QUIET, trio.current_time() + _GRACE)):
                    data = bytes(await self._stream.receive_some(_CHUNK))
                self._heard_at = trio.current_time()
                self._connection.receive_data(data)
            elif isinstance(event, h11.Data):
                self._size += len(event.data)
                self._ready += self.lines.feed(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed) or event is h11.PAUSED:
                self._ready += self.lines.end()
                self._over = SessionOver(
                    Blame.REMOTE_TRANSIENT, "the server ended the stream", code=1000, answered=True
                )
        except trio.TooSlowError:
            says = f"nothing has come for {QUIET:g} s, so the stream is opened again"
            self._over = SessionOver(Blame.REMOTE_TRANSIENT, says, code=1000)
        except (*BROKEN, h11.RemoteProtocolError):
            self._over = broken("the stream broke off")


@asynccontextmanager
async def open_stream(
    url: Url,
    guard: Guard,
    settings: Settings,
    world: World,
    *,
    last_id: str = "",
    given: Given = (),
    heard: Heard | None = None,
    sign: Sign | None = None,
) -> AsyncIterator[EventStream]:
    """Request a stream and keep it open during the block. Raises LookFailed, and Elsewhere for a redirect.

    last_id: of the event to resume after. given: a user's headers. heard: called with the response's cookies.
    """
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(settings.look_timeout):
            stream = await guard.open(url)
            connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
            signed = await sign("GET", url) if sign is not None and url.secure else ()
            headers = [(b"Host", url.authority.encode()), (b"User-Agent", user_agent(settings.contact).encode())]
            headers.append((b"Accept-Encoding", b"identity"))
            place = last_id.encode() if last_id and sendable(last_id.encode().decode("latin-1")) else None
            headers += [pair for pair in given if place is None or pair[0].lower() != b"last-event-id"]
            if not any(name.lower() == b"accept" for name, _ in given):
                headers.append((b"Accept", ACCEPT))
            if place is not None:
                headers.append((b"Last-Event-ID", place))
            headers += [(name.encode(), value.encode()) for name, value in signed]
            answer = await _ask(stream, connection, h11.Request(method="GET", target=url.target, headers=headers))
            content_type = _checked(url, answer, heard, world)
        yield EventStream(stream, connection, content_type, last_id)
    except trio.TooSlowError:
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"no answer within {settings.look_timeout:g} s") from None
    finally:
        await drop(stream)


async def _ask(stream: trio.abc.Stream, connection: h11.Connection, asked: h11.Request) -> h11.Response:
    """Send the request and return the head of the response. Raises LookFailed."""
    try:
        await stream.send_all((connection.send(asked) or b"") + (connection.send(h11.EndOfMessage()) or b""))
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(bytes(await stream.receive_some(_CHUNK)))
            elif isinstance(event, h11.Response):
                return event
            elif not isinstance(event, h11.InformationalResponse):
                raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection ended before the answer")
    except BROKEN:
        raise LookFailed(Blame.REMOTE_TRANSIENT, "the connection was reset") from None
    except h11.RemoteProtocolError as error:
        raise LookFailed(Blame.REMOTE_TRANSIENT, f"the answer breaks HTTP: {error}") from None


def _checked(url: Url, answer: h11.Response, heard: Heard | None, world: World) -> str:
    """Return the Content-Type of a streaming response. Raises LookFailed, Elsewhere."""
    raw, status, wall = list(answer.headers.raw_items()), answer.status_code, world.wall()
    headers = collect(raw)
    sets = set_by(raw, sent_at(headers, wall), wall)
    if heard is not None and sets.lines:
        heard(sets, status)
    if is_redirect(status) and "location" in headers:
        raise RedirectElsewhere(redirect(url, headers["location"]), (url.text,))
    if status == HTTPStatus.NO_CONTENT:
        raise LookFailed(Blame.REMOTE_PERMANENT, "answered 204: the server asks for no more requests", status=status)
    if status != HTTPStatus.OK:
        raise failure(status, retry_after(headers.get("retry-after"), sent_at(headers, wall)))
    content_type, coding = headers.get("content-type", ""), headers.get("content-encoding", "identity")
    if kind_of(content_type) is None:
        what = content_type.partition(";")[0].strip()[:100] or "no Content-Type"
        says = f"answered 200 with {what}: a stream has text/event-stream or JSON lines (application/x-ndjson)"
        raise LookFailed(Blame.REMOTE_PERMANENT, says, status=status)
    if coding.strip().lower() not in {"", "identity"}:
        raise LookFailed(
            Blame.CONTENT, f"the stream is compressed ({coding[:40]}), which was not requested", status=status
        )
    return content_type
