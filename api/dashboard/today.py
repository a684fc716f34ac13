"""Today: the needs for attention, the latest changes, and the overall state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from actors.language.speaking import noted, say, say_many
from api.dashboard.screen import HOUR, Page, Screen, Visit
from api.dashboard.sources.display import shown_as
from api.dashboard.stream import newest
from api.fields.admin import TreeQuery, TreeRow
from api.nouns import admin as system
from api.streams.streams import overview_of
from storage.records.destination import Destination
from storage.records.identity import Millis
from storage.records.source import DESTINATIONS, HEALTH, PARTS, SOURCES, DestinationState, State

SHOWN = 12
NEEDS = 6
_UNWELL = ("quarantined", "backoff", "failing", "resting")
_CLOSED = noted("Nothing is sent to it any more. Fix the receiver, then resume it. Missed matches can be replayed.")
_UNSEEN = noted("Its secret is lost. Make a new one, give it to the receiver, then resume it.")


class Need(NamedTuple):
    """Something that needs attention: its name, page, state, reason, and next automatic attempt."""

    name: str
    path: str
    state: State
    says: str
    next: str | None = None


def need_of(row: TreeRow, called: Mapping[str, str]) -> Need | None:
    if row.state in _UNWELL:
        return Need(called.get(row.path) or _named(row), _path(row), PARTS[row.state], row.error, row.next)
    if row.flag == "rotten":
        return Need(_named(row), _path(row), HEALTH["rotten"], row.error, row.next)
    return None


async def needs(visit: Visit) -> list[Need]:
    hooks = await visit.context.storage.alerts.destinations()
    closed = [
        *[_need(hook, "disabled", _CLOSED) for hook in hooks if hook.enabled and hook.state == "disabled"],
        *[_need(hook, "needs_secret", _UNSEEN) for hook in hooks if hook.was_enabled and hook.confirmed],
    ]
    worst = await system.tree(visit, TreeQuery(limit=NEEDS))
    called = {f"destinations/{hook.id}": hook.label for hook in hooks}
    return [*closed, *[need for row in worst.rows if (need := need_of(row, called)) is not None]][:NEEDS]


def _need(hook: Destination, state: DestinationState, says: str) -> Need:
    return Need(hook.label, f"/destinations/{hook.id}", DESTINATIONS[state], says)


def _named(row: TreeRow) -> str:
    return (shown_as(row.title, row.name) if row.path.startswith("sources/") else row.name) or row.path


def _path(row: TreeRow) -> str:
    return f"/{row.path}" if row.path.startswith(("sources/", "destinations/")) else "/system"


def labels(hours: Sequence[int], now: Millis, zone: ZoneInfo) -> list[str]:
    """Return a label for each hour: its start by the reader's clock, and its events.

    >>> labels([0, 1], Millis(3_600_000 * 13), ZoneInfo("Asia/Kolkata"))
    ['17:30: no events', '18:30: 1 event']
    """
    first = now // HOUR - len(hours) + 1
    began = [datetime.fromtimestamp((first + at) * HOUR / 1000, zone) for at in range(len(hours))]
    return [
        say_many("%(time)s: %(count)s event", "%(time)s: %(count)s events", count, time=f"{at:%H:%M}")
        if count
        else say("%(time)s: no events", time=f"{at:%H:%M}")
        for at, count in zip(began, hours, strict=True)
    ]


async def today(visit: Visit) -> Page:
    overview = overview_of(visit.context)
    hours = await visit.hours.last(visit.now)
    since = await visit.streams.newest_id()
    items, _ = await newest(visit, limit=SHOWN)
    shows = {
        "failing": list(overview.failing.values()),
        "late": overview.matching.says,
        "needs": await needs(visit),
        "sources": overview.sources,
        "states": [(name, SOURCES[name], count) for name, count in overview.sources.states.items() if count],
        "draining": overview.draining,
        "passed": overview.looks.says,
        "hours": hours,
        "labels": labels(hours, visit.now, visit.zone),
        "day": sum(hours),
        "items": items,
        "since": since,
    }
    return Page("today.html", say("Today"), shows)


SCREENS: tuple[Screen, ...] = (Screen(path="/", run=today),)
