"""The limit of open connections for each address, so that no single one can take all there are.

Counted by the address of the connection, which nobody can forge; IPv6 by its /64. A proxy's connections are those of
all its clients, so those of `trusted_proxies` are not counted, and neither are this machine's own: a proxy in front of
a service that listens on 127.0.0.1 needs no setting. What such a proxy lets in is its own to bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address

from api.peers import Network, is_trusted
from api.ratelimit import neighbourhood


class AddressLimit:
    """Who is here. most: connections of one address."""

    def __init__(self, most: int, proxies: Sequence[Network]) -> None:
        self.most, self._proxies = most, proxies
        self._here: Counter[str] = Counter()

    def enter(self, address: str) -> str | None:
        """Count a connection; return the name under which it must `leave`, None when there are too many already."""
        name = counted_as(address, self._proxies)
        if name and self._here[name] >= self.most:
            return None
        self._here[name] += 1
        return name

    def leave(self, name: str) -> None:
        """Count a connection no more."""
        self._here[name] -= 1
        if not self._here[name]:
            del self._here[name]

    def __repr__(self) -> str:
        counted = [(many, name) for name, many in self._here.items() if name]
        most = max(counted, default=(0, "nobody"))
        return f"<AddressLimit of {len(counted)} addresses, most of {most[1]}: {most[0]}>"


def counted_as(address: str, proxies: Sequence[Network]) -> str:
    """Return whom an address is counted with, "" when it is not counted."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return neighbourhood(address)
    plain = ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip
    return "" if plain.is_loopback or is_trusted(address, proxies) else neighbourhood(address)
