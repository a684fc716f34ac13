"""The guarded forward proxy: a browser's only way out; the guard opens its every connection.

It accepts CONNECT and the absolute form (RFC 9112, 3.2.2) only. Our one parser reads each host; the guard resolves,
checks and pins it like that of any check. The browser resolves no name. A page's traffic is counted on its lease; a
connection without a lease is refused. Refusals carry a header with the lease's marker, which distinguishes them from a
page.

A page's secret is the password of HTTP's Basic scheme (RFC 7617), in `Proxy-Authorization`. Each connection shows it
once, with its first request; a connection without it gets a 407 and is cut.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

import h11
import trio

from actors.egress.failures import Blame, CheckFailed, CheckRefused
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.world import Connect
from extras.browser.leases import MOST_STREAMS, USER, Lease, Trouble

Event = h11.Request | h11.Response | h11.InformationalResponse | h11.Data | h11.EndOfMessage | h11.ConnectionClosed

REFUSED: Final = b"Sanderling-Refused"
_HEAD_LIMIT: Final = 64 << 10
_READ: Final = 64 << 10
_SHOWN: Final = 60  # characters of unreadable input shown in errors
_IDLE: Final = 60.0  # seconds that a browser's connection may wait for its next request
_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"proxy-authenticate", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings", b"sanderling-refused"}
)


class _Target(NamedTuple):
    host: str
    port: int
    path: bytes  # for the request line to the host; "" for a tunnel


class _Over(Exception):
    """The exchange can't continue; the connection to the browser is closed."""


class Slot:
    """A listener of the proxy. Its connections use the current lease."""

    def __init__(self) -> None:
        self._lease: Lease | None = None
        self._open: set[trio.CancelScope] = set()

    @contextmanager
    def let(self, lease: Lease) -> Iterator[None]:
        """Serve a page; at the end cut all its connections."""
        assert self._lease is None, "a slot serves one page at a time"
        self._lease = lease
        try:
            yield
        finally:
            self._lease = None
            self.cut()

    def cut(self) -> None:
        for scope in self._open:
            scope.cancel()

    async def serve(self, proxy: ForwardProxy, stream: trio.abc.Stream) -> None:
        lease = self._lease
        with trio.CancelScope() as scope:
            self._open.add(scope)
            try:
                if lease is not None and lease.streams < MOST_STREAMS:
                    await proxy.serve(stream, lease, self.cut)
            finally:
                self._open.discard(scope)
                with trio.move_on_after(1, shield=True):
                    await trio.aclose_forcefully(stream)


class ForwardProxy:
    """Lets a browser out through the guard. connect: the guard's; raises UrlRefused, CheckFailed, OSError."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def listen(self, listener: trio.abc.Listener[trio.abc.Stream], slot: Slot) -> None:

        async def serve(stream: trio.abc.Stream) -> None:
            await slot.serve(self, stream)

        await trio.serve_listeners(serve, [listener])

    async def serve(self, stream: trio.abc.Stream, lease: Lease, cut: Callable[[], None] = lambda: None) -> None:
        """Serve one connection until either side ends it. cut: called when the lease is out of bytes."""
        lease.streams += 1
        try:
            await _Exchanges(self._connect, stream, lease, cut).run()
        except (_Over, h11.ProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # whichever of the three failed, the connection is unusable
        finally:
            lease.streams -= 1


class _Exchanges:
    """The requests of one connection, in sequence."""

    def __init__(self, connect: Connect, stream: trio.abc.Stream, lease: Lease, cut: Callable[[], None]) -> None:
        self._connect, self._stream, self._lease, self._cut = connect, stream, lease, cut
        self._browser = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_LIMIT)

    async def run(self) -> None:
        while (request := await self._request()) is not None:
            target = _read_target(request)
            if isinstance(target, Trouble):
                await self._answer(400, self._lease.note(bytes(request.target).decode("latin-1")[:_SHOWN], 0, target))
                return
            stream = await self._opened(target)
            if isinstance(stream, Trouble):
                await self._answer(403 if stream.cause == "refused" else 502, stream)
                return
            try:
                if request.method == b"CONNECT":
                    await self._tunnel(stream)
                    return
                await self._relay(request, target, stream)
            finally:
                with trio.move_on_after(1, shield=True):
                    await trio.aclose_forcefully(stream)
            if self._browser.states != {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
                return
            self._browser.start_next_cycle()

    async def _request(self) -> h11.Request | None:
        with trio.move_on_after(_IDLE):
            event = await self._from_browser()
            return event if isinstance(event, h11.Request) else None
        return None

    async def _from_browser(self) -> Event:
        while True:
            event = self._browser.next_event()
            if isinstance(event, Event):
                return event
            if event is not h11.NEED_DATA:
                raise _Over
            self._browser.receive_data(bytes(await self._stream.receive_some(_READ)))

    async def _opened(self, target: _Target) -> trio.abc.Stream | Trouble:
        """Return a connection that the guard permits for this request, or the reason for none."""
        lease, (host, port, _) = self._lease, target
        trouble = lease.admit(host, port)
        if trouble is not None:
            return trouble
        try:
            return await self._connect(host, port, lease.judge)
        except CheckRefused as error:
            trouble = Trouble("refused", error.reason)
        except CheckFailed as error:
            trouble = Trouble("local" if error.blame is Blame.LOCAL else "remote", error.reason)
        except UrlRefused as error:
            trouble = Trouble("refused", error.words)
        except OSError as error:
            trouble = Trouble("remote", f"can't connect to {host}: {error.strerror or error}")
        return lease.note(host, port, trouble)

    async def _answer(self, status: int, trouble: Trouble) -> None:
        body = trouble.reason.encode()
        headers = [
            (REFUSED, self._lease.marker.encode()),
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", str(len(body)).encode()),
            (b"Connection", b"close"),
        ]
        parts: list[Event] = [h11.Response(status_code=status, headers=headers), h11.Data(data=body)]
        for part in (*parts, h11.EndOfMessage()):
            await self._to_browser(part)

    async def _to_browser(self, event: Event) -> None:
        if data := self._browser.send(event):
            await self._stream.send_all(data)

    def _count(self, size: int) -> None:
        self._lease.count(size)
        if self._lease.out_of_bytes:
            self._cut()
            raise _Over

    async def _tunnel(self, host: trio.abc.Stream) -> None:
        if not isinstance(await self._from_browser(), h11.EndOfMessage):
            raise _Over
        await self._to_browser(h11.Response(status_code=200, headers=[]))
        early, _ = self._browser.trailing_data

        async def carry(source: trio.abc.Stream, to: trio.abc.Stream) -> None:
            try:
                while data := await source.receive_some(_READ):
                    self._count(len(data))
                    await to.send_all(data)
            except (_Over, trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # one side is gone
            nursery.cancel_scope.cancel()

        if early:
            self._count(len(early))
            await host.send_all(early)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(carry, self._stream, host)
            nursery.start_soon(carry, host, self._stream)

    async def _relay(self, request: h11.Request, target: _Target, stream: trio.abc.Stream) -> None:
        """Relay one plain request and its response, with our own framing on both sides."""
        host = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)

        async def to_host(event: Event) -> None:
            if data := host.send(event):
                self._count(len(data))
                await stream.send_all(data)

        await to_host(_forwarded(request, target))
        while not isinstance(asked := await self._from_browser(), h11.EndOfMessage):
            if not isinstance(asked, h11.Data):
                raise _Over
            await to_host(asked)
        await to_host(asked)
        while True:
            answer = host.next_event()
            if answer is h11.NEED_DATA:
                data = bytes(await stream.receive_some(_READ))
                self._count(len(data))
                host.receive_data(data)
            elif isinstance(answer, h11.Response):
                headers = _end_to_end(answer.headers)
                await self._to_browser(h11.Response(status_code=answer.status_code, headers=headers))
            elif isinstance(answer, h11.Data):
                await self._to_browser(answer)
            elif isinstance(answer, h11.EndOfMessage):
                await self._to_browser(h11.EndOfMessage())
                return
            elif not isinstance(answer, h11.InformationalResponse):
                raise _Over


def _forwarded(request: h11.Request, target: _Target) -> h11.Request:
    authority = f"[{target.host}]" if ":" in target.host else target.host
    authority += "" if target.port == 80 else f":{target.port}"
    kept = [(name, value) for name, value in _end_to_end(request.headers) if name.lower() != b"host"]
    framing = [(name, value) for name, value in request.headers if name == b"transfer-encoding"]
    headers = [(b"Host", authority.encode()), *kept, *framing, (b"Connection", b"close")]
    return h11.Request(method=request.method, target=target.path, headers=headers)


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return headers without hop-by-hop ones (RFC 9110, 7.6.1), and without any that looks like our own."""
    pairs = [(bytes(name), bytes(value)) for name, value in headers]
    named = {
        part.strip().lower() for name, value in pairs if name.lower() == b"connection" for part in value.split(b",")
    }
    return [(name, value) for name, value in pairs if name.lower() not in _HOP_BY_HOP | named]


def _read_target(request: h11.Request) -> _Target | Trouble:
    """Return a request's target, or why it is unreadable. `parse_url` reads the host, as everywhere."""
    text = bytes(request.target).decode("latin-1")
    try:
        if request.method == b"CONNECT":
            if "/" in text or not text.rpartition(":")[2].isdigit():
                raise UrlRefused("url-host", f"{text[:_SHOWN]!r} is no host and port")
            url = parse_url(f"https://{text}/", schemes=("https",))
            return _Target(url.host, url.port, b"")
        scheme, found, rest = text.partition("://")
        if not found or scheme.lower() != "http":
            raise UrlRefused("url-scheme", f"{text[:_SHOWN]!r}: the proxy takes CONNECT and http://")
        authority = rest.partition("/")[0].partition("?")[0]
        path = rest[len(authority) :] or "/"
        url = parse_url(f"http://{authority}/", schemes=("http",))
        return _Target(url.host, url.port, (path if path.startswith("/") else f"/{path}").encode("latin-1"))
    except UrlRefused as refusal:
        return Trouble("refused", refusal.detail)


HEAD_WITHIN: Final = 10.0  # seconds for a connection's first request
MOST_STRANGERS: Final = 256  # concurrent connections without a secret so far; more are cut
_GATE_HEAD_LIMIT: Final = 64 << 10
_GATE_READ: Final = 16 << 10
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
        await trio.serve_listeners(partial(self.serve, proxy), [listener])

    async def serve(self, proxy: ForwardProxy, stream: trio.abc.Stream) -> None:
        try:
            head = await self._head(stream)
            slot = self._slot_of(head)
            if slot is not None:
                await slot.serve(proxy, _PrefixedStream(stream, head))
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
                    data = await stream.receive_some(_GATE_READ)
                    head += data
                    if not data or len(head) > _GATE_HEAD_LIMIT:
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


class _PrefixedStream(trio.abc.Stream):
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
