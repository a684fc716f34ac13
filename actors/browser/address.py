"""Addresses of remote browsers: a WebSocket of the DevTools protocol, or the endpoint that names one. Pure.

The query may be a token, and the path of a WebSocket gives control of the browser: neither is shown.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

SCHEMES: Final = ("ws://", "wss://", "http://", "https://")
_HOST: Final = re.compile(r"[A-Za-z0-9_.-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_REST: Final = re.compile(r"[!-~]*")


class RemoteAddress(NamedTuple):
    """path: without its query. asks: it is an endpoint that names the browser's WebSocket."""

    host: str
    port: int
    tls: bool
    path: str
    query: str
    asks: bool

    @property
    def authority(self) -> str:
        """Host and port, as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """The address without possible secrets."""
        scheme = ("http" if self.asks else "ws") + ("s" if self.tls else "")
        return f"{scheme}://{self.authority}"

    @property
    def version(self) -> str:
        """The target that names the browser's WebSocket."""
        return with_query(f"{self.path.rstrip('/')}/json/version", self.query)


def with_query(path: str, query: str) -> str:
    """Return a path with a query, if there is one."""
    return f"{path}?{query}" if query else path


def is_remote(setting: str) -> bool:
    """Return whether the setting `browser` means a remote one.

    >>> is_remote("ws://10.0.0.7:9222/devtools/browser/1"), is_remote("/usr/bin/chromium")
    (True, False)
    """
    return setting.startswith(SCHEMES)


def read_remote(setting: str) -> RemoteAddress:
    """Parse the address in the setting `browser`. Raises ValueError with a sentence without secrets.

    >>> read_remote("http://10.0.0.7:9222").version, read_remote("https://a.example/b?token=c").shown
    ('/json/version', 'https://a.example:443')
    """
    try:
        parts = urlsplit(setting)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("it is no address: write http://host:port") from None
    if not _HOST.fullmatch(host) or port == 0:
        raise ValueError("its host or port is none: write http://host:port")
    if parts.username is not None or parts.password is not None:
        raise ValueError("write no user and no password into it; a token goes behind a ?")
    if parts.fragment or not _REST.fullmatch(parts.path + parts.query):
        raise ValueError("its path must be plain ASCII, and nothing may follow a #")
    tls, asks = parts.scheme in ("wss", "https"), parts.scheme in ("http", "https")
    if not asks and parts.path in ("", "/") and not parts.query:
        raise ValueError(f"a ws address needs the browser's path; http://{host}:{port or 80} asks for it")
    return RemoteAddress(host, port or (443 if tls else 80), tls, parts.path or "/", parts.query, asks)


def told_target(url: str, asked: RemoteAddress) -> str:
    """Return the target at the address's own host for the WebSocket URL in a response; "" if it is unusable.

    The URL's host is ignored: behind a proxy, or in a container, it often differs from the reachable one.

    >>> told_target("ws://localhost/devtools/browser/1", read_remote("http://10.0.0.7:9222?token=a"))
    '/devtools/browser/1?token=a'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not _REST.fullmatch(parts.path + parts.query):
        return ""
    return with_query(parts.path or "/", parts.query or asked.query)
