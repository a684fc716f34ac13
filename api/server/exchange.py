"""One request and its answer over any protocol, and the switch to a live stream.

Quart and its hooks answer `GET /v1/stream` with a head and a reader. After the head, each piece goes to the peer
without passing their layers again, for a third of the cost and half of the memory.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any

import h11
import trio

from api.app import Api
from api.nouns.service import PROBES
from api.problems import INTERNAL, MEDIA, FieldError, Refusal
from api.refusals import refusal_of
from api.route import Answer
from api.server.http1 import Fault, Whole
from api.server.live import GONE, LiveStream
from api.server.wire import Wire
from api.streams.export import Export, Revoked, pour
from api.streams.feed import Feed
from api.streams.keepalives import Writer
from api.streams.reader import FellBehind, Reader
from api.unsent import ADDRESS, OPENED, Outgoing
from storage.errors import StorageError
from storage.records.key import Holder
from storage.records.secrecy import without_secrets

LONGEST_SHOWN = 500
"""Letters of a stream's request that are stored for display."""
Message = dict[str, Any]
_SLUGS = {408: "request-timeout", 414: "target-too-long", 431: "headers-too-large", 503: "unavailable"}


class Exchange:
    """Routes the requests of a connection to their applications."""

    __slots__ = ("_api", "_line")

    def __init__(self, api: Api, line: Wire) -> None:
        self._api, self._line = api, line

    async def answer(self, scope: Message, receive: Any, send: Any, *_: Any) -> None:
        """Answer through Quart, or at a bin without it. If that opens a stream, feed it. Never raises into the tree."""
        head: Message | None = None
        begun = False

        async def tap(message: Message) -> None:
            nonlocal head, begun
            if OPENED not in scope:
                begun = True
                await outgoing.send(message)
            elif message["type"] == "http.response.start":
                head = message

        others = () if self._api.alone else self._api.endpoints  # other listeners have only the API
        application: Any = next((each for each in others if each.applies(scope)), self._api)
        if application is self._api and self._api.face_of(scope) is self._api.programs:
            send = partial(self._count, send)
        outgoing = Outgoing(self._api.unsent, self._api.proxies, self._api.base_url, scope, send)
        try:
            with outgoing:
                await application(scope, receive, tap)
                await outgoing.settle()
            if head is not None:
                with self._place(*scope[OPENED]):
                    begun = True
                    await self._stream(scope, head, send)
        except Exception as error:
            if begun or not isinstance(error, Refusal):
                self._api.report(error, scope)
            if not begun:
                await self._fail(send, refusal_of(error) or INTERNAL)

    async def _count(self, send: Any, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._api.context.world.metrics.requests.add(f"{message['status'] // 100}xx")
        await send(message)

    def _place(self, key: Any, source: Reader | Feed | Export) -> AbstractContextManager[None]:
        # Check again and take the slot: others may have been admitted while heads were being sent.
        streams = self._api.streams
        return streams.exports.running(key) if isinstance(source, Export) else streams.place(key)

    async def _stream(self, scope: Message, head: Message, send: Any) -> None:
        head["headers"] = [pair for pair in head["headers"] if pair[0].lower() != b"content-length"]
        key, source = scope[OPENED]
        if isinstance(source, Reader) and self._line.parks:
            head["headers"].append((b"connection", b"close"))  # no further request is read
        query = scope.get("query_string", b"").decode("latin-1")
        asked = without_secrets(f"{scope['path']}?{query}" if query else str(scope["path"]))[:LONGEST_SHOWN]
        await send(head)
        head["headers"] = scope["headers"] = []  # free them: a stream may run for weeks
        writer, whole = _WireWriter(self._line, chunked=scope["http_version"] == "1.1"), False
        try:
            if isinstance(source, Export):
                whole = await self._pour(key, source, writer)
            else:
                address = scope.get(ADDRESS, "")
                stream = LiveStream(self._api, key, source, writer, self._line, address=address, asked=asked)
                if stream.parks:
                    self._line.stream, whole = stream, True  # the connection ends, the stream continues
                    return
                whole = await stream.run()
        finally:
            if not whole:
                await self._line.cut()  # a partial answer must not look complete
        if not self._line.eof:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pour(self, key: Holder, export: Export, writer: Writer) -> bool:
        line, context = self._line, self._api.context
        with trio.CancelScope() as scope, suppress(*GONE):
            line.on_eof = scope.cancel
            try:
                if not line.eof:
                    await pour(export, writer, partial(self._api.streams.has_gone, key))
                    return True
            except (FellBehind, Revoked, StorageError) as error:
                context.world.log("export.cut", level="warning", export=repr(export), error=repr(error))
            finally:
                line.on_eof = None
        return False

    async def _fail(self, send: Any, refusal: Refusal) -> None:
        body = refusal.encode(self._api.base_url)
        headers = [(b"content-type", MEDIA.encode()), (b"content-length", b"%d" % len(body))]
        headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


class _WireWriter:
    __slots__ = ("_chunked", "_wire", "spoke")

    def __init__(self, wire: Wire, *, chunked: bool) -> None:
        self._wire, self._chunked = wire, chunked
        self.spoke = trio.current_time()

    def send_nowait(self, data: bytes) -> bytes:
        if not data:
            return b""
        self.spoke = trio.current_time()
        return bytes(self._wire.send_nowait(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data))

    async def send(self, rest: bytes) -> None:
        await self._wire.send_all(rest)
        self.spoke = trio.current_time()

    async def finish(self) -> None:
        await self._wire.send_all(b"0\r\n\r\n" if self._chunked else b"")


_ROUTED = frozenset(b"authorization content-length origin transfer-encoding x-api-key x-request-id".split())
"""Headers that change the answer to a probe, or say that it has a body."""


def probed(api: Api, request: h11.Request) -> Whole | None:
    """Return the answer to a plain probe, as the framework would give it; None for other requests."""
    path = request.target.decode("latin-1")
    if path not in PROBES or request.method != b"GET" or api.alone or any(n in _ROUTED for n, _ in request.headers):
        return None
    try:
        answer = PROBES[path](api.context)
    except Refusal as refusal:
        answer = Answer(refusal.encode(api.base_url, path), refusal.status, MEDIA, dict(refusal.headers))
    api.context.world.metrics.requests.add(f"{answer.status // 100}xx")
    named = {**answer.headers, "Content-Type": answer.media, "X-Request-Id": api.new_request_id()}
    named |= {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **api.only_https}
    return answer.status, [(name.lower().encode(), value.encode()) for name, value in named.items()], answer.encoded()


def refused(api: Api, status: int, fault: Fault | None) -> Whole:
    where, rule = (
        (fault.where, fault.rule) if fault else ("head", "The request is not HTTP/1.1 as RFC 9112 defines it.")
    )
    refusal = Refusal(_SLUGS.get(status, "invalid-request"), rule, [FieldError(where, rule)])
    request_id = api.new_request_id()
    api.context.world.log("http.refused", level="debug", request_id=request_id, status=refusal.status, rule=rule)
    headers = [
        (b"content-type", MEDIA.encode()),
        (b"x-request-id", request_id.encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if status == 503:
        headers.append((b"retry-after", b"10"))
    return refusal.status, headers, refusal.encode(api.base_url)
