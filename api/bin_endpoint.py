"""The bin endpoint. It accepts any request to a bin, without a key.

It runs before Quart because a bin takes any method, interprets nothing (the sender's Authorization is not ours) and
truncates a long body instead of refusing it. It always answers `ok`, in a type that no browser runs. Our own deliveries
arrive within the process, since the guard would refuse our address. Signatures are checked when someone opens a
capture, so strangers cost little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import trio
from werkzeug.datastructures import Headers

from actors.bins import BODY, GONE, PATH, ArrivedRequest, Bins
from api.application import Application
from api.peers import caller
from api.problems import MEDIA, Refusal
from api.ratelimit import STRANGERS, Verdict, neighbourhood
from api.refusals import refusal_of
from storage.errors import StorageError

READ = 4 << 20
"""Bytes of a body to read; beyond that the connection closes."""
WITHIN = 15.0
"""Seconds for a body to arrive."""
AT_ONCE = 64
"""Concurrent requests; with the bytes kept of each, 16 MiB."""
OF_ONE = 8
"""Concurrent requests from one address."""
OK = b"ok\n"
_HARMLESS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"cache-control", b"no-store"),
)
Message = dict[str, Any]


def is_for_a_bin(scope: Message) -> bool:
    path: bytes = scope.get("raw_path", b"")
    return scope.get("type") == "http" and path.startswith(PATH.encode())


class BinEndpoint:
    """The ASGI application for requests that match `is_for_a_bin`."""

    def __init__(self, api: Application) -> None:
        self._api = api
        self._bins = Bins(api.context.world, api.context.storage, api.base_url)
        self._open: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<BinEndpoint {self._open.total()} of {AT_ONCE} requests under way>"

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Store one request and answer it."""
        named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        address = caller((scope.get("client") or ("", 0))[0], Headers(named), self._api.proxies)
        peer = neighbourhood(address)
        verdict = self._api.limiter.take(f"bins {peer}", STRANGERS, trio.current_time())
        body = _Body(receive)
        try:
            await self._keep(scope, named, body, peer, verdict)
            status, media, says, more = 200, "text/plain; charset=utf-8", OK, {}
        except (Refusal, StorageError) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            status, media, says, more = refusal.status, MEDIA, refusal.encode(self._api.base_url), refusal.headers
        headers = [*_HARMLESS, *_pairs((("content-type", media), ("content-length", str(len(says)))))]
        headers += _pairs((("x-request-id", self._api.new_request_id()), *verdict.headers(), *more.items()))
        if not body.ended:
            headers.append((b"connection", b"close"))  # the rest stays unread
        async with trio.open_nursery() as nursery:
            # Hypercorn's receive queue must not be full when the answer ends, or the answer waits for it.
            nursery.start_soon(body.drop)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": says, "more_body": False})
            nursery.cancel_scope.cancel()

    async def _keep(
        self, scope: Message, headers: Sequence[tuple[str, str]], body: _Body, peer: str, verdict: Verdict
    ) -> None:
        """Raises Refusal, StorageError."""
        if not verdict.admitted:
            wait = {"Retry-After": str(verdict.retry_after)}
            raise Refusal("rate-limited", "Too many requests to bins.", headers=wait)
        path = scope["raw_path"].decode("latin-1")
        bin = await self._bins.at(path)
        if bin is None:
            raise Refusal("not-found", GONE)
        with self._place(peer):
            with trio.move_on_after(WITHIN) as patience:
                await body.read()
            query = scope["query_string"].decode("latin-1")
            arrived = ArrivedRequest(
                scope["method"], path, query, tuple(headers), bytes(body.kept), body.size, body.whole
            )
            if not await self._bins.keep(bin, arrived):
                raise Refusal("not-found", GONE)
        if patience.cancelled_caught:
            raise Refusal("request-timeout", f"The body did not arrive within {WITHIN:g} s. What came is kept.")

    @contextmanager
    def _place(self, peer: str) -> Iterator[None]:
        """Hold a slot for the request. Raises Refusal."""
        if self._open[peer] >= OF_ONE:
            raise Refusal("rate-limited", f"At most {OF_ONE} requests to bins at once.", headers={"Retry-After": "5"})
        if self._open.total() >= AT_ONCE:
            raise Refusal("unavailable", "The bins are busy.", headers={"Retry-After": "5"})
        self._open[peer] += 1
        try:
            yield
        finally:
            self._open[peer] -= 1
            if not self._open[peer]:
                del self._open[peer]


class _Body:
    """A request's body as it arrives. kept: its beginning; whole: complete and fully kept; ended: no more will come."""

    def __init__(self, receive: Callable[[], Awaitable[Message]]) -> None:
        self._receive = receive
        self.kept = bytearray()
        self.size = 0
        self.ended = False
        self._cut = False

    @property
    def whole(self) -> bool:
        return self.ended and not self._cut and len(self.kept) == self.size

    async def read(self) -> None:
        """Read until the end, the limit `READ`, or a disconnect."""
        while not self.ended and self.size < READ:
            message = await self._receive()
            if message["type"] != "http.request":
                self._cut = self.ended = True
                return
            piece = message.get("body", b"")
            self.kept += piece[: BODY - len(self.kept)]
            self.size += len(piece)
            self.ended = not message.get("more_body", False)

    async def drop(self) -> None:
        """Discard the rest, until cancelled or the connection ends."""
        while (await self._receive())["type"] == "http.request":
            pass


def _pairs(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
