"""The limit of open connections per address, so that no single client can take them all.

Addresses are those of the connection, which cannot be forged; IPv6 counts by /64. Connections from `trusted_proxies`
carry many clients and are not counted. Nor are loopback connections, so a proxy in front of a service on 127.0.0.1
needs no setting; such a proxy must limit its own clients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address

from api.peers import Network, is_trusted
from api.ratelimit import neighbourhood


class AddressLimit:
    """Open connections by address. most: the limit for one address."""

    def __init__(self, most: int, proxies: Sequence[Network]) -> None:
        self.most, self._proxies = most, proxies
        self._here: Counter[str] = Counter()

    def enter(self, address: str) -> str | None:
        """Count a connection; return the name to `leave` with, or None at the limit."""
        name = counted_as(address, self._proxies)
        if name and self._here[name] >= self.most:
            return None
        self._here[name] += 1
        return name

    def leave(self, name: str) -> None:
        self._here[name] -= 1
        if not self._here[name]:
            del self._here[name]

    def __repr__(self) -> str:
        counted = [(many, name) for name, many in self._here.items() if name]
        most = max(counted, default=(0, "nobody"))
        return f"<AddressLimit of {len(counted)} addresses, most of {most[1]}: {most[0]}>"


def counted_as(address: str, proxies: Sequence[Network]) -> str:
    """Return the name that an address counts under, or "" if it does not count."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return neighbourhood(address)
    plain = ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip
    return "" if plain.is_loopback or is_trusted(address, proxies) else neighbourhood(address)
