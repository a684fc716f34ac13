"""The real browser for the settings: on this machine, or at an address.

Connections to a remote browser bypass the guard: it protects against addresses chosen by strangers, and the operator
chose this one.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Sequence
from functools import cache
from socket import gaierror

import trio

from actors.settings import Settings
from extras.browser.pool import ChromiumPool
from extras.browser.remote import Listen, RemoteBrowser, is_remote, read_remote
from extras.browser.settings import BrowserSettings
from sanderling.environment import environ
from sanderling.program import SOCKET, FoundBrowser, find_browser, own_process, worker_environment
from sanderling.real_world import chance, entropy, open_datagrams, open_listeners, trust_of


def real_browser(settings: Settings, log: Callable[..., None] = lambda *_, **__: None) -> ChromiumPool:
    """Return the browser port, even without a browser; it then reports the missing parts."""
    ours = settings.of(BrowserSettings)
    path, absent = named_browser(ours.browser)
    elsewhere = is_remote(path)
    return ChromiumPool(
        holder_command(path) if path and not elsewhere else (),
        absent=absent,
        remote=browser_elsewhere(ours, trust_of(settings), open_listeners, entropy) if elsewhere else None,
        environment=worker_environment(environ()),
        pages=ours.browser_pages or 3 * (os.cpu_count() or 1),
        sandbox="wanted" if ours.browser_sandbox == "wanted" else "demanded",
        ports=ours.ports(),
        most_html=settings.body_limit,
        listen=open_listeners,
        datagrams=open_datagrams,
        entropy=entropy,
        draw=chance().random,
        log=log,
    )


def named_browser(setting: str) -> FoundBrowser:
    if not is_remote(setting):
        return find_browser(setting)
    try:
        read_remote(setting)
    except ValueError as error:  # never quote the setting: it may contain a token
        return FoundBrowser("", f"the setting browser has an address that can't be used: {error}")
    return FoundBrowser(setting, "")


def holder_command(browser: str) -> Sequence[str]:
    """Return the command line that starts a browser holder, or just the socket if another unit starts the holder."""
    return [browser] if browser.startswith(SOCKET) else [*own_process("browser-holder"), browser]


def browser_elsewhere(
    settings: BrowserSettings, trust: Callable[[], ssl.SSLContext], listen: Listen, entropy: Callable[[int], bytes]
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
        listen_at=settings.gate(),
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
