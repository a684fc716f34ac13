"""A request's client: its address, the host name it asks for, its origin, and requests passed on by programs. Pure.

Only the address of the connection cannot be forged. Behind a proxy it is the proxy's, and `X-Forwarded-For` and
`Forwarded` (RFC 7239) name the client; but anyone can write them. So read them from the right while each hop is in
`trusted_proxies`; the first other address is the client's. Without trusted proxies (the default) they are ignored.

A hostile page can point its own name at this machine (DNS rebinding), so that its browser treats the dashboard as part
of that site. The Host header reveals it, because it holds the page's name. API callers need a key, which a page lacks.
The admin socket asks for no key, so a forwarded request would gain full access. Headers reveal it: browsers send
`Origin` or `Sec-Fetch-Site`, proxies name the client, and a hostile page has no local host name.

CORS (Fetch standard) says which origins may read the API's answers: those that the operator lists, by default none.
Keys travel in headers that a page sets itself, and cookies open nothing here, so `Access-Control-Allow-Credentials` is
never sent. Other origins get the same answers without CORS headers, and the browser blocks them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from werkzeug.datastructures import Headers

Network = IPv4Network | IPv6Network
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[,;]|[^",;]+', re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PORT = re.compile(r"\[([^]]*)\](?::\d+)?|(\d+(?:\.\d+){3})(?::\d+)?")


def caller(peer: str, headers: Headers, trusted: Sequence[Network]) -> str:
    """Return the address that a request counts for.

    If both headers are present and differ, one came from the client: ignore both.

    >>> from ipaddress import ip_network
    >>> lan = [ip_network("10.0.0.0/8")]
    >>> caller("10.0.0.1", Headers({"X-Forwarded-For": "1.1.1.1, 2.2.2.2, 10.0.0.2"}), lan)
    '2.2.2.2'
    >>> caller("3.3.3.3", Headers({"X-Forwarded-For": "1.1.1.1"}), lan)
    '3.3.3.3'
    """
    if not is_trusted(peer, trusted):
        return peer
    hops = [part for line in headers.getlist("X-Forwarded-For") for part in line.split(",")]
    more = [hop for line in headers.getlist("Forwarded") for hop in forwarded_for(line)]
    found = {_nearest(peer, way, trusted) for way in (hops, more) if way}
    return found.pop() if len(found) == 1 else peer


def forwarded_for(line: str) -> Sequence[str]:
    """Return the `for` of each hop in a Forwarded header, "" for a hop without one.

    A client that leaves a quote open would hide the hop that the proxy appends, so such a line has no hop at all.

    >>> forwarded_for('for=192.0.2.43;proto=http, For="[2001:db8::17]:4711"; by="a,b", by=x')
    ['192.0.2.43', '[2001:db8::17]:4711', '']
    """
    hops, hop, pair = [], "", ""
    if '"' in _QUOTED.sub("", line):
        return [""]
    for piece in (*_TOKEN.findall(line), ","):
        if piece not in (",", ";"):
            pair += piece
            continue
        name, _, value = pair.partition("=")
        if name.strip().lower() == "for":
            hop = value.strip().strip('"')
        pair = ""
        if piece == ",":
            hops.append(hop)
            hop = ""
    return hops


def _nearest(peer: str, hops: Sequence[str], trusted: Sequence[Network]) -> str:
    """Walk left over trusted hops; stop at the first untrusted one, or before an invalid address."""
    address = peer
    for hop in reversed(hops):
        if not is_trusted(address, trusted):
            break
        text = hop.strip()
        found = _PORT.fullmatch(text)
        ip = ip_in((found[1] or found[2]).strip() if found is not None else text)
        if ip is None:
            break
        address = str(ip)
    return address


def ip_in(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text is, without its zone, or None."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def plain(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address within an IPv6 one, else the address itself."""
    return ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    ip = ip_in(address) if trusted else None
    return ip is not None and any(plain(ip) in network for network in trusted)


_INNER = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
"""Suffixes that can't be registered, so no hostile page has one."""
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
    if ip_in(host) is not None or host == "localhost" or host.endswith(".localhost"):
        return True
    if base_url:
        return bool(host) and host == host_of(urlsplit(base_url).netloc)
    return bool(host) and (host == bound.lower() or "." not in host or host.endswith(_INNER))


def only_https(public_url: str) -> dict[str, str]:
    """Return the HSTS header (one year) for https; none for localhost, where other programs have other ports."""
    split = urlsplit(public_url)
    if split.scheme != "https" or split.hostname == "localhost":
        return {}
    return {"Strict-Transport-Security": f"max-age={YEAR}"}


_BROWSER = ("Origin", "Sec-Fetch-Site", "Cookie")
_PROXY = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


def passed_on(headers: Headers) -> str:
    """Return the header that shows that a request was forwarded, or "".

    >>> passed_on(Headers({"Host": "localhost"})), passed_on(Headers({"Host": "watch.example", "Via": "1.1 x"}))
    ('', 'Via')
    >>> passed_on(Headers({"Host": "watch.example"})), passed_on(Headers({"Host": "local", "Origin": "null"}))
    ('Host', 'Origin')
    """
    found = next((name for name in (*_BROWSER, *_PROXY) if name in headers), "")
    return found or ("" if is_ours(headers.get("Host", ""), "", "") else "Host")


MAX_AGE = 7_200  # seconds that a browser may cache the preflight; no browser caches it longer
SENT = (
    *("Authorization", "X-API-Key", "Content-Type", "Last-Event-ID", "If-Match", "If-None-Match"),
    *("Idempotency-Key", "X-Request-Id", "MCP-Protocol-Version", "Mcp-Session-Id"),
    *("Mcp-Method", "Mcp-Name"),
)
"""Request headers that a page may set."""
SEEN = (
    *("Sanderling-Replay-From", "X-Request-Id", "Link", "ETag", "Location", "Retry-After", "Allow"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"),
    *("Idempotency-Replayed", "WWW-Authenticate", "Mcp-Session-Id"),
)
"""Answer headers that a page may read."""


def named_origin(headers: Headers, origins: Collection[str]) -> str | None:
    said = headers.getlist("Origin")
    return said[0] if len(said) == 1 and said[0] in origins else None


def answer_to_preflight(headers: Headers, origins: Collection[str], methods: Iterable[str]) -> Mapping[str, str] | None:
    """Return the headers that answer a preflight, or None if it is none. methods: those of the path."""
    if named_origin(headers, origins) is None or "Access-Control-Request-Method" not in headers:
        return None
    return {
        "Access-Control-Allow-Methods": ", ".join(sorted(methods)),
        "Access-Control-Allow-Headers": ", ".join(SENT),
        "Access-Control-Max-Age": str(MAX_AGE),
    }


def cors_headers(headers: Headers, origins: Collection[str]) -> Mapping[str, str]:
    if not origins:
        return {}
    origin = named_origin(headers, origins)
    if origin is None:
        return {"Vary": "Origin"}
    return {"Vary": "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": ", ".join(SEEN)}
