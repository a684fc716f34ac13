"""The byte stream of one connection: each send has a deadline, and the end of the peer is noticed."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import trio

from api.streams.keepalives import KeepaliveState

SEALED = 64 << 10  # Bytes that TLS encrypts at once. The ciphertext stays in memory until the peer has taken it.


class _NoSocket:
    def getpeername(self) -> tuple[str, int]:
        return ("127.0.0.1", 0)

    getsockname = getpeername


class Wire:
    """A connection's byte stream with a deadline on every send. eof: the peer has gone or was cut off."""

    def __init__(self, inner: trio.abc.Stream, patience: float) -> None:
        self.socket: Any = getattr(getattr(inner, "transport_stream", inner), "socket", None) or _NoSocket()
        self.eof = False
        self.on_eof: Callable[[], None] | None = None
        self._inner, self._patience = inner, patience
        self._sending: trio.CancelScope | None = None
        plain = isinstance(inner, trio.SocketStream)
        self._descriptor = inner.socket.fileno() if plain else None  # type: ignore[attr-defined]  # only if `plain`
        self.parks = plain and sys.platform == "linux"  # it needs epoll
        self.stream: KeepaliveState | None = None
        """The stream that continues when the connection's tasks end."""

    async def send_all(self, data: bytes | bytearray | memoryview, *, uncancelled: bool = False) -> None:
        """Send everything. Cut the connection after the deadline, or if cancelled half way, unless uncancelled.

        Raises trio.BrokenResourceError if either end cuts it.
        """
        data = self.send_nowait(data)
        if not data:
            await trio.lowlevel.checkpoint()
            return
        done = False
        try:
            with trio.CancelScope(deadline=trio.current_time() + self._patience, shield=uncancelled) as self._sending:
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
        """Send as much as the socket takes at once; return the rest. `send_all` raises any error."""
        if self._descriptor is None or self.eof:
            return data
        try:
            sent = os.write(self._descriptor, data)
        except OSError:
            return data
        return b"" if sent == len(data) else memoryview(data)[sent:]

    def hold(self, size: int) -> None:
        """Let the kernel buffer this many unsent bytes. Trio sets 16 KiB, which slows a replay by its round trips."""
        if self._descriptor is not None and not self.eof:
            with suppress(OSError):
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        try:
            data = await self._inner.receive_some(max_bytes)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.ended()
            raise
        if not data:
            self.ended()
        return data

    async def aclose(self) -> None:
        """Close. TLS sends a closing message, with the same deadline as any send."""
        self._descriptor = None  # the system reuses the number for the next connection
        with trio.move_on_after(self._patience):
            await self._inner.aclose()

    def fileno(self) -> int:
        return -1 if self._descriptor is None else self._descriptor

    def close(self) -> None:
        """Close a plain socket. Not a checkpoint."""
        self._descriptor = None
        self.socket.close()

    def half_close(self) -> bool:
        """Send an end of file and keep receiving; return False if impossible. Not a checkpoint."""
        inner = getattr(self._inner, "transport_stream", self._inner)
        if self.eof or not isinstance(inner, trio.SocketStream):
            return False
        try:
            inner.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True

    def hurry(self) -> None:
        """Abort the current send, if any, because the service stops."""
        self._patience = 0.0
        if self._sending is not None:
            self._sending.cancel()

    async def cut(self) -> None:
        self.ended()
        self._descriptor = None
        await trio.aclose_forcefully(self._inner)

    def ended(self) -> None:
        self.eof = True
        if self.on_eof is not None:
            self.on_eof()


def end_of(name: Callable[[], Any]) -> tuple[str, int] | None:
    """Return the address and port of a socket's end; None for a Unix socket or a peer that has gone."""
    try:
        found = name()
    except OSError:
        return None
    return found[:2] if isinstance(found, tuple) else None


def peer_of(stream: trio.abc.Stream) -> str:
    """Return the peer's address: ours in memory, "" for a Unix socket or a peer that has gone."""
    return (end_of(getattr(stream, "socket", _NoSocket()).getpeername) or ("", 0))[0]


class SecureWire(Wire):
    """A TLS wire."""

    def __init__(self, inner: trio.SSLStream[trio.abc.Stream], patience: float) -> None:
        super().__init__(inner, patience)
        self._secure = inner

    async def _send_rest(self, data: bytes | bytearray | memoryview) -> None:
        for start in range(0, len(data), SEALED):
            await self._inner.send_all(memoryview(data)[start : start + SEALED])

    async def do_handshake(self) -> None:
        """Do the handshake. Raises trio.BrokenResourceError."""
        await self._secure.do_handshake()
