"""Destinations: the list (those in trouble first), one with its state, outbox and failures, and its buttons.

`destination_form` has the form, `deliveries` the attempts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from msgspec import Meta, Struct

from actors.language.sentences import translated
from actors.language.speaking import noted, say, say_many
from api.dashboard.events import items_by_id
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.lists import Chip, address, chips, part
from api.dashboard.notifying import deliveries, destination_form
from api.dashboard.notifying.deliveries import Clock, DeliveriesQuery, causes, clock_of, link, missed, next_of, position
from api.dashboard.notifying.destination_form import DestinationEdit, NewDestinationForm, NewQuery, test_words
from api.dashboard.screen import Go, Page, Screen, Visit, buttons, post
from api.dashboard.starting import MODE_WORDS, signing_secret
from api.nouns import alerts, destinations
from api.nouns.deliveries import ReplayRequest, replay
from storage.records.destination import ADDRESS, KEPT_ATTEMPTS, WEEKDAYS, Attempt, Destination, QuietHours, Rates
from storage.records.states import DESTINATIONS, DestinationState

_NAMES = (noted("Mon"), noted("Tue"), noted("Wed"), noted("Thu"), noted("Fri"), noted("Sat"), noted("Sun"))
_DAYS = dict(zip(WEEKDAYS, _NAMES, strict=True))


async def standings(visit: Visit, hooks: Sequence[Destination]) -> list[dict[str, Any]]:
    """Return destinations as pages show them, in order. Reads the attempts of each, so pass only one page.

    alert: its alert's name. failure: the share of failures among its newest attempts. duplicate: the share of
    deliveries that may have arrived twice, "" for none.
    """
    storage, ids = visit.context.storage, [hook.id for hook in hooks]
    waiting, rates = await storage.outbox.waiting(ids), await storage.outbox.rates(ids)
    names = {alert.id: alert.name for alert in await storage.alerts.all()} if hooks else {}
    found = []
    for hook in hooks:
        lines = await storage.outbox.attempts(hook.id, 1)
        rated = rates.get(hook.id, Rates(0.0, 0.0))
        old = [secret.until for secret in hook.secrets if secret.until is not None and secret.until > visit.now]
        standing = {
            "destination": hook,
            "alert": names.get(hook.alert_id, ""),
            "state": DESTINATIONS[state_of(hook, lines)],
            "mode": mode_words(hook),
            "waiting": waiting.get(hook.id),
            "failure": percent(rated.failure) if lines else "–",
            "duplicate": percent(rated.duplicate) if rated.duplicate else "",
            "tried": bool(lines),
            "next": next_of(hook, waiting.get(hook.id), visit.now),
            "old_secret_until": max(old, default=None),
        }
        found.append(standing)
    return found


def state_of(hook: Destination, lines: Sequence[Attempt]) -> DestinationState:
    """Return a destination's state. lines: newest first."""
    if not hook.confirmed:
        return "unconfirmed"
    if hook.was_enabled is not None:
        return "needs_secret"
    if not hook.enabled:
        return "paused"
    if hook.state != "active":
        return hook.state
    if not lines:
        return "unused"
    return "active" if lines[0].result == "sent" else "last_failed"


def mode_words(hook: Destination) -> str:
    if hook.delivery_mode == "daily":
        return say("daily at %(time)s (%(zone)s)", time=f"{hook.digest_hour:02d}:00", zone=hook.digest_timezone)
    return say(MODE_WORDS[hook.delivery_mode])


def quiet_words(hours: QuietHours | None) -> str:
    """Return quiet hours as text, "" without any.

    >>> quiet_words(QuietHours("22:00", "07:00", "Europe/Stockholm", ("mon", "tue")))
    '22:00 to 07:00 (Europe/Stockholm), Mon, Tue'
    """
    if hours is None:
        return ""
    days = "" if len(hours.weekdays) == len(_DAYS) else ", " + ", ".join(say(_DAYS[day]) for day in hours.weekdays)
    return say("%(start)s to %(end)s (%(zone)s)", start=hours.start, end=hours.end, zone=hours.timezone) + days


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.0), percent(0.004), percent(0.256)
    ('0 %', '< 1 %', '26 %')
    """
    return "< 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"


PAGE = 25
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
    page, here = part(fitting, query.after, PAGE), partial(address, "/destinations", q=query.q, state=query.state)
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
    order = {state: number for number, state in enumerate(_TROUBLE)}
    newest = sorted(hooks, key=lambda hook: (hook.created_at, hook.id), reverse=True)
    return sorted(newest, key=lambda hook: order[states[hook.id]])


_TROUBLE: Final = ("disabled", "failing", "last_failed", "needs_secret", "unconfirmed", "active", "unused", "paused")
assert set(_TROUBLE) == set(DESTINATIONS)


def fits(hook: Destination, state: DestinationState, query: DestinationsQuery) -> bool:
    text = f"{hook.label} {hook.url}".casefold()
    return query.state in ("", state) and all(word in text for word in query.q.casefold().split())


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


class Replay(Form, frozen=True, kw_only=True):
    """The deliveries to repeat: chosen events, or a range. since: an event's id, or a time by the reader's clock."""

    ids: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    since: str = ""
    until: str = ""


async def test(visit: Visit) -> Go:
    there = _path(visit)
    found = await destinations.test(visit, visit.path["id"])
    return Go(there, test_words(found), bad=found.result != "sent")


async def invite(visit: Visit) -> Go:
    found = await destinations.invite(visit, visit.path["id"])
    if found.delivered:
        return Go(_path(visit), say("Confirmation mail sent. Matches are delivered after they confirm."))
    says = say("The confirmation mail was not sent: %(reason)s.", reason=translated(found.error or ""))
    return Go(_path(visit), says, bad=True)


async def rotate(visit: Visit) -> Go:
    made = await destinations.rotate(visit, visit.path["id"])
    says = say(
        "For 24 hours each delivery is signed with both secrets. Give the receiver the new one within that time."
    )
    if not made.destination.enabled:
        says = say("Give it to the receiver, then resume the destination.")
    return Go(_path(visit), says, secret=signing_secret(made.destination.label, made.secret))


async def resume(visit: Visit) -> Go:
    hook = await destinations.change(visit, visit.path["id"], {"enabled": True})
    says = say("Deliveries resume. You can replay the missed matches below.")
    return Go(_path(visit), says if hook.missed_after is not None else say("Deliveries resume."))


async def pause(visit: Visit) -> Go:
    await destinations.change(visit, visit.path["id"], {"enabled": False})
    return Go(_path(visit), say("Paused. Nothing is sent, and new matches are not queued."))


async def decline(visit: Visit) -> Go:
    await destinations.change(visit, visit.path["id"], {"replay_from": None})
    return Go(_path(visit), say("The missed matches stay undelivered."))


async def delete(visit: Visit) -> Go:
    hook = await destinations.named(visit, visit.path["id"])
    visit.form.check_deletion()
    await destinations.delete(visit, hook.id)
    return Go("/destinations", say("%(name)s and its waiting deliveries are deleted.", name=hook.label))


async def again(visit: Visit) -> Go:
    form: Replay = visit.form
    if not form.ids and not form.since:
        raise InvalidForm(say("Choose deliveries, or a start time."))
    wanted = ReplayRequest(ids=form.ids)
    if not form.ids:
        until = position(form.until, visit.zone, "until") if form.until else None
        wanted = ReplayRequest(since=position(form.since, visit.zone, "since"), until=until)
    answer = await replay(visit, visit.path["id"], wanted)
    there = f"{_path(visit)}/deliveries"
    says = say_many(
        "%(count)s delivery waits again, with its old id.",
        "%(count)s deliveries wait again, with their old ids.",
        answer.queued,
    )
    if not answer.queued:
        says = say("Nothing was added: there was no match in it, or it waits already.")
    if answer.next_since is None:
        return Go(there, says)
    rest = {"since": answer.next_since} | ({"until": form.until} if form.until else {})
    return Go(f"{there}?{urlencode(rest)}#replay", f"{says} {say('There are more; continue below.')}")


def _path(visit: Visit) -> str:
    return f"/destinations/{visit.path['id']}"


_ONE = "/destinations/{id}"
SCREENS: tuple[Screen, ...] = (
    Screen(path="/destinations", run=listing, query=DestinationsQuery),
    Screen(path="/destinations/new", run=destination_form.new, query=NewQuery),
    *(
        post(f"/destinations/{name}", run, NewDestinationForm, destination_form.new, query=NewQuery)
        for name, run in destination_form.TRIALS.items()
    ),
    post("/destinations/new", destination_form.create, NewDestinationForm, destination_form.new),
    Screen(path=_ONE, run=one),
    Screen(path=f"{_ONE}/edit", run=destination_form.edit),
    post(f"{_ONE}/edit", destination_form.change, DestinationEdit, destination_form.edit),
    post(f"{_ONE}/preview", destination_form.try_edit, DestinationEdit, destination_form.edit),
    *buttons(_ONE, one, test=test, invite=invite, rotate=rotate, resume=resume, pause=pause, decline=decline),
    post(f"{_ONE}/delete", delete, Confirm, one),
    Screen(path=f"{_ONE}/deliveries", run=deliveries.deliveries, query=deliveries.DeliveriesQuery),
    Screen(path=f"{_ONE}/deliveries/{{number}}", run=deliveries.attempt),
    post(f"{_ONE}/replay", again, Replay, deliveries.deliveries),
)
