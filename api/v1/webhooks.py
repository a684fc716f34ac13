"""Which URLs may become destinations: the guard's word, and two rules that only deliveries have.

A destination is public https. Plain http, like a private address, is for the networks that the operator has opened.
And what is delivered must not come back in: a destination at this service's own address would feed on itself.
"""

from __future__ import annotations

from ipaddress import ip_address

import trio

from actors.doors import Doors
from actors.egress.failures import Blame, LookFailed
from actors.egress.guard import Guard
from actors.egress.url import Url, parse_url
from actors.errors import Overloaded, UrlRefused

CHECK_WITHIN = 10.0
"""Seconds for the resolution of a name."""
_OPENING = "SANDERLING_ALLOW_NETWORKS or SANDERLING_ALLOW_DELIVER_NETWORKS"


async def admitted(text: str, doors: Doors) -> Url:
    """Return a destination's URL in its one spelling. Raises UrlRefused, Overloaded (our resolver is silent)."""
    url = parse_url(text, schemes=("http", "https"))
    bins = "/bins/"  # what a bin gets is shown and goes nowhere
    if url.origin == parse_url(doors.settings.public_url()).origin and not url.target.startswith(bins):
        raise _loop(url)
    networks = doors.settings.deliver_networks()
    guard = Guard(doors.world.resolver, doors.world.connector, networks)
    try:
        with trio.fail_after(CHECK_WITHIN):
            addresses = [ip_address(address) for address in await guard.check(url)]
    except LookFailed as failure:
        if failure.blame is Blame.LOCAL:
            raise Overloaded(failure.reason, 30) from None
        raise UrlRefused("url-unresolved", failure.reason) from None
    here = doors.settings.host
    if url.port == doors.settings.port and any(each.is_loopback or str(each) == here for each in addresses):
        raise _loop(url)
    if not url.secure and not all(any(address in network for network in networks) for address in addresses):
        detail = f"a destination is https; plain http is only for networks that {_OPENING} opens"
        raise UrlRefused("url-insecure", detail)
    return url


def _loop(url: Url) -> UrlRefused:
    return UrlRefused("url-loop", f"{url.origin} is this service itself: deliveries must not come back in")
