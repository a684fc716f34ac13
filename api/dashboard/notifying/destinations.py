"""Destinations: the list (those in trouble first), one with its state, outbox and failures, and its buttons.

The form has the fields and a preview of the messages. `deliveries` has the attempts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import urlencode
from zoneinfo import available_timezones

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.destination_kinds.contract import LANGUAGE, MESSAGE, MESSAGE_FIELDS, MESSAGE_TITLE, AddressField, KindField
from actors.destination_kinds.kind import DestinationKind
from actors.errors import DomainError
from actors.language.catalogues import languages
from actors.language.sentences import translated
from actors.language.speaking import noted, say, say_many, translated_rows
from actors.messages.declaring import Declared, made_of, mirrored, part_of
from actors.messages.views import TestResult
from actors.notification.message_template import OF_EVENTS, OF_MESSAGES
from api.dashboard.events import items_by_id
from api.dashboard.forms import Confirm, Form, InvalidForm, draft_of
from api.dashboard.lists import address, chips, part
from api.dashboard.notifying import deliveries as delivery_screens
from api.dashboard.notifying.deliveries import Clock, DeliveriesQuery, causes, clock_of, link, missed, next_of, position
from api.dashboard.screen import Go, Page, Run, Screen, Visit, act, buttons, post, texts
from api.dashboard.starting import BIN, MODE_WORDS, signing_secret
from api.fields import destinations as wire
from api.nouns import alerts, bins, deliveries, destinations
from api.nouns.deliveries import MessagePreviewRequest, ReplayRequest, replay
from api.nouns.sources import private_sources
from api.problems import Refusal
from storage.records import destination as stored
from storage.records.bin import Capture
from storage.records.destination import ADDRESS, KEPT_ATTEMPTS, WEBHOOK, WEEKDAYS, Attempt, Destination, QuietHours
from storage.records.revision import revision_of
from storage.records.source import DESTINATIONS, DestinationState

MODES = (
    *(("instant", noted("At once, each event by itself")), ("15min", noted("Every 15 minutes, in one digest"))),
    *(("hourly", noted("Every hour, in one digest")), ("daily", noted("Every day, in one digest"))),
)
FORMATS = (
    ("event", noted("The event or digest itself")),
    ("cloudevents", noted("In an envelope of CloudEvents 1.0.2")),
)
FAMILIES = (
    *(("program", noted("A program")), ("chat", noted("A chat")), ("phone", noted("A phone"))),
    *(("on-call", noted("On call")), ("mail", noted("Mail"))),
)
_EXCERPT: Final = 300
MOST_BODY = 6_000  # characters of a body to show, and to put into a command
CHOICES = 200  # alerts to choose from, the newest first


async def alert_choices(visit: Visit) -> list[tuple[str, str]]:
    found = sorted(await visit.context.storage.alerts.all(), key=lambda each: each.created_at, reverse=True)
    return [("", say("Choose an alert")), *((alert.id, alert.name) for alert in found[:CHOICES])]


_ELSEWHERE = ("url", "kind", "options", "enabled", "quiet_hours", "most_at_once", "secret", "managed")


@part_of(wire.NewDestination, [name for name in wire.NewDestination.__struct_fields__ if name not in _ELSEWHERE])
class DestinationForm(Form, Declared, frozen=True, kw_only=True):
    """The fields of a destination. quiet: whether it has quiet hours. options: those of its kind."""

    url: wire.HookUrl | None = None
    options: dict[str, str] = field(default_factory=dict)
    digest_timezone: wire.Zone = "UTC"
    most_at_once: wire.AtOnce | None = None
    quiet: Literal["no", "yes"] = "no"
    quiet_from: wire.ClockTime = "22:00"
    quiet_to: wire.ClockTime = "07:00"
    quiet_timezone: wire.Zone = "UTC"
    quiet_days: tuple[stored.Weekday, ...] = ()


class NewDestinationForm(DestinationForm, frozen=True, kw_only=True):
    """A new destination. `url` may be missing for a new test inbox, or if the kind has a default."""

    kind: str = WEBHOOK
    deliver: Literal["bin", "url"] = "url"
    alert: str = ""


class DestinationEdit(DestinationForm, frozen=True, kw_only=True):
    """A change from the revision shown. An empty private value stays as it was, unless `taken` names it."""

    taken: tuple[str, ...] = ()
    revision: str = ""


def _typed(form: DestinationForm) -> dict[str, Any]:
    days = tuple(day for day in WEEKDAYS if day in form.quiet_days) or WEEKDAYS
    quiet = wire.QuietHours(form.quiet_from, form.quiet_to, form.quiet_timezone, days)
    most = {} if form.most_at_once is None else {"most_at_once": form.most_at_once}
    same = mirrored(form, Destination, ("kind", "url", "options", "label", "most_at_once"))
    return same | most | {"quiet_hours": None if form.quiet == "no" else quiet}


def _options(form: DestinationEdit, fields: Sequence[KindField]) -> dict[str, str | None]:
    """Return the changed values: an empty plain value is removed, a private one only if `taken` names it."""
    removed = (one.name for one in fields if not one.private or one.name in form.taken)
    return {**dict.fromkeys(removed), **form.options}


def address_of(form: NewDestinationForm, address: AddressField) -> str | UnsetType | None:
    """Return the form's address, or None for a new test inbox. Raises InvalidForm if it is missing."""
    if form.deliver == "bin":
        return None
    if form.url is not None:
        return form.url
    if not address.default:
        if form.kind == WEBHOOK:
            raise InvalidForm(url=say("Fill in this field, or choose a new test inbox."))
        raise InvalidForm(url=say("Fill in this field."))
    return UNSET


def form_of(hook: Destination) -> DestinationEdit:
    hours = hook.quiet_hours or QuietHours("22:00", "07:00", hook.digest_timezone, WEEKDAYS)
    return made_of(
        DestinationEdit,
        hook,
        url=None if ADDRESS in hook.private_names else hook.url,
        options=dict(hook.options),
        quiet="no" if hook.quiet_hours is None else "yes",
        quiet_from=hours.start,
        quiet_to=hours.end,
        quiet_timezone=hours.timezone,
        quiet_days=hours.weekdays,
        revision=revision_of(hook),
    )


_DAYS = (
    *(noted("Monday"), noted("Tuesday"), noted("Wednesday"), noted("Thursday")),
    *(noted("Friday"), noted("Saturday"), noted("Sunday")),
)
_OF = {
    "event": noted("Of the newest event"),
    "digest": noted("Of a digest"),
    "sample": noted("Of a sample, as there is no event yet"),
}


_UNGUESSABLE = "k3f9x2"  # in the example of a field that anyone who guesses its value can read
NewQuery = texts(alert=40, kind=40, url=2048)  # the fields that a link to the form may fill


async def new(visit: Visit) -> Page:
    query = visit.query
    wanted = visit.draft.value("alert") or query.alert
    alert = await visit.context.storage.alerts.get(wanted) if wanted else None
    zone, kinds = visit.zone.key, visit.context.kinds
    kind = kinds.get(visit.draft.value("kind") or query.kind) or kinds[WEBHOOK]
    url, secret = query.url or kind.address.default or None, visit.context.world.new_id()[-12:]
    names = {one.name: one.example.replace(_UNGUESSABLE, secret) for one in kind.fields if _UNGUESSABLE in one.example}
    start = NewDestinationForm(url=url, options=names, digest_timezone=zone, quiet_timezone=zone, quiet_days=WEEKDAYS)
    more = {
        "alert": alert,
        "included": alert and (await private_sources(visit, alert.scope, alert.has_left))["included"],
        "grid": not query.kind and not visit.draft.given,
        "choices": [] if alert is not None else await alert_choices(visit),
        "families": [(words, [one for one in kinds.values() if one.family == family]) for family, words in FAMILIES],
    }
    title = say("Add a destination")
    if kind.id != WEBHOOK:
        title = say("Add a destination: %(kind)s", kind=translated(kind.label))
    return _page(start, title, kind, **more)


async def try_new(visit: Visit) -> Page:
    form: NewDestinationForm = visit.form
    visit.draft = draft_of(form)
    return await _tried(visit, await new(visit), form.kind, form.alert or None, form)


async def _wanted(visit: Visit, form: NewDestinationForm) -> wire.NewDestination:
    return wire.NewDestination(
        url=address_of(form, destinations.kind_of(visit, form.kind).address) or await bins.new_address(visit),
        kind=form.kind,
        options=dict(form.options),
        label=form.label or (say(BIN) if form.deliver == "bin" else None),
        **_typed(form),
    )


async def test_new(visit: Visit) -> Page:
    form: NewDestinationForm = visit.form
    if form.deliver == "bin":
        return await try_bin(visit)
    if not form.alert:
        raise InvalidForm(alert=say("Choose the alert whose matches go there."))
    found = await destinations.test_unsaved(visit, form.alert, await _wanted(visit, form))
    return await with_sample(visit, new, {"sent": test_words(found), "arrived": found.result == "sent"})


async def try_bin(visit: Visit) -> Page:
    return await with_sample(visit, new, await sample(visit, visit.form.alert))


async def sample(visit: Visit, alert: str = "") -> dict[str, Any]:
    bin = await bins.bins_of(visit).create()
    wanted = wire.NewDestination(url=bins.bins_of(visit).address(bin))
    found = await destinations.test_unsaved(visit, alert, wanted)
    page = await visit.context.storage.bins.captures(bin.id, None, 1, MOST_BODY)
    request = "".join(request_of(capture.capture) for capture in page.captures)
    return {"sent": test_words(found), "arrived": found.result == "sent", "bin": bin.id, "request": request}


class Body(NamedTuple):
    """A body as text. says: why it is hidden or cut, else ""."""

    text: str
    says: str


def shown_body(capture: Capture) -> Body:
    """Return a body for display: JSON indented, other text as it is, nothing for binary data."""
    if not capture.body:
        return Body("", say("There was no body."))
    try:
        text = capture.body.decode()
    except UnicodeDecodeError:
        return Body("", say("This is not UTF-8 text. Download it to view it."))
    cut = say("The stored part is cut.") if capture.truncated else ""
    if len(text) > MOST_BODY:
        says = say("These are its first %(count)s characters; the download has all.", count=MOST_BODY)
        return Body(text[:MOST_BODY], says)
    try:
        return Body(msgspec.json.format(text, indent=2), cut)
    except (msgspec.DecodeError, UnicodeError):
        return Body(text, cut)


def request_of(capture: Capture) -> str:
    """Return a captured request as text: its line, its headers, its body."""
    headers = "".join(f"{name}: {value}\n" for name, value in capture.headers)
    return f"{capture.method} {capture.path}\n{headers}\n{shown_body(capture).text}"


async def with_sample(visit: Visit, form: Callable[[Visit], Awaitable[Page]], sent: dict[str, Any]) -> Page:
    visit.draft = draft_of(visit.form)
    page = await form(visit)
    return replace(page, shows={**page.shows, **sent})


TRIALS: Final[Mapping[str, Run]] = {"preview": try_new, "test": test_new, "bin": try_bin}


def test_words(found: TestResult) -> str:
    said = " " + say("It said: “%(text)s”", text=found.said[:_EXCERPT]) if found.said else ""
    if found.result == "sent":
        status = str(found.status_code)
        arrived = say("The test arrived: HTTP %(status)s after %(count)s ms.", status=status, count=found.latency_ms)
        retried = say_many(
            "%(count)s waiting delivery is retried now.", "%(count)s waiting deliveries are retried now.", found.retried
        )
        return f"{arrived}{said}" + (f" {retried}" if found.retried else "")
    ends = say("It would be retried.") if found.result == "retry" else say("It would not be retried.")
    status = "" if found.status_code is None else f"HTTP {found.status_code}, "
    reason = f" {translated(found.detail or '')}." if found.status_code is None else ""
    failed = say("The test failed: %(status)s%(count)s ms.", status=status, count=found.latency_ms)
    return f"{failed}{reason}{said} {ends}"


async def create(visit: Visit) -> Go:
    form: NewDestinationForm = visit.form
    if not form.alert:
        raise InvalidForm(alert=say("Choose the alert whose matches go there."))
    alert = await alerts.named(visit, form.alert)
    made = await destinations.add(visit, alert.id, await _wanted(visit, form))
    there, name = f"/destinations/{made.destination.id}", made.destination.label
    says = say("New matches of “%(alert)s” go to %(name)s.", alert=alert.name, name=name)
    if made.invited is not None and not made.invited.delivered:
        says = noted("The confirmation mail was not sent: %(reason)s. Fix that, then send it again.")
        return Go(there, say(says, reason=translated(made.invited.error or "")), bad=True)
    if not made.destination.confirmed:
        says = say("%(name)s got a mail asking to confirm. Nothing else is sent before that.", name=name)
        return Go(there, says)
    if not made.secret:
        return Go(there, f"{says} {say('Send a test to see it arrive.')}")
    return Go(there, says, secret=signing_secret(name, made.secret))


async def edit(visit: Visit) -> Page:
    hook = await destinations.named(visit, visit.path["id"])
    kind = visit.context.kinds.get(hook.kind)
    return _page(form_of(hook), say("Edit %(name)s", name=hook.label), kind, hook=hook)


async def try_edit(visit: Visit) -> Page:
    form: DestinationEdit = visit.form
    hook = await destinations.named(visit, visit.path["id"])
    visit.draft = draft_of(form)
    return await _tried(visit, await edit(visit), hook.kind, hook.alert_id, form)


async def _tried(visit: Visit, page: Page, kind: str, alert_id: str | None, form: DestinationForm) -> Page:
    title, message = (form.options.get(name, "") for name in (MESSAGE_TITLE, MESSAGE))
    asked = MessagePreviewRequest(kind, message, title, alert_id, form.options.get(LANGUAGE, "")[:8])
    try:
        found, says = await deliveries.preview(visit, asked), ""
    except (Refusal, DomainError) as error:
        found, says = None, error.detail
    return replace(page, shows={**page.shows, "told": found, "says": says})


async def change(visit: Visit) -> Go:
    form: DestinationEdit = visit.form
    old = await destinations.named(visit, visit.path["id"])
    kind = visit.context.kinds.get(old.kind)
    options = _options(form, () if kind is None else kind.fields)
    wanted = _typed(form) | {"options": options, "label": form.label or old.label}
    if form.url not in (None, old.url):  # an unchanged address is not checked again
        wanted["url"] = form.url
    await destinations.change(visit, old.id, wanted, frozenset((form.revision,)))
    return Go(f"/destinations/{old.id}", say("Saved. It holds for the next delivery."))


def _page(form: DestinationForm, title: str, kind: DestinationKind | None, **more: object) -> Page:
    shows = {
        "form": form,
        "kind": kind,
        "asked": () if kind is None else [each for each in kind.fields if each not in MESSAGE_FIELDS],
        "templates": MESSAGE_FIELDS if kind is not None and kind.limits else (),
        "languages": [
            ("", say("The service's language")),
            *((language.code, language.name) for language in languages().values()),
        ],
        "names": OF_EVENTS | OF_MESSAGES,
        **dict.fromkeys(("told", "alert", "hook")),
        **dict.fromkeys(("sent", "request", "says"), ""),
        **dict.fromkeys(("families", "included", "choices"), ()),
        "grid": False,
        "of": _OF,
        "modes": translated_rows(MODES),
        "formats": translated_rows(FORMATS),
        "hours": [(hour, f"{hour:02d}:00") for hour in range(24)],
        "days": [(day, say(name), "") for day, name in zip(WEEKDAYS, _DAYS, strict=True)],
        "zones": sorted(name for name in available_timezones() if "/" in name or name == "UTC"),
    }
    return Page("destinations/form.html", title, {**shows, **more})


_NAMES = (noted("Mon"), noted("Tue"), noted("Wed"), noted("Thu"), noted("Fri"), noted("Sat"), noted("Sun"))
_DAY_NAMES = dict(zip(WEEKDAYS, _NAMES, strict=True))


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
        rated = rates.get(hook.id, stored.Rates(0.0, 0.0))
        mode = say(MODE_WORDS[hook.delivery_mode])
        if hook.delivery_mode == "daily":
            mode = say("daily at %(time)s (%(zone)s)", time=f"{hook.digest_hour:02d}:00", zone=hook.digest_timezone)
        old = [secret.until for secret in hook.secrets if secret.until is not None and secret.until > visit.now]
        standing = {
            "destination": hook,
            "alert": names.get(hook.alert_id, ""),
            "state": DESTINATIONS[state_of(hook, lines)],
            "mode": mode,
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


def quiet_words(hours: QuietHours | None) -> str:
    """Return quiet hours as text, "" without any.

    >>> quiet_words(QuietHours("22:00", "07:00", "Europe/Stockholm", ("mon", "tue")))
    '22:00 to 07:00 (Europe/Stockholm), Mon, Tue'
    """
    if hours is None:
        return ""
    days = [] if len(hours.weekdays) == len(_DAY_NAMES) else [say(_DAY_NAMES[day]) for day in hours.weekdays]
    span = say("%(start)s to %(end)s (%(zone)s)", start=hours.start, end=hours.end, zone=hours.timezone)
    return ", ".join((span, *days))


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.0), percent(0.004), percent(0.256)
    ('0 %', '< 1 %', '26 %')
    """
    return "< 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"


PAGE = 25
LOOKED_AT = 500  # destinations whose newest attempt decides their order; the rest count as successful


class DestinationsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words in the label or address, a state, and the last id on the previous page."""

    q: Annotated[str, Meta(max_length=200)] = ""
    state: Literal[""] | DestinationState = ""
    after: Annotated[str, Meta(max_length=40)] = ""


async def listing(visit: Visit) -> Page:
    query: DestinationsQuery = visit.query
    hooks = await visit.context.storage.alerts.destinations()
    states = await _states(visit, hooks)
    everyone = ranked(hooks, states)
    fitting = [hook for hook in everyone if fits(hook, states[hook.id], query)]
    page, asked = part(fitting, query.after, PAGE), {"q": query.q, "state": query.state}
    state = say(DESTINATIONS[query.state].word) if query.state else ""
    named = (("q", say("Label or address"), query.q), ("state", say("State"), state))
    shows = {
        "standings": await standings(visit, page.rows),
        "total": len(everyone),
        "chips": chips("/destinations", asked, named),
        "fitting": len(fitting),
        "states": [("", say("all")), *((name, say(state.word)) for name, state in DESTINATIONS.items())],
        "has_alerts": bool(everyone) or bool(await visit.context.storage.alerts.all()),
        "caption": say_many(
            "%(count)s destination, those in trouble first",
            "%(count)s destinations, those in trouble first",
            len(fitting),
        ),
        "next": page.last and address("/destinations", **asked, after=page.last),
        "previous": address("/destinations", **asked) if page.start else "",
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


CLOCKS = 3  # deliveries whose next attempts are shown
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
    found = await destinations.test(visit, visit.path["id"])
    return Go(_path(visit), test_words(found), bad=found.result != "sent")


async def invite(visit: Visit) -> Go:
    found = await destinations.invite(visit, visit.path["id"])
    if found.delivered:
        return Go(_path(visit), say("Confirmation mail sent. Matches are delivered after they confirm."))
    says = say("The confirmation mail was not sent: %(reason)s.", reason=translated(found.error or ""))
    return Go(_path(visit), says, bad=True)


_BOTH = noted("For 24 hours each delivery is signed with both secrets. Give the receiver the new one within that time.")


async def rotate(visit: Visit) -> Go:
    made = await destinations.rotate(visit, visit.path["id"])
    says = say(_BOTH) if made.destination.enabled else say("Give it to the receiver, then resume the destination.")
    return Go(_path(visit), says, secret=signing_secret(made.destination.label, made.secret))


async def resume(visit: Visit) -> Go:
    hook = await destinations.change(visit, visit.path["id"], {"enabled": True})
    says = say("Deliveries resume. You can replay the missed matches below.")
    return Go(_path(visit), says if hook.missed_after is not None else say("Deliveries resume."))


_ONE, _PAUSED = "/destinations/{id}", noted("Paused. Nothing is sent, and new matches are not queued.")
pause = act(_ONE, _PAUSED, destinations.change, {"enabled": False})
decline = act(_ONE, noted("The missed matches stay undelivered."), destinations.change, {"replay_from": None})


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


SCREENS: tuple[Screen, ...] = (
    Screen(path="/destinations", run=listing, query=DestinationsQuery),
    Screen(path="/destinations/new", run=new, query=NewQuery),
    *(post(f"/destinations/{name}", run, NewDestinationForm, new, query=NewQuery) for name, run in TRIALS.items()),
    post("/destinations/new", create, NewDestinationForm, new),
    Screen(path=_ONE, run=one),
    Screen(path=f"{_ONE}/edit", run=edit),
    post(f"{_ONE}/edit", change, DestinationEdit, edit),
    post(f"{_ONE}/preview", try_edit, DestinationEdit, edit),
    *buttons(_ONE, one, test=test, invite=invite, rotate=rotate, resume=resume, pause=pause, decline=decline),
    post(f"{_ONE}/delete", delete, Confirm, one),
    Screen(path=f"{_ONE}/deliveries", run=delivery_screens.deliveries, query=delivery_screens.DeliveriesQuery),
    Screen(path=f"{_ONE}/deliveries/{{number}}", run=delivery_screens.attempt),
    post(f"{_ONE}/replay", again, Replay, delivery_screens.deliveries),
)
