"""Answers on the open port during start-up: 503, with the current step and when to retry.

The listeners open before the data folder, so clients can connect long before the service can answer. They get a problem
document, or a small page in a browser, instead of silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from typing import Any, Final

import trio

from actors.world import Certificate
from api.problems import MEDIA, Refusal

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
        limit = trio.CapacityLimiter(AT_ONCE)
        async with trio.open_nursery() as answering:
            scope, gone = trio.CancelScope(), trio.Event()
            self._kept[address] = scope, gone
            try:
                with scope:
                    async with trio.open_nursery() as accepting:
                        for listener in listeners:
                            accepting.start_soon(self._accept, listener, answering, limit, secure)
            finally:
                gone.set()

    async def give_up(self, address: tuple[str, int]) -> None:
        """Stop accepting on an address, so that the server can take over."""
        if (kept := self._kept.pop(address, None)) is not None:
            scope, gone = kept
            scope.cancel()
            await gone.wait()

    async def _accept(
        self, listener: trio.abc.Listener[Any], answering: trio.Nursery, limit: trio.CapacityLimiter, secure: bool
    ) -> None:
        while True:
            token = object()
            await limit.acquire_on_behalf_of(token)
            try:
                stream = await listener.accept()
            except OSError:  # no file descriptors: closing connections helps
                limit.release_on_behalf_of(token)
                await trio.sleep(PAUSE)
                continue
            except BaseException:
                limit.release_on_behalf_of(token)
                raise
            answering.start_soon(self._answer, stream, limit, token, secure)

    async def _answer(self, stream: trio.abc.Stream, limit: trio.CapacityLimiter, token: object, secure: bool) -> None:
        try:
            with trio.move_on_after(WITHIN), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                if secure and self._certificate is not None:
                    stream = self._certificate.wrap(stream)
                    await _shaken(stream)
                head = await _head(stream)
                if head:
                    await stream.send_all(self._said(head))
        finally:
            limit.release_on_behalf_of(token)
            await trio.aclose_forcefully(stream)

    def _said(self, head: bytes) -> bytes:
        """Return the answer to a request: a page if it accepts HTML, else a problem document."""
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


async def _shaken(stream: Any) -> None:
    """Do the TLS handshake. Drop clients that insist on a protocol other than HTTP/1.1."""
    await stream.do_handshake()
    if stream.selected_alpn_protocol() not in (None, "http/1.1"):
        raise trio.BrokenResourceError


async def _head(stream: trio.abc.Stream) -> bytes:
    """Return the head of a request, perhaps truncated; b"" if the client ends before its end."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MOST_HEAD:
        part = await stream.receive_some(MOST_HEAD)
        if not part:
            return b""
        head += part
    return head
