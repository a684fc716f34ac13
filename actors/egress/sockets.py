"""The real Resolver and Connector: the system's resolver in its own threads, TCP and TLS by Trio.

`sanderling/real_world.py` makes one of each. Names go to the resolver only, addresses to the connector only.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

import certifi
import trio

from actors.egress.guard import ZoneSilent
from actors.world import ResolveFailed

RESOLVER_THREADS = 8
RESOLVE_TIMEOUT = 10.0

_NO_SUCH_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class SystemResolver:
    """Calls `getaddrinfo`, for at most 8 names at once, each for at most 10 seconds. A thread that hangs in a dead
    resolver can't be cancelled and keeps its slot. The slots are the resolver's own, so 120 dead lookups delay no other
    thread work of the process.
    """

    def __init__(self, *, threads: int = RESOLVER_THREADS, timeout: float = RESOLVE_TIMEOUT) -> None:
        self._limiter = trio.CapacityLimiter(threads)
        self._timeout = timeout
        self._successes = 0

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
        if self._successes > before:
            return ZoneSilent(reason, local=False)
        return ResolveFailed(reason, local=True)


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
