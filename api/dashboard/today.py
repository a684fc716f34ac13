"""Today: the needs for attention, the latest changes, the overall state; and the first steps.

The first steps change a practice page and show its event, then use it elsewhere. All their forms return to one page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from actors.errors import TooSoon
from actors.language.sentences import translated
from actors.language.speaking import noted, say, say_many
from actors.practice import PracticeKind, kind_of_url
from api.dashboard.drawing.difference import DifferenceLine, LinePiece, lines_of
from api.dashboard.events import changed_in, curl, item_of, items_of
from api.dashboard.forms import Form
from api.dashboard.screen import HOUR, Go, Page, Reply, Screen, Secret, Visit, buttons, post
from api.dashboard.sources.display import shown_as
from api.dashboard.stream import newest
from api.fields.admin import TreeQuery, TreeRow
from api.nouns import admin as system
from api.nouns import keys, practice
from api.nouns.why import event_why
from api.streams.feed import overview_of
from sanderling_client.verify import check_encoded
from storage.records.destination import Destination
from storage.records.event import Event, Stored
from storage.records.identity import Millis
from storage.records.states import DESTINATIONS, HEALTH, PARTS, SOURCES, DestinationState, State

SHOWN = 12
NEEDS = 6
_UNWELL = ("quarantined", "backoff", "failing", "resting")
NONE: Final[Mapping[str, str]] = {}
_CLOSED = noted("Nothing is sent to it any more. Fix the receiver, then resume it. Missed matches can be replayed.")
_UNSEEN = noted("Its secret is lost. Make a new one, give it to the receiver, then resume it.")


class Need(NamedTuple):
    """Something that needs attention: its name, page, state, reason, and next automatic attempt."""

    name: str
    path: str
    state: State
    says: str
    next: str | None = None


def need_of(row: TreeRow, called: Mapping[str, str] = NONE) -> Need | None:
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
    return [_label(f"{at:%H:%M}", count) for at, count in zip(began, hours, strict=True)]


def _label(time: str, count: int) -> str:
    if not count:
        return say("%(time)s: no events", time=time)
    return say_many("%(time)s: %(count)s event", "%(time)s: %(count)s events", count, time=time)


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
        "streams": overview.streams,
        "passed": overview.looks.says,
        "hours": hours,
        "labels": labels(hours, visit.now, visit.zone),
        "day": sum(hours),
        "items": items,
        "since": since,
    }
    return Page("today.html", say("Today"), shows)


PRACTICE_SHOWN, LINES = 6, 12
_event = msgspec.json.Decoder(Event).decode


async def show(visit: Visit) -> Page:
    views = await practice.practice(visit)
    newest = await practice.latest(visit, views, PRACTICE_SHOWN)
    bins = await practice.attached_bins(visit) if views else ()
    source = views[0].source.id if views else ""
    return Page(
        "first_steps/page.html",
        say("First steps"),
        {
            "documents": [{"what": kind_of_url(view.source.url), "view": view} for view in views],
            "noticed": await _noticed(visit, newest[0]) if newest else None,
            "earlier": await items_of(visit, newest[1:]),
            "bin": bins[-1] if bins else None,
            "curl": curl(visit, f"/v1/stream?source={source}", "-N") if source else "",
            "tail": visit.context.world.typed("tail", folder=True),
        },
    )


async def _noticed(visit: Visit, stored: Stored) -> dict[str, Any]:
    event = _event(stored.body)
    verdict = check_encoded(stored.body, await visit.context.jwks())
    why = await event_why(visit, event.id, named=True)
    lines = lines_of(changed_in(event), LINES) or [DifferenceLine("+", (LinePiece(event.title),))]
    said = item_of(stored.body).title
    return {"event": event, "headline": said, "lines": lines, "verdict": verdict, "why": why.says}


PATH = "/first-steps"


class DocumentChangeForm(Form, frozen=True):
    """The document to change."""

    what: PracticeKind = "page"


async def change(visit: Visit) -> Reply:
    """Change a document; the next page shows its event. A second press at once changes nothing, but shows it."""
    try:
        done, stored = await practice.change_and_wait(visit, visit.form.what)
    except TooSoon as error:
        await practice.wait_checked(visit, visit.form.what, error.retry_after)
        return Go(f"{PATH}#noticed", say("Nothing changed: %(reason)s.", reason=translated(error.detail)), bad=True)
    if stored is None:
        late = say("Its event has not arrived yet. Reload this page in a moment.")
        return Go(PATH, f"{translated(done.says)} {late}", bad=True)
    return Go(f"{PATH}#noticed", translated(done.says))


async def make_key(visit: Visit) -> Reply:
    views = await practice.practice(visit, start=True)
    plaintext, key = await keys.make(visit, "First steps", ("stream:read",))
    url = f"{visit.context.settings.public_url()}/v1/stream?source={views[0].source.id}"
    command = f"curl -N -H 'Authorization: Bearer {plaintext}' '{url}'"
    says = say(
        "Its key may read events and nothing else; it is %(prefix)s… among the API keys, where it can be deleted.",
        prefix=key.prefix,
    )
    return Go(PATH, secret=Secret(say("Command with a fresh key"), command, says))


async def wire(visit: Visit) -> Reply:
    bin, _made = await practice.attach_bin(visit)
    if await practice.wait_delivery(visit, bin):
        return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed, and this is the delivery of it."))
    return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed; its delivery is on the way."))


async def end(visit: Visit) -> Reply:
    await practice.end(visit)
    says = say("Practice ended. Its sources, alert and bin are deleted. Its events stay in the log.")
    return Go(PATH, says)


SCREENS: tuple[Screen, ...] = (
    Screen(path="/", run=today),
    Screen(path=PATH, run=show),
    post(f"{PATH}/change", change, DocumentChangeForm, show),
    *buttons(PATH, show, key=make_key, wire=wire, end=end),
)
