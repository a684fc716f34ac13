"""The browser that renders pages: on this machine, or at an address in the settings.

Connections to a remote browser bypass the guard: it protects against addresses chosen by strangers, and the operator
chose this one.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import cache
from os.path import isabs
from shutil import which
from socket import gaierror
from typing import Final, NamedTuple

import trio

from actors.browser.held import SOCKET
from actors.browser.remote import Listen, RemoteBrowser, is_remote, read_remote
from actors.settings import Settings

NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Best first: the headless shell draws no window, so it is lighter and faster."""
OFF: Final = "off"
HOW: Final = "install Debian's chromium-headless-shell (or chromium), or name a browser with the setting browser"


class FoundBrowser(NamedTuple):
    """path: the program, or "" if there is none; `absent` then gives the reason."""

    path: str
    absent: str


def find_browser(setting: str, find: Callable[[str], str | None] = which) -> FoundBrowser:
    """Return the browser for a setting: a path, "" (first one found), "off", a socket of a browser unit, or a remote
    address.

    >>> find_browser("", {"chromium": "/usr/bin/chromium"}.get).path, find_browser("off").absent
    ('/usr/bin/chromium', 'the setting browser is off')
    """
    if setting == OFF:
        return FoundBrowser("", f"the setting browser is {OFF}")
    if is_remote(setting):
        return _elsewhere(setting)
    if setting.startswith(SOCKET):
        return FoundBrowser(setting, "")
    if setting:
        path = find(setting) if isabs(setting) else None
        return FoundBrowser(path or "", "" if path else f"browser = {setting!r} is no program that can be run: {HOW}")
    found = next(filter(None, map(find, NAMES)), "")
    return FoundBrowser(found, "" if found else f"no browser is installed: {HOW}")


def _elsewhere(setting: str) -> FoundBrowser:
    try:
        read_remote(setting)
    except ValueError as error:  # never quote the setting: it may contain a token
        return FoundBrowser("", f"the setting browser has an address that can't be used: {error}")
    return FoundBrowser(setting, "")


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
