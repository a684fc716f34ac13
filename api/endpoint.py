"""Endpoints before Quart, for anyone without a key: no session, no cookie, no route, so that a request costs little.

An endpoint has a rate limit for each neighbourhood of addresses, and the same headers in each answer. Extras have them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import trio
from werkzeug.datastructures import Headers

from actors.errors import DomainError
from api.application import Application
from api.peers import caller
from api.problems import MEDIA, Refusal, later
from api.ratelimit import STRANGERS, neighbourhood
from api.refusals import refusal_of
from storage.errors import StorageError

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
WITHIN = 15.0  # seconds for a body to arrive


class EndpointReply(NamedTuple):
    """An answer: status, type ("": no body), body, and headers in addition to the common ones."""

    status: int
    media: str
    body: bytes
    headers: Sequence[tuple[str, str]] = ()


class Arrived:
    """A request. peer: the neighbourhood of its address. ended: no more of its body will come."""

    def __init__(self, scope: Message, receive: Callable[[], Awaitable[Message]], headers: Headers, peer: str) -> None:
        self.scope, self.headers, self.peer, self.ended = scope, headers, peer, False
        self._receive = receive

    async def next(self) -> bytes | None:
        """Return the next piece of the body; None if it was cut off."""
        message = await self._receive()
        self.ended = not message.get("more_body", False)
        return message.get("body", b"") if message["type"] == "http.request" else None

    async def body(self, most: int) -> bytes:
        """Return the body, of at most so many bytes. Raises Refusal (400, 408, 413)."""
        kept = bytearray()
        with trio.move_on_after(WITHIN):
            while not self.ended:
                piece = await self.next()
                if piece is None:
                    raise Refusal("invalid-request", "The body was cut off.")
                kept += piece
                if len(kept) > most:
                    raise Refusal("body-too-large", f"The body has at most {most} bytes.")
            return bytes(kept)
        raise Refusal("request-timeout", f"The body did not arrive within {WITHIN:g} s.")

    async def drop(self) -> None:
        while (await self._receive())["type"] == "http.request":
            pass


class Endpoint:
    """An application. path: with a slash at its end, all paths that begin so. name: as refusals and limits have it.
    harmless: further headers of each answer. reads: whether it reads bodies; else a request without a length has none.
    """

    path: ClassVar[str]
    name: ClassVar[str]
    reads: ClassVar[bool] = True
    harmless: ClassVar[Mapping[str, str]]

    def __init__(self, api: Application) -> None:
        self._api = api

    def applies(self, scope: Message) -> bool:
        path = scope.get("raw_path", b"").decode("latin-1")
        ours = path.startswith(self.path) if self.path.endswith("/") else path == self.path
        return ours and scope.get("type") == "http"

    async def reply(self, request: Arrived) -> EndpointReply:
        """Answer a request within its limit. Raises Refusal, DomainError, StorageError, TooSlowError."""
        raise NotImplementedError

    def refused(self, request: Arrived, refusal: Refusal) -> EndpointReply:
        return EndpointReply(refusal.status, MEDIA, refusal.encode(self._api.base_url), tuple(refusal.headers.items()))

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        """Answer one request. If its body stays unread, the connection closes."""
        headers = Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]])
        peer = neighbourhood(caller((scope.get("client") or ("", 0))[0], headers, self._api.proxies))
        request = Arrived(scope, receive, headers, peer)
        request.ended = not (self.reads or "Content-Length" in headers or "Transfer-Encoding" in headers)
        verdict = self._api.limiter.take(f"{self.name} {peer}", STRANGERS, trio.current_time())
        try:
            if not verdict.admitted:
                raise later("rate-limited", f"Too many requests to {self.name}.", verdict.retry_after)
            reply = await self.reply(request)
        except (Refusal, DomainError, StorageError, trio.TooSlowError) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            reply = self.refused(request, refusal)
        named = {"x-content-type-options": "nosniff", "cache-control": "no-store", **self.harmless}
        named |= {"x-request-id": self._api.new_request_id(), **dict(verdict.headers())}
        named |= {name.lower(): value for name, value in reply.headers}
        if reply.media:
            named |= {"content-type": reply.media, "content-length": str(len(reply.body))}
        if not request.ended:
            named["connection"] = "close"
        pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in named.items()]
        async with trio.open_nursery() as nursery:
            # Hypercorn's receive queue must not be full when the answer ends, or the answer waits for it.
            if not request.ended:
                nursery.start_soon(request.drop)
            await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
            body = b"" if scope["method"] == "HEAD" else reply.body
            await send({"type": "http.response.body", "body": body, "more_body": False})
            nursery.cancel_scope.cancel()
