"""Webhook bins and their captures, for any face: find, read with both signatures checked, delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import trio

from actors.bins import Bins
from actors.errors import NotFound
from actors.signatures.event import KeySet
from api.operations.capture_checks import check_capture, senders
from api.operations.context import OperationContext, known_id
from api.schemas.bins import SignatureCheck
from storage.records.bin import Bin, Capture, StoredCapture
from storage.records.destination import Destination

PAGE_SIZE = 1 << 20
"""Bytes of captures per answer; a single capture may exceed it."""


class Seen(NamedTuple):
    """A capture, its number in the bin's list, and the result of both signature checks."""

    number: int
    capture: Capture
    check: SignatureCheck


def bins_of(call: OperationContext) -> Bins:
    return Bins(call.context.world, call.context.storage, call.context.settings.public_url())


async def every(call: OperationContext) -> Sequence[Bin]:
    """Return the unexpired bins, oldest first."""
    return list(filter(bins_of(call).living, await call.context.storage.bins.all()))


async def named(call: OperationContext, id: str) -> Bin:
    """Return the bin with an id. Raises NotFound, also if it has expired."""
    found = bins_of(call).living(await call.context.storage.bins.get(known_id(id, "bin")))
    if found is None:
        raise NotFound("There is no such bin, or it has expired.")
    return found


async def new_address(call: OperationContext) -> str:
    """Make a bin; return its URL. Raises Conflict."""
    return bins_of(call).address(await bins_of(call).mint())


async def delete(call: OperationContext, id: str) -> None:
    """Delete a bin and its captures. Raises NotFound."""
    await call.context.storage.bins.delete((await named(call, id)).id)


async def feeding(call: OperationContext, bin: Bin) -> Sequence[Destination]:
    """Return the newest destinations that deliver to a bin."""
    return (await feeding_each(call, [bin]))[0]


async def feeding_each(call: OperationContext, bins: Sequence[Bin]) -> Sequence[Sequence[Destination]]:
    """Return the destinations that deliver to each of several bins."""
    destinations = await call.context.storage.alerts.destinations()
    return [senders(destinations, bin, bins_of(call)) for bin in bins]


async def captures(call: OperationContext, bin: Bin, before: int | None, limit: int) -> tuple[Sequence[Seen], bool]:
    """Return a bin's captures before a number, newest first, and whether there are more."""
    page = await call.context.storage.bins.captures(bin.id, before, limit, PAGE_SIZE)
    return await _seen(call, bin, page.captures), page.more


async def capture(call: OperationContext, bin: Bin, number: int) -> Seen:
    """Return one capture by its number. Raises NotFound."""
    page = await call.context.storage.bins.captures(bin.id, number + 1, 1, PAGE_SIZE)
    for seen in await _seen(call, bin, [kept for kept in page.captures if kept.number == number]):
        return seen
    raise NotFound("There is no such capture any more: a bin keeps its last hundred.")


async def _seen(call: OperationContext, bin: Bin, kept: Sequence[StoredCapture]) -> Sequence[Seen]:
    known, keys = await feeding(call, bin), KeySet(await call.context.jwks())
    found = []
    for each in kept:
        found.append(Seen(each.number, each.capture, await check_capture(each.capture, known, keys)))
        await trio.lowlevel.checkpoint()
    return found
