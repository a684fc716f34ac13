"""A gate for the forward proxy, if others can reach its port: a page's secret selects that page's lease.

The secret is the password of HTTP's Basic scheme (RFC 7617), in `Proxy-Authorization`. Each connection shows it once,
with its first request; a connection without it gets a 407 and is cut.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import trio

from actors.egress.forward_proxy import ForwardProxy, Slot
from actors.egress.leases import USER, Lease

HEAD_WITHIN: Final = 10.0
"""Seconds for a connection's first request."""
MOST_STRANGERS: Final = 256
"""Concurrent connections without a secret so far; more are cut."""
_HEAD_LIMIT: Final = 64 << 10
_READ: Final = 16 << 10
_WANTED: Final = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="sanderling"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
)


class ProxyGate:
    """The secrets that are valid now, and their leases."""

    def __init__(self) -> None:
        self._slots: dict[bytes, Slot] = {}
        """By the header's value. Bound: concurrent pages."""
        self._strangers = 0

    def __repr__(self) -> str:
        return f"<ProxyGate {len(self._slots)} pages, {self._strangers} strangers>"

    @contextmanager
    def let(self, secret: str, lease: Lease) -> Iterator[None]:
        """Serve a page; at the end its secret becomes invalid, and all its connections are cut."""
        shown = b"Basic " + b64encode(f"{USER}:{secret}".encode())
        slot = self._slots[shown] = Slot()
        try:
            with slot.let(lease):
                yield
        finally:
            del self._slots[shown]

    async def listen(self, listener: trio.abc.Listener[trio.abc.Stream], proxy: ForwardProxy) -> None:
        """Serve all connections to a listener, until cancelled."""
        await trio.serve_listeners(partial(self.serve, proxy), [listener])

    async def serve(self, proxy: ForwardProxy, stream: trio.abc.Stream) -> None:
        """Serve one connection, and close it."""
        try:
            head = await self._head(stream)
            slot = self._slot_of(head)
            if slot is not None:
                await slot.serve(proxy, _Begun(stream, head))
            elif head:
                with trio.move_on_after(HEAD_WITHIN):
                    await stream.send_all(_WANTED)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the peer is gone
        finally:
            with trio.move_on_after(1, shield=True):
                await trio.aclose_forcefully(stream)

    async def _head(self, stream: trio.abc.Stream) -> bytes:
        """Return the bytes up to the end of the first head, or more; b"" if it is too long, late or incomplete."""
        if self._strangers >= MOST_STRANGERS:
            return b""
        self._strangers += 1
        head = b""
        try:
            with trio.move_on_after(HEAD_WITHIN):
                while b"\r\n\r\n" not in head:
                    data = await stream.receive_some(_READ)
                    head += data
                    if not data or len(head) > _HEAD_LIMIT:
                        return b""
                return head
            return b""
        finally:
            self._strangers -= 1

    def _slot_of(self, head: bytes) -> Slot | None:
        _, *lines = head.partition(b"\r\n\r\n")[0].split(b"\r\n")
        fields = [line.partition(b":") for line in lines]
        shown = [value.strip() for name, _, value in fields if name.lower() == b"proxy-authorization"]
        if len(shown) != 1:
            return None
        found = [slot for known, slot in self._slots.items() if hmac.compare_digest(known, shown[0])]
        return found[0] if found else None


class _Begun(trio.abc.Stream):
    """A stream with bytes that were already read; they come first."""

    def __init__(self, stream: trio.abc.Stream, read: bytes) -> None:
        self._stream, self._read = stream, read

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        if self._read:
            most = max_bytes or len(self._read)
            data, self._read = self._read[:most], self._read[most:]
            await trio.lowlevel.checkpoint()
            return data
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()
