"""The byte stream of one connection, as Hypercorn is handed it.

Hypercorn shields its sends without a deadline, so that one client that stops reading would hold up every stop; a `Wire`
puts a deadline on each send, and knows when its peer has gone.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import trio

SEALED = 64 << 10
"""Bytes that TLS seals at once: the sealed ones lie beside the plain ones until the peer has taken them."""


class _NoSocket:
    """What Hypercorn asks of a socket, for streams that have none (memory streams)."""

    family = socket.AF_INET

    def getpeername(self) -> tuple[str, int]:
        return ("127.0.0.1", 0)

    getsockname = getpeername


class Wire(trio.abc.Stream):
    """A connection's byte stream with a deadline on every send. `eof` once the peer has gone, or was cut off."""

    def __init__(self, inner: trio.abc.Stream, patience: float) -> None:
        self.socket: Any = getattr(getattr(inner, "transport_stream", inner), "socket", None) or _NoSocket()
        self.eof = False
        self.on_eof: Callable[[], None] | None = None
        self._inner, self._patience = inner, patience
        self._sending: trio.CancelScope | None = None
        plain = isinstance(inner, trio.SocketStream)
        self._descriptor = inner.socket.fileno() if plain else None  # type: ignore[attr-defined]  # seen by `plain` only

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything, or cut the connection after the deadline, or when cancelled half way.

        Raises trio.BrokenResourceError when cut off, by either end.
        """
        data = self.send_nowait(data)
        if not data:
            await trio.lowlevel.checkpoint()
            return
        done = False
        try:
            with trio.CancelScope(deadline=trio.current_time() + self._patience) as self._sending:
                await self._send_rest(data)
                done = True
        finally:
            self._sending = None
            if not done:
                await self.cut()
        if not done:
            raise trio.BrokenResourceError("the peer took nothing until the deadline")

    async def _send_rest(self, data: bytes | bytearray | memoryview) -> None:
        await self._inner.send_all(data)

    def send_nowait(self, data: bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
        """Send what a socket takes at once; return a view of the rest (all as it came, where there is no socket).

        Trio's own send does the same and costs more than the system call. An error is left to the next `send_all`.
        """
        if self._descriptor is None or self.eof:
            return data
        try:
            sent = os.write(self._descriptor, data)
        except OSError:
            return data
        return b"" if sent == len(data) else memoryview(data)[sent:]

    def hold(self, size: int) -> None:
        """Let the kernel hold so many bytes for the peer that are not on their way yet; Trio asks for 16 KiB.

        A replay goes as fast as the trips between the kernel and this process allow.
        """
        if self._descriptor is not None and not self.eof:
            with suppress(OSError):
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait as the inner stream does."""
        await self._inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive, and notice the peer's end."""
        try:
            data = await self._inner.receive_some(max_bytes)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._ended()
            raise
        if not data:
            self._ended()
        return data

    async def aclose(self) -> None:
        """Close. TLS has a last word, for which the peer gets as long as for any."""
        self._descriptor = None  # the system gives the number to the next connection
        with trio.move_on_after(self._patience):
            await self._inner.aclose()

    def half_close(self) -> bool:
        """Tell the peer that nothing more comes, and go on hearing it; False where that can't be. Not a checkpoint."""
        inner = getattr(self._inner, "transport_stream", self._inner)
        if self.eof or not isinstance(inner, trio.SocketStream):
            return False
        try:
            inner.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True

    def hurry(self) -> None:
        """Give up the send under way, if any: the service stops."""
        self._patience = 0.0
        if self._sending is not None:
            self._sending.cancel()

    async def cut(self) -> None:
        """End the connection here and now, in the middle of whatever it is."""
        self._ended()
        self._descriptor = None
        await trio.aclose_forcefully(self._inner)

    def _ended(self) -> None:
        self.eof = True
        if self.on_eof is not None:
            self.on_eof()


def peer_of(stream: trio.abc.Stream) -> str:
    """Return the address at the other end: our own in memory, "" of a Unix socket or when it has gone."""
    try:
        name: tuple[str, int] | str = getattr(stream, "socket", _NoSocket()).getpeername()
    except OSError:
        return ""
    return name[0] if isinstance(name, tuple) else ""


class SecureWire(Wire):
    """A wire of TLS, with what Hypercorn asks of one."""

    def __init__(self, inner: trio.SSLStream[trio.abc.Stream], patience: float) -> None:
        super().__init__(inner, patience)
        self.transport_stream = self  # where Hypercorn looks for the socket
        self._secure = inner

    async def _send_rest(self, data: bytes | bytearray | memoryview) -> None:
        for start in range(0, len(data), SEALED):
            await self._inner.send_all(memoryview(data)[start : start + SEALED])

    async def do_handshake(self) -> None:
        """Shake hands. Raises trio.BrokenResourceError."""
        await self._secure.do_handshake()

    def selected_alpn_protocol(self) -> str | None:
        """Return what was agreed on in the handshake, None when nothing was."""
        agreed: str | None = self._secure.selected_alpn_protocol()
        return agreed


def wire_of(stream: trio.abc.Stream, patience: float) -> Wire:
    """Return the wire of a stream, plain or secure."""
    return SecureWire(stream, patience) if isinstance(stream, trio.SSLStream) else Wire(stream, patience)
