"""One destination: its state, outbox, failures, and all its actions."""

from __future__ import annotations

from collections.abc import Sequence

from api.dashboard.destinations.causes import causes
from api.dashboard.destinations.clock import Clock, clock_of
from api.dashboard.destinations.deliveries import DeliveriesQuery, link
from api.dashboard.destinations.standing import missed, quiet_words, standings
from api.dashboard.items import items_by_id
from api.dashboard.language.sentences import translated
from api.dashboard.screen import Page, Visit
from api.operations import alerts, destinations
from storage.attempts import KEPT_ATTEMPTS
from storage.records.destination import ADDRESS, Attempt

CLOCKS = 3
"""Deliveries whose next attempts are shown."""
RECENT = 10


async def one(visit: Visit) -> Page:
    hook = await destinations.named(visit, visit.path["id"])
    lines = await visit.context.storage.outbox.attempts(hook.id, KEPT_ATTEMPTS)
    (standing,) = await standings(visit, [hook])
    kind = visit.context.kinds.get(hook.kind)
    waiting = clocks(lines)[:CLOCKS] if hook.works else []
    tried = [line for line, _ in waiting]
    words = {} if kind is None else {field.name: field.label for field in kind.fields} | {ADDRESS: kind.address.label}
    shows = {
        "standing": standing,
        "hook": hook,
        "kind": kind,
        "wanting": ", ".join(translated(words.get(name, name)) for name in hook.lost),
        "alert": await alerts.named(visit, hook.alert_id),
        "quiet": quiet_words(hook.quiet_hours),
        "clocks": waiting,
        "causes": causes(lines),
        "cause_link": lambda name: link(hook, DeliveriesQuery(cause=name)),
        "attempts": len(lines),
        "recent": lines[:RECENT],
        "items": await items_by_id(visit, (line.event_id for line in [*lines[:RECENT], *tried])),
        "missed": missed(hook),
        "open": hook.works,
    }
    return Page("destinations/one.html", hook.label, shows)


def clocks(lines: Sequence[Attempt]) -> list[tuple[Attempt, Clock]]:
    """Return the deliveries that will be retried, the next one first. lines: newest first."""
    newest: dict[str, Attempt] = {}
    for line in lines:
        newest.setdefault(line.event_id, line)
    found = [(line, clock) for line in newest.values() if (clock := clock_of(line)) is not None]
    return sorted(found, key=lambda one: (one[1].next_at, one[0].event_id))
