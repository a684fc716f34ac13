"""Admission of URLs as destinations: the guard's rules, and two for deliveries only.

A destination is public https. Plain http and private addresses need a network that the operator has opened. And
deliveries must not come back in: a destination at this service's own address would feed on itself. Its bins are no way
in, so they may be destinations, wherever the service runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address

import trio

from actors.destination_kinds.bins import Bins
from actors.destination_kinds.kind import AdmittedAddress
from actors.egress.failures import Blame, CheckFailed
from actors.egress.guard import Guard
from actors.egress.traffic import log_refusal
from actors.egress.url import Url, parse_url
from actors.errors import Overloaded, UrlRefused
from actors.settings import Settings
from actors.world import ResolveFailed, World
from storage.sql.storage import Storage

Address = IPv4Address | IPv6Address
CHECK_WITHIN = 10.0  # seconds to resolve a name
_SETTINGS = "SANDERLING_ALLOW_NETWORKS or SANDERLING_ALLOW_DELIVER_NETWORKS"


async def admit(text: str, world: World, storage: Storage, settings: Settings) -> AdmittedAddress:
    """Return a destination's normalized URL. Raises UrlRefused, Overloaded (our resolver is silent)."""
    url = parse_url(text, schemes=("http", "https"))
    bins = Bins(world, storage, settings.public_url())
    if (path := bins.path_in(url)) is not None:
        # A bin only shows its requests, which never touch the network that the guard protects.
        if await bins.find(path) is None:
            raise UrlRefused("url-no-bin", "there is no bin at this address, or it has expired: make one")
        return AdmittedAddress(url.text, url.host)
    if bins.is_own(url):
        raise _loop(url)
    networks = settings.deliver_networks()
    guard = Guard(world.resolver, world.connector, networks, on_refused=partial(log_refusal, world))
    addresses = await _addresses(url, guard)
    if url.port == settings.port:
        for address in addresses:
            if await _listens_at(address, world, settings):
                raise _loop(url)
    if not url.secure and not all(any(address in network for network in networks) for address in addresses):
        detail = f"a destination is https; plain http is only for networks that {_SETTINGS} opens"
        raise UrlRefused("url-insecure", detail)
    return AdmittedAddress(url.text, url.host)


async def _addresses(url: Url, guard: Guard) -> Sequence[Address]:
    try:
        with trio.fail_after(CHECK_WITHIN):
            return [ip_address(address) for address in await guard.check(url)]
    except CheckFailed as failure:
        if failure.blame is Blame.LOCAL:
            raise Overloaded(failure.reason, 30) from None
        raise UrlRefused("url-unresolved", failure.reason) from None


async def _listens_at(address: Address, world: World, settings: Settings) -> bool:
    """Return whether this service listens at an address; on all interfaces, also at its public name."""
    listening_at = settings.host
    if address.is_loopback or str(address) == listening_at:
        return True
    if listening_at not in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        return False
    host = parse_url(settings.public_url(), schemes=("http", "https")).host
    if host == str(address):
        return True
    try:
        with trio.fail_after(CHECK_WITHIN):
            return str(address) in await world.resolver.resolve(host)
    except (ResolveFailed, trio.TooSlowError):
        return False


def _loop(url: Url) -> UrlRefused:
    return UrlRefused("url-loop", f"{url.origin} is this service itself: deliveries must not come back in")
