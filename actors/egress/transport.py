"""httpx over the guard: its requests go through httpcore's connections, and the guard opens each; the real resolver.

httpx does not accept httpcore's `network_backend`, so this is our own transport. The request line and the host come
from our `Url`, never from httpx's parser: two parsers of one URL must not be able to disagree. The pool is ours, too:
httpcore's scans all connections, even busy ones, whenever a request begins or ends. Names go to the resolver only,
addresses to the connector only.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Any

import certifi
import httpcore
import httpx
import trio

from actors.egress.failures import Blame, CheckFailed, in_words
from actors.egress.guard import Guard, ZoneSilent
from actors.egress.url import Url
from actors.world import ResolveFailed

MOST_IDLE = 32  # Idle connections in all. Every request searches them, and a source's next check is far away.
_PACKET = 16 << 10
TRUSTED = 1.0  # seconds after a response while an idle connection is used without checking that it is still open


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport for requests with our Url, and maybe a callback for httpcore's steps, in `extensions["url"]`
    and `["trace"]`. The response's `extensions["headers"]` are pairs of bytes.
    """

    def __init__(self, guard: Guard, keep_idle: float) -> None:
        self._pool = _Pool(_Network(guard), keep_idle)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises CheckFailed for network errors, ValueError for a request that can't be sent."""
        url = request.extensions["url"]
        assert isinstance(url, Url)
        while True:
            try:
                response, connection = await _send(self._pool, url, request)
                break
            except (_Stale, httpcore.ConnectionNotAvailable):
                # The server closed an idle connection as we used it. All our requests may be repeated (RFC 9110,
                # 9.2.2): checks are safe, and deliveries have their webhook-id. A new connection is never stale.
                continue
        assert isinstance(response.stream, AsyncIterable)
        # httpx gets no headers: it would parse a Location with its own parser, which raises for some of them.
        extensions = {"headers": response.headers}
        stream = _Stream(response.stream, self._pool, connection)
        return httpx.Response(response.status, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Pool:
    """Connections, each for one request at a time. The next request to its origin takes an idle one."""

    def __init__(self, network: _Network, keep_idle: float) -> None:
        self._network, self._keep_idle = network, keep_idle
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # never used: the connector has the trust store
        self._most_idle = MOST_IDLE if keep_idle else 0
        self._busy: dict[httpcore.AsyncHTTPConnection, str] = {}
        self._idle: dict[httpcore.AsyncHTTPConnection, str] = {}  # by origin; the longest idle first

    async def take(self, url: httpcore.URL, origin: str) -> httpcore.AsyncHTTPConnection:
        """Return a connection, the last used one if any is idle. The caller gives it back."""
        while found := next((idle for idle, its in reversed(self._idle.items()) if its == origin), None):
            del self._idle[found]
            if not found.has_expired():
                break
            await found.aclose()
        else:
            keep = self._keep_idle or None
            found = httpcore.AsyncHTTPConnection(url.origin, self._tls, keep, network_backend=self._network)
        self._busy[found] = origin
        return found

    async def give_back(self, connection: httpcore.AsyncHTTPConnection) -> None:
        """Keep a connection if it is idle, else close it. Closes idle ones that are too old or too many."""
        origin = self._busy.pop(connection, None)
        if origin is not None and connection.is_idle():
            self._idle[connection] = origin
        else:
            await connection.aclose()
        while (old := next(iter(self._idle), None)) and (len(self._idle) > self._most_idle or old.has_expired()):
            del self._idle[old]
            await old.aclose()

    async def aclose(self) -> None:
        connections = [*self._busy, *self._idle]
        self._busy.clear()
        self._idle.clear()
        with trio.move_on_after(1, shield=True):  # each is closed by force, without waiting
            for connection in connections:
                await connection.aclose()


async def _send(pool: _Pool, url: Url, asked: httpx.Request) -> tuple[httpcore.Response, httpcore.AsyncHTTPConnection]:
    host = (f"[{url.host}]" if ":" in url.host else url.host).encode()
    wire = httpcore.Request(
        method=asked.method,
        url=httpcore.URL(scheme=url.scheme.encode(), host=host, port=url.port, target=url.target.encode("ascii")),
        headers=asked.headers.raw,
        content=_Body(asked.content),
        extensions={"trace": asked.extensions["trace"]} if "trace" in asked.extensions else None,
    )
    connection = await pool.take(wire.url, url.origin)
    try:
        return await connection.handle_async_request(wire), connection
    except BaseException as error:
        await pool.give_back(connection)
        if isinstance(error, httpcore.LocalProtocolError):
            raise ValueError(f"this request can't be sent: {in_words(error)}") from None
        if isinstance(error, httpcore.RemoteProtocolError):
            raise _broken(error) from None
        raise


class _Body:
    """A request's body in one part. The libraries' own are async generators, which a cancellation leaves unfinished."""

    def __init__(self, content: bytes) -> None:
        self._parts = [content] if content else []

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._parts:
            raise StopAsyncIteration
        return self._parts.pop()


class _Stale(CheckFailed):
    """An idle connection turned out to be closed; nothing sent on it has been answered."""


def _broken(error: httpcore.RemoteProtocolError) -> CheckFailed:
    return CheckFailed(Blame.REMOTE_TRANSIENT, f"the answer breaks HTTP: {in_words(error)}")


class _Stream(httpx.AsyncByteStream):
    """A response's body from the wire."""

    def __init__(self, inner: Any, pool: _Pool, connection: httpcore.AsyncHTTPConnection) -> None:
        self._inner, self._pool, self._connection = inner, pool, connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._inner:
                yield part
        except httpcore.RemoteProtocolError as error:
            raise _broken(error) from None

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            await self._pool.give_back(self._connection)


class _Network(httpcore.AsyncNetworkBackend):
    """httpcore's way to the network: the guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._guard.connect(host.strip("[]"), port)
        return _Connection(self._guard, stream)

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


class _Connection(httpcore.AsyncNetworkStream):
    """One connection to a checked address. The caller sets one deadline for the whole check."""

    def __init__(self, guard: Guard, stream: trio.abc.Stream) -> None:
        self._guard, self._stream = guard, stream
        self._kept = False  # a response came before the last write
        self._answered = False
        self._used = trio.current_time()
        self._unsent = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            data = bytes(await self._stream.receive_some(max_bytes))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise self._lost() from None
        if not data and self._kept and not self._answered:
            raise self._lost()
        self._answered, self._used = True, trio.current_time()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # httpcore writes a head, then a body, then nothing: one packet for all, if they fit.
        self._unsent += buffer
        if buffer and len(self._unsent) < _PACKET:
            return
        buffer, self._unsent = self._unsent, b""
        if self._answered:
            self._kept, self._answered = True, False
        try:
            await self._stream.send_all(buffer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # httpcore then still reads: servers may answer early and close.
            raise httpcore.WriteError("the connection was reset") from None

    def _lost(self) -> CheckFailed:
        kind = _Stale if self._kept and not self._answered else CheckFailed
        return kind(Blame.REMOTE_TRANSIENT, "the connection was reset")

    async def aclose(self) -> None:
        # By force, without waiting: httpcore shields this call without a deadline, and TLS would wait for the peer.
        await trio.aclose_forcefully(self._stream)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        assert server_hostname is not None
        return _Connection(self._guard, await self._guard.secure(self._stream, server_hostname.strip("[]")))

    def get_extra_info(self, info: str) -> Any:
        if info != "is_readable" or trio.current_time() - self._used <= TRUSTED:
            return None
        stream = self._stream
        while isinstance(stream, trio.SSLStream):
            stream = stream.transport_stream
        # An idle connection with something to read: the server has closed it.
        return isinstance(stream, trio.SocketStream) and stream.socket.is_readable()


RESOLVER_THREADS, RESOLVE_TIMEOUT = 8, 10.0

_NO_SUCH_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class SystemResolver:
    """Calls `getaddrinfo`, for at most 8 names at once, each for at most 10 seconds. A thread that hangs in a dead
    resolver can't be cancelled and keeps its slot. The slots are the resolver's own, so 120 dead lookups delay no other
    thread work of the process.
    """

    def __init__(self, *, threads: int = RESOLVER_THREADS, timeout: float = RESOLVE_TIMEOUT) -> None:
        self._limiter = trio.CapacityLimiter(threads)
        self._timeout, self._successes = timeout, 0

    async def resolve(self, host: str) -> Sequence[str]:
        """Return every address of a host. Raises ResolveFailed."""
        before = self._successes
        try:
            with trio.fail_after(self._timeout):
                entries = await trio.to_thread.run_sync(
                    _getaddrinfo, host, limiter=self._limiter, abandon_on_cancel=True
                )
        except trio.TooSlowError:
            raise self._silent(f"no answer after {self._timeout:g} s", before) from None
        except socket.gaierror as error:
            if error.errno in _NO_SUCH_NAME:
                raise ResolveFailed("there is no such name, or it has no address", local=False) from None
            raise self._silent(error.strerror or str(error), before) from None
        except UnicodeError:
            raise ResolveFailed("this is no host name", local=False) from None
        self._successes += 1
        return list(dict.fromkeys(str(entry[4][0]) for entry in entries))

    def _silent(self, reason: str, before: int) -> ResolveFailed:
        """Sort a failure without an answer: if other names were answered meantime, this name's servers failed."""
        return ZoneSilent(reason, local=False) if self._successes > before else ResolveFailed(reason, local=True)


def _getaddrinfo(host: str) -> list[tuple[Any, ...]]:
    return list(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))


def public_trust() -> ssl.SSLContext:
    """Return a TLS context that trusts certifi's authorities and checks names."""
    return ssl.create_default_context(cafile=certifi.where())


def trusting(file: str) -> Callable[[], ssl.SSLContext]:
    """Return a factory of contexts that also trust a PEM file's authorities. Raises OSError, ValueError."""
    with open(file, encoding="ascii", errors="replace") as pem:
        text = pem.read()

    def trust() -> ssl.SSLContext:
        context = public_trust()
        context.load_verify_locations(cadata=text)
        return context

    own_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        own_context.load_verify_locations(cadata=text)
    except ssl.SSLError as error:
        raise ValueError(f"it holds no certificates in PEM form ({error.reason})") from None
    if not own_context.get_ca_certs():
        raise ValueError("none of its certificates is an authority's (CA:TRUE)")
    return trust


class TcpConnector:
    """Opens TCP connections to addresses, and TLS in them. trust: makes a TLS context; called once for each ALPN."""

    def __init__(self, trust: Callable[[], ssl.SSLContext] = public_trust) -> None:
        self._trust = trust
        self._contexts: dict[tuple[str, ...], ssl.SSLContext] = {}

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        """Open a TCP connection to an IP address. Raises OSError; ValueError for a name."""
        family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
        sock = trio.socket.socket(family, socket.SOCK_STREAM)
        try:
            await sock.connect((address, port))
        except BaseException as error:
            sock.close()
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, os.strerror(error.errno)) from None  # Trio's message includes a tuple
            raise
        return trio.SocketStream(sock)

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str] = ()) -> trio.abc.Stream:
        """Return the stream inside TLS after a handshake. Raises ssl.SSLError, OSError."""
        secured = trio.SSLStream(stream, self._context(tuple(alpn)), server_hostname=host, https_compatible=True)
        try:
            await secured.do_handshake()
        except trio.BrokenResourceError as error:
            if isinstance(error.__cause__, OSError):  # includes ssl.SSLError
                raise error.__cause__ from None
            raise ConnectionResetError("the connection broke during the handshake") from None
        return secured

    def _context(self, alpn: tuple[str, ...]) -> ssl.SSLContext:
        """Return one context for each choice of protocols, which a context stores. Loading the trust is slow."""
        context = self._contexts.get(alpn)
        if context is None:
            context = self._contexts[alpn] = self._trust()
            if alpn:
                context.set_alpn_protocols(list(alpn))
        return context
