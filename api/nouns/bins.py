"""Test inboxes as destinations: make one, list them, and find the destinations that deliver to each.

Bins are read in `extras/inbox`.
"""

from __future__ import annotations

from collections.abc import Sequence

from actors.destination_kinds.bins import Bins
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from api.nouns.context import OperationContext
from storage.records.bin import Bin
from storage.records.destination import Destination

MOST_SENDERS = 50  # destinations whose secrets are tried on one capture


def bins_of(call: OperationContext) -> Bins:
    return Bins(call.context.world, call.context.storage, call.context.settings.public_url())


async def every(call: OperationContext) -> Sequence[Bin]:
    """Return the unexpired bins, oldest first."""
    return list(filter(bins_of(call).if_alive, await call.context.storage.bins.all()))


async def new_address(call: OperationContext) -> str:
    """Make a test inbox; return its URL. Raises Conflict."""
    return bins_of(call).address(await bins_of(call).create())


async def feeding_each(call: OperationContext, bins: Sequence[Bin]) -> Sequence[Sequence[Destination]]:
    destinations = await call.context.storage.alerts.destinations()
    return [senders(destinations, bin, bins_of(call)) for bin in bins]


def senders(destinations: Sequence[Destination], bin: Bin, bins: Bins) -> Sequence[Destination]:
    address = bins.address(bin)
    ours = _path(address, bins)
    return [each for each in destinations if bin.token in each.url and _path(each.url, bins) == ours][-MOST_SENDERS:]


def _path(text: str, bins: Bins) -> str:
    """Return the path of a URL's bin, without anything after its token; "" if the URL is no bin."""
    try:
        path = bins.path_in(parse_url(text)) or ""
    except UrlRefused:
        return ""
    return "/".join(path.partition("?")[0].split("/")[:3])
