"""The host names of the dashboard, and HSTS. Pure.

A hostile page can point its own name at this machine (DNS rebinding). Its browser then treats the dashboard as part of
that site, and the page can read and send anything from inside the network. The Host header reveals it, because it holds
the page's name. API callers need a key, which such a page lacks.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_INNER = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
"""Suffixes that nobody can register, so no hostile page has one."""
YEAR = 365 * 86_400


def host_of(authority: str) -> str:
    """Return the host of a Host header, in lower case without the port; "" if malformed.

    >>> host_of("Watch.test.:8080"), host_of("[::1]:8080"), host_of("a b"), host_of("user@a.test")
    ('watch.test', '::1', '', '')
    """
    if not authority or any(sign in authority for sign in "@/?#\\ \t"):
        return ""
    try:
        return (urlsplit(f"//{authority}").hostname or "").removesuffix(".")
    except ValueError:
        return ""


def is_ours(authority: str, base_url: str, bound: str) -> bool:
    """Return whether a Host header names us: an address, localhost, or the name in `base_url`.

    With an empty `base_url`, `bound` (the listening address), single-label names and internal networks also count. No
    hostile page can have those names.
    """
    host = host_of(authority)
    if _is_address(host) or host == "localhost" or host.endswith(".localhost"):
        return True
    if base_url:
        return bool(host) and host == host_of(urlsplit(base_url).netloc)
    return bool(host) and (host == bound.lower() or "." not in host or host.endswith(_INNER))


def only_https(public_url: str) -> dict[str, str]:
    """Return the HSTS header (one year) if clients use https.

    Not for localhost, whose other ports belong to other programs. Browsers ignore it for addresses.
    """
    split = urlsplit(public_url)
    if split.scheme != "https" or split.hostname == "localhost":
        return {}
    return {"Strict-Transport-Security": f"max-age={YEAR}"}


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
