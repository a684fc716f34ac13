"""Further listeners: during start-up, for this machine's owner, and for metrics.

During start-up, listeners open before the data folder, so clients can connect long before the service can answer. They
get a problem document, or a small page in a browser, instead of silence.

To the admin socket only the service's account and root can connect (`sanderling/listeners.py`), and both could
make any key anyway. Requests have all scopes, a rate limit and a name in the log, as with a key. Forwarded requests are
refused (`api/peers.py`).

The metrics listener is a separate child, so it answers even if the public front end is down. If its socket cannot be
opened, it logs that and the service runs without it.

It has the same guards as the public one: keys with rate limits, strict parsing, TLS if configured, a connection limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from typing import Any, Final

import trio

from actors.app_context import AppContext
from actors.keys import SCOPES
from actors.world import Certificate
from api.app import make_admin_app, make_metrics_app
from api.problems import MEDIA, Refusal
from api.server.server import GRACE, ServerConnections
from storage.records.identity import Millis
from storage.records.key import ApiKey
from supervision import Child, ChildSpec

AGAIN: Final = 2
"""Seconds until a client should retry."""
AT_ONCE: Final = 64
"""Connections answered at once; more wait in the system's queue."""
WITHIN: Final = 5.0
"""Seconds for one connection, TLS included."""
MOST_HEAD: Final = 16_384
PAUSE: Final = 0.1
_PAGE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="{again}">'
    "<title>Sanderling is starting</title><h1>Sanderling is starting</h1><p>{says}.</p>"
    "<p>This page asks again every {again} seconds.</p></html>\n"
)


class StartupListener:
    """Answers on listeners until each is given up. doing: the current step, without a full stop."""

    def __init__(self, base_url: str, certificate: Certificate | None) -> None:
        self._base_url, self._certificate = base_url, certificate
        self._kept: dict[tuple[str, int], tuple[trio.CancelScope, trio.Event]] = {}
        self.doing: Callable[[], str] = lambda: "opening the data folder"

    def say(self, doing: str) -> None:
        """Set the current step. Any thread may call it."""
        self.doing = lambda: doing

    async def keep(
        self, address: tuple[str, int], listeners: Sequence[trio.abc.Listener[Any]], *, secure: bool = False
    ) -> None:
        """Answer on an address's listeners until `give_up`; return once the open connections are answered."""
        free = trio.Semaphore(AT_ONCE)
        async with trio.open_nursery() as answering:
            scope, gone = trio.CancelScope(), trio.Event()
            self._kept[address] = scope, gone
            try:
                with scope:
                    async with trio.open_nursery() as accepting:
                        for listener in listeners:
                            accepting.start_soon(self._accept, listener, answering, free, secure)
            finally:
                gone.set()

    async def give_up(self, address: tuple[str, int]) -> None:
        """Stop accepting on an address, so that the server can take over."""
        if (kept := self._kept.pop(address, None)) is not None:
            scope, gone = kept
            scope.cancel()
            await gone.wait()

    async def _accept(
        self, listener: trio.abc.Listener[Any], answering: trio.Nursery, free: trio.Semaphore, secure: bool
    ) -> None:
        while True:
            await free.acquire()
            stream = None
            while stream is None:
                try:
                    stream = await listener.accept()
                except OSError:  # no file descriptors: closing connections helps
                    await trio.sleep(PAUSE)
            answering.start_soon(self._answer, stream, free, secure)

    async def _answer(self, stream: trio.abc.Stream, free: trio.Semaphore, secure: bool) -> None:
        try:
            with trio.move_on_after(WITHIN), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                if secure and self._certificate is not None:
                    secured: Any = self._certificate.wrap(stream)
                    stream = secured
                    await secured.do_handshake()
                    if secured.selected_alpn_protocol() not in (None, "http/1.1"):
                        raise trio.BrokenResourceError
                if head := await _head(stream):
                    await stream.send_all(self._said(head))
        finally:
            free.release()
            await trio.aclose_forcefully(stream)

    def _said(self, head: bytes) -> bytes:
        says = f"The service is starting: {self.doing()}"
        lines = [line.strip() for line in head.lower().split(b"\r\n")]
        if any(line.startswith(b"accept:") and b"text/html" in line for line in lines):
            kind, body = "text/html; charset=utf-8", _PAGE.format(says=escape(says), again=AGAIN).encode()
        else:
            kind, body = MEDIA, Refusal("unavailable", f"{says}.").encode(self._base_url)
        said = (
            f"HTTP/1.1 503 Service Unavailable\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            f"retry-after: {AGAIN}\r\ncache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\n"
            "x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
        ).encode()
        return said if head.startswith(b"HEAD ") else said + body


async def _head(stream: trio.abc.Stream) -> bytes:
    """Return the head of a request, perhaps truncated; b"" if the client ends before its end."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MOST_HEAD:
        part = await stream.receive_some(MOST_HEAD)
        if not part:
            return b""
        head += part
    return head


OWNER = ApiKey("socket", "this machine", "socket", "", tuple(SCOPES), Millis(0), rate_per_minute=60_000, burst=10_000)
"""The key of every request on the socket."""
DRAIN = 1.0
BEAT = 1.0
"""Seconds between two measurements of the loop's lag."""


def admin_socket(context: AppContext) -> Sequence[ChildSpec]:
    """Return the child for the admin socket, to start before the public front end; none without a socket."""
    if context.world.admin_socket is None:
        return ()
    return (ChildSpec("admin", run=partial(_serve, context), shutdown=DRAIN + GRACE, ready_within=30.0),)


async def _serve(context: AppContext, child: Child) -> None:
    connections = ServerConnections(make_admin_app(context, OWNER), bare=True)
    tasks = (connections.api.streams.signs.run, partial(_measure, context))
    await connections.serve(child, _listeners(context), tasks, DRAIN)


async def _listeners(context: AppContext) -> Sequence[trio.abc.Listener[Any]]:
    assert context.world.admin_socket is not None
    try:
        return await context.world.admin_socket()
    except OSError as error:
        context.world.log("admin.no_socket", level="error", error=str(error))
        return ()


async def _measure(context: AppContext) -> None:
    while True:
        due = trio.current_time() + BEAT
        await trio.sleep_until(due)
        context.world.metrics.loop_lag.value = max(0.0, trio.current_time() - due)


def metrics_listener(context: AppContext) -> Sequence[ChildSpec]:
    address = context.settings.metrics_address()
    if address is None:
        return ()
    return (
        ChildSpec("metrics", run=partial(_serve_metrics, context, address), shutdown=DRAIN + GRACE, ready_within=30.0),
    )


async def _serve_metrics(context: AppContext, address: tuple[str, int], child: Child) -> None:
    connections = ServerConnections(make_metrics_app(context))
    await connections.serve(child, context.world.listen(*address), (), DRAIN, "metrics.listening")
