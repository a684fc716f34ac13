"""A remote browser at an address in the settings, and the connections to it.

They bypass the guard: it protects against addresses chosen by strangers, and the operator chose this one.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import cache
from socket import gaierror

import trio

from actors.browser.remote import Listen, RemoteBrowser, read_remote
from actors.settings import Settings


def browser_elsewhere(
    settings: Settings, trust: Callable[[], ssl.SSLContext], listen: Listen, entropy: Callable[[int], bytes]
) -> RemoteBrowser:
    """trust: makes the TLS context for connections to the browser."""
    trusted = cache(trust)

    async def dial(host: str, port: int, tls: bool) -> trio.abc.Stream:
        stream = await _connected(host, port)
        return await _secured(stream, host, trusted()) if tls else stream

    return RemoteBrowser(
        read_remote(settings.browser),
        dial=dial,
        listen=listen,
        entropy=entropy,
        listen_at=settings.browser_gate(),
        reached_at=settings.browser_proxy_address,
    )


async def _connected(host: str, port: int) -> trio.abc.Stream:
    """Open a TCP connection. Raises OSError with the reason of the last attempt."""
    try:
        return await trio.open_tcp_stream(host, port)
    except OSError as error:
        cause = error.__cause__
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[-1]
        found = cause if isinstance(cause, OSError) else error
        if found.errno is None or isinstance(found, gaierror):
            raise found from None
        raise OSError(found.errno, os.strerror(found.errno)) from None  # Trio's message contains a tuple


async def _secured(stream: trio.abc.Stream, host: str, trust: ssl.SSLContext) -> trio.abc.Stream:
    """Wrap a stream in TLS and shake hands. Raises OSError."""
    secured = trio.SSLStream(stream, trust, server_hostname=host, https_compatible=True)
    try:
        await secured.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        raise ConnectionError(f"TLS failed: {error.__cause__ or error}") from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secured
