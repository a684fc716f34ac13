"""All destinations, those in trouble first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from msgspec import Meta, Struct

from api.dashboard.amounts import counted
from api.dashboard.destinations.standing import standings
from api.dashboard.lists import address, part
from api.dashboard.screen import Page, Visit
from storage.records.destination import Destination

SHOWN = 25


class DestinationsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words of the label or address, a state, and the id of the last one of the page before."""

    q: Annotated[str, Meta(max_length=200)] = ""
    state: Literal["", "active", "failing", "disabled", "paused"] = ""
    after: Annotated[str, Meta(max_length=40)] = ""


async def listing(visit: Visit) -> Page:
    query: DestinationsQuery = visit.query
    everyone = ranked(await visit.context.storage.alerts.destinations())
    fitting = [hook for hook in everyone if fits(hook, query)]
    page, here = part(fitting, query.after, SHOWN), partial(address, "/destinations", q=query.q, state=query.state)
    shows = {
        "standings": await standings(visit, page.rows),
        "total": len(everyone),
        "fitting": len(fitting),
        "has_alerts": bool(everyone) or bool(await visit.context.storage.alerts.all()),
        "caption": f"{counted(len(fitting), 'destination')}, those in trouble first",
        "next": page.last and here(after=page.last),
        "previous": here() if page.start else "",
    }
    return Page("destinations/list.html", "Destinations", shows)


def ranked(hooks: Sequence[Destination]) -> list[Destination]:
    """Return destinations: disabled, failing, active, paused; in each the newest first."""
    newest = sorted(hooks, key=lambda hook: (hook.created_at, hook.id), reverse=True)
    return sorted(newest, key=_rank)


def _rank(hook: Destination) -> int:
    if not hook.enabled:
        return 3
    return {"disabled": 0, "failing": 1, "active": 2}[hook.state]


def fits(hook: Destination, query: DestinationsQuery) -> bool:
    """Return whether a destination is asked for."""
    state = hook.state if hook.enabled else "paused"
    text = f"{hook.label} {hook.url}".casefold()
    return query.state in ("", state) and all(word in text for word in query.q.casefold().split())
