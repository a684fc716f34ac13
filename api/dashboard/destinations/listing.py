"""All destinations, those in trouble first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Literal

from msgspec import Meta, Struct

from api.dashboard.destinations.standing import standings, state_of
from api.dashboard.language.speaking import say, say_many
from api.dashboard.lists import Chip, address, chips, part
from api.dashboard.screen import Page, Visit
from storage.records.destination import Destination
from storage.records.states import DESTINATIONS, DestinationState

SHOWN = 25
LOOKED_AT = 500
"""Destinations whose newest attempt decides their order; the rest count as successful."""


class DestinationsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words in the label or address, a state, and the last id on the previous page."""

    q: Annotated[str, Meta(max_length=200)] = ""
    state: Literal[""] | DestinationState = ""
    after: Annotated[str, Meta(max_length=40)] = ""


def _chips(query: DestinationsQuery) -> list[Chip]:
    state = say(DESTINATIONS[query.state].word) if query.state else ""
    named = (("q", say("Label or address"), query.q), ("state", say("State"), state))
    return chips("/destinations", {"q": query.q, "state": query.state}, named)


async def listing(visit: Visit) -> Page:
    query: DestinationsQuery = visit.query
    hooks = await visit.context.storage.alerts.destinations()
    states = await _states(visit, hooks)
    everyone = ranked(hooks, states)
    fitting = [hook for hook in everyone if fits(hook, states[hook.id], query)]
    page, here = part(fitting, query.after, SHOWN), partial(address, "/destinations", q=query.q, state=query.state)
    shows = {
        "standings": await standings(visit, page.rows),
        "total": len(everyone),
        "chips": _chips(query),
        "fitting": len(fitting),
        "states": [("", say("all")), *((name, say(state.word)) for name, state in DESTINATIONS.items())],
        "has_alerts": bool(everyone) or bool(await visit.context.storage.alerts.all()),
        "caption": say_many(
            "%(count)s destination, those in trouble first",
            "%(count)s destinations, those in trouble first",
            len(fitting),
        ),
        "next": page.last and here(after=page.last),
        "previous": here() if page.start else "",
    }
    return Page("destinations/list.html", say("Destinations"), shows)


async def _states(visit: Visit, hooks: Sequence[Destination]) -> Mapping[str, DestinationState]:
    found, read = {hook.id: state_of(hook, ()) for hook in hooks}, 0
    for hook in hooks:
        if found[hook.id] != "unused":
            continue
        read += 1
        lines = await visit.context.storage.outbox.attempts(hook.id, 1) if read <= LOOKED_AT else None
        found[hook.id] = "active" if lines is None else state_of(hook, lines)
    return found


def ranked(hooks: Sequence[Destination], states: Mapping[str, DestinationState]) -> list[Destination]:
    """Sort destinations by state, in the table's order, then newest first."""
    order = {state: number for number, state in enumerate(_TROUBLE)}
    newest = sorted(hooks, key=lambda hook: (hook.created_at, hook.id), reverse=True)
    return sorted(newest, key=lambda hook: order[states[hook.id]])


_TROUBLE: tuple[DestinationState, ...] = (
    "disabled",
    "failing",
    "last_failed",
    "needs_secret",
    "unconfirmed",
    "active",
    "unused",
    "paused",
)
assert set(_TROUBLE) == set(DESTINATIONS)


def fits(hook: Destination, state: DestinationState, query: DestinationsQuery) -> bool:
    text = f"{hook.label} {hook.url}".casefold()
    return query.state in ("", state) and all(word in text for word in query.q.casefold().split())
