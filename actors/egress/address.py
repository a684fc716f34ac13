"""Permitted addresses, the last known addresses of names, and two names of one machine.

The table (`networks.ini`) is our own, after the IANA special-purpose registries (RFC 6890) and their later additions:
`ipaddress.is_global` lets NAT64, 6to4, multicast and the old site-local range through. IPv6 is closed by default: only
2000::/3 is open, less the listed ranges. IPv4 addresses inside IPv6 ones are checked too, because a router on the way
may extract them.

Two names may be one machine. Similar names alone prove nothing (`www.` may be another company's machine, and one may be
dead while the other lives), and neither does an address alone (a thousand unrelated sites share one). Both together do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from configparser import ConfigParser
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from actors.errors import UrlRefused

Address = IPv4Address | IPv6Address

# Instance metadata and other cloud-internal services: they give credentials to any caller. No setting opens them.
METADATA = frozenset(
    ip_address(text)
    for text in (
        *("169.254.169.254", "169.254.169.253", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23"),
        *("100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42", "fe80::a9fe:a9fe"),
    )
)

Network = IPv4Network | IPv6Network

_TABLE = ConfigParser(delimiters=("=",))
_TABLE.read_string(files("actors.egress").joinpath("networks.ini").read_text("utf-8"))
SPECIAL_V4 = tuple((IPv4Network(network), name) for network, name in _TABLE["v4"].items())
SPECIAL_V6 = tuple((IPv6Network(network), name) for network, name in _TABLE["v6"].items())
"""Networks and their names: the first that has an address counts."""
GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_LOW = (1 << 32) - 1


def check_address(address: str, allowed: Sequence[Network], setting: str = "ALLOW_NETWORKS") -> None:
    """Raise UrlRefused (`rule` starts with `address-`) unless an address is public unicast or in an allowed network.
    allowed: the networks opened by `setting`, "" for none. Metadata services stay closed, even if embedded in an IPv6
    address.
    """
    try:
        found = ip_address(address)
    except ValueError:
        raise UrlRefused("address-unreadable", f"{address[:60]!r} is no IP address") from None
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            raise UrlRefused("address-zone", f"{address}: a zone id names an interface of this machine")
        found = found.ipv4_mapped or found  # the kernel really connects to the IPv4 address
    carried: tuple[Address, ...] = (found, *embedded(found)) if isinstance(found, IPv6Address) else (found,)
    for inner in carried:
        if inner in METADATA:
            detail = f"{_shown(address, inner)} is a cloud's internal service; nothing opens it"
            raise UrlRefused("address-metadata", detail)
    for inner in carried:
        name = classify(inner)
        if name is not None and not any(inner in network for network in allowed):
            opens = ip_network(f"{inner}/{inner.max_prefixlen}")
            hint = f"; SANDERLING_{setting}={opens} would open it" if setting else ""
            raise UrlRefused(f"address-{name}", f"{_shown(address, inner)} is not public{hint}")


def is_public(address: str) -> bool:
    try:
        check_address(address, ())
    except UrlRefused:
        return False
    return True


def classify(address: Address) -> str | None:
    """Return the name of an address's special class, None for public unicast. Considers its outer form only."""
    if isinstance(address, IPv4Address):
        return next((name for network, name in SPECIAL_V4 if address in network), None)
    name = next((name for network, name in SPECIAL_V6 if address in network), None)
    return name or (None if address in GLOBAL_V6 else "not-global")


def embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address: NAT64, 6to4, Teredo, ISATAP, v4-compatible, translated."""
    value = int(address)
    low = IPv4Address(value & _LOW)
    if address in _NAT64 or (value >> 32 == 0 and value > 1) or value >> 32 == 0xFFFF << 16:
        yield low
    elif address in _NAT64_LOCAL:
        # RFC 6052: after a /48 around the bits 64 to 71, or at the end of a /96 within it.
        yield low if int(low) else IPv4Address((value >> 64 & 0xFFFF) << 16 | value >> 40 & 0xFFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if value >> 32 & 0xFDFFFFFF == 0x00005EFE:  # RFC 5214, both values of its universal bit
        yield low


def _shown(text: str, address: Address) -> str:
    return text if text == str(address) else f"{text} (that is {address})"


MOST_ALIASES = 20_000  # most names; the least recently seen is forgotten first, and is then a separate host
_PREFIX = "www."


class HostAliases:
    """The addresses of names as last seen, and which of them are twins."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._shared: set[str] = set()

    def __repr__(self) -> str:
        return f"<HostAliases {len(self._shared)} pairs among {len(self._addresses)} names>"

    def record(self, host: str, addresses: Sequence[str]) -> str | None:
        """Record a name's addresses. Return the name that has just turned out to be another's twin."""
        self._addresses[host] = found = frozenset(addresses)
        self._addresses.move_to_end(host)
        bare = host.removeprefix(_PREFIX)
        twin = bare if host != bare else _PREFIX + bare
        theirs, were = self._addresses.get(twin), bare in self._shared
        if theirs is not None and not found.isdisjoint(theirs):
            self._shared.add(bare)
        else:
            self._shared.discard(bare)
        if len(self._addresses) > MOST_ALIASES:
            gone, _ = self._addresses.popitem(last=False)
            self._shared.discard(gone.removeprefix(_PREFIX))
        return _PREFIX + bare if bare in self._shared and not were else None

    def address_of(self, host: str) -> str:
        """Return one address of a name, always the same of several; the name itself if unknown."""
        return min(self._addresses.get(host, (host,)))

    def canonical(self, host: str) -> str:
        """Return the name that a host is known under: its own, or without a `www.` that makes no difference."""
        bare = host.removeprefix(_PREFIX)
        return bare if bare in self._shared else host
