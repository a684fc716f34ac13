"""All bins, newest first, and creating one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Page, Reply, Visit
from api.operations import bins as acts
from storage.records.bin import Bin
from storage.records.destination import Destination
from storage.records.identity import Millis

PAGE = 25


class BinsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The page number, from 1."""

    page: Annotated[int, Meta(ge=1, le=1000)] = 1


class Row(NamedTuple):
    """A row of the list. last: the newest capture's time. senders: labels of the destinations that deliver to it."""

    bin: Bin
    address: str
    last: Millis | None
    senders: tuple[str, ...]


async def show_all(visit: Visit) -> Page:
    every = list(reversed(await acts.every(visit)))
    start = (visit.query.page - 1) * PAGE
    shown = every[start : start + PAGE]
    feeding = await acts.feeding_each(visit, shown)
    rows = [await _row(visit, bin, senders) for bin, senders in zip(shown, feeding, strict=True)]
    following = f"/webhook-bins?page={visit.query.page + 1}" if start + PAGE < len(every) else ""
    before = f"/webhook-bins?page={visit.query.page - 1}" if start else ""
    shows = {"rows": rows, "count": len(every), "next": following, "previous": before}
    return Page("bins/list.html", say("Webhook bins"), shows)


async def _row(visit: Visit, bin: Bin, senders: Sequence[Destination]) -> Row:
    newest = (await visit.context.storage.bins.captures(bin.id, None, 1, 1)).captures
    last = newest[0].capture.received_at if newest else None
    return Row(bin, acts.bins_of(visit).address(bin), last, tuple(each.label for each in senders))


async def mint(visit: Visit) -> Reply:
    bin = await acts.bins_of(visit).mint()
    return Go(f"/webhook-bins/{bin.id}", say("The bin is made. It lives for seven days."))
