"""By which names the dashboard is reached, and that https stays https. Pure.

A page elsewhere can have its own name lead to this machine (DNS rebinding): its browser then takes the dashboard for a
part of that page's site, and the page may read and send what it likes, from inside the network. What gives it away is
the Host header, which has the page's own name. Callers of the API need a key, which such a page does not have.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_INNER = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
"""Ends of names that nobody can register, so that no stranger's page has one."""
YEAR = 365 * 86_400


def host_of(authority: str) -> str:
    """Return the host of a Host header, in lower case and without a port; "" for what is none.

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
    """Return whether a Host header may be for us: an address, localhost, or the name in `base_url`.

    base_url: the setting; where it is empty, also `bound` (what is listened on), names of one label, and names of inner
    networks, none of which a stranger's page can have.
    """
    host = host_of(authority)
    if _is_address(host) or host == "localhost" or host.endswith(".localhost"):
        return True
    if base_url:
        return bool(host) and host == host_of(urlsplit(base_url).netloc)
    return bool(host) and (host == bound.lower() or "." not in host or host.endswith(_INNER))


def only_https(public_url: str) -> dict[str, str]:
    """Return the header by which browsers come by https alone for a year, where clients see https.

    Not for localhost, whose other ports are other programs; browsers leave addresses out by themselves.
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
