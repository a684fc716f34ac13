"""The address of a request's client. Pure.

Only the address of the connection cannot be forged. Behind a proxy it is the proxy's, and `X-Forwarded-For` and
`Forwarded` (RFC 7239) name the client; but anyone can write them. So read them from the right, where the nearest proxy
wrote, while each hop is in `trusted_proxies`; the first other address is the client's. Without trusted proxies (the
default) the headers are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from werkzeug.datastructures import Headers

Network = IPv4Network | IPv6Network
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[,;]|[^",;]+', re.DOTALL)
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

    >>> forwarded_for('for=192.0.2.43;proto=http, For="[2001:db8::17]:4711"; by="a,b", by=x')
    ['192.0.2.43', '[2001:db8::17]:4711', '']
    """
    hops, hop, pair = [], "", ""
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
        known = _address(hop)
        if known is None:
            break
        address = known
    return address


def _address(text: str) -> str | None:
    found = _PORT.fullmatch(text.strip())
    if found is not None:
        text = found[1] or found[2]
    try:
        return str(ip_address(text.strip().partition("%")[0]))
    except ValueError:
        return None


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    if not trusted:
        return False
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    plain = ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip
    return any(plain in network for network in trusted)
