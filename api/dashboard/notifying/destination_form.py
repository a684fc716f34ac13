"""The form of a destination: its fields, a preview of its messages, adding and changing it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, NamedTuple
from zoneinfo import available_timezones

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.destination_kinds.fields import LANGUAGE, MESSAGE, MESSAGE_FIELDS, MESSAGE_TITLE, AddressField, KindField
from actors.destination_kinds.kind import DestinationKind
from actors.errors import DomainError
from actors.language.catalogues import languages
from actors.language.sentences import translated
from actors.language.speaking import noted, say, translated_rows
from actors.messages.declaring import Declared, made_of, mirrored, part_of
from actors.messages.views import TestResult
from actors.notification.message_template import OF_EVENTS, OF_MESSAGES
from api.dashboard.forms import Form, InvalidForm, draft_of
from api.dashboard.screen import Go, Page, Run, Visit
from api.dashboard.starting import BIN, signing_secret
from api.fields import destinations as wire
from api.nouns import alerts, bins, deliveries, destinations
from api.nouns.deliveries import MessagePreviewRequest
from api.nouns.sources import private_sources
from api.problems import Refusal
from storage.records.alert import Alert
from storage.records.bin import Capture
from storage.records.destination import ADDRESS, WEBHOOK, WEEKDAYS, Destination, QuietHours, Weekday
from storage.records.revision import revision_of

MODES = (
    ("instant", noted("At once, each event by itself")),
    ("15min", noted("Every 15 minutes, in one digest")),
    ("hourly", noted("Every hour, in one digest")),
    ("daily", noted("Every day, in one digest")),
)
FORMATS = (
    ("event", noted("The event or digest itself")),
    ("cloudevents", noted("In an envelope of CloudEvents 1.0.2")),
)
FAMILIES = (
    ("program", noted("A program")),
    ("chat", noted("A chat")),
    ("phone", noted("A phone")),
    ("on-call", noted("On call")),
    ("mail", noted("Mail")),
)
_EXCERPT: Final = 300
MOST_BODY = 6_000
"""Characters of a body to show, and to put into a command."""
CHOICES = 200
"""Alerts to choose from, the newest first."""


async def alert_choices(visit: Visit) -> list[tuple[str, str]]:
    every: Sequence[Alert] = await visit.context.storage.alerts.all()
    found = sorted(every, key=lambda each: each.created_at, reverse=True)
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
    quiet_days: tuple[Weekday, ...] = ()


class NewDestinationForm(DestinationForm, frozen=True, kw_only=True):
    """A new destination. `url` may be missing for a new bin, or if the kind has a default."""

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
    found: dict[str, str | None] = dict(form.options)
    for each in fields:
        if each.name not in found and (not each.private or each.name in form.taken):
            found[each.name] = None
    return found


def address_of(form: NewDestinationForm, address: AddressField) -> str | UnsetType | None:
    """Return the form's address, or None for a new bin. Raises InvalidForm if it is missing."""
    if form.deliver == "bin":
        return None
    if form.url is not None:
        return form.url
    if not address.default:
        needed = say("Fill in this field, or choose a new bin.") if form.kind == WEBHOOK else say("Fill in this field.")
        raise InvalidForm(url=needed)
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


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill."""

    alert: Annotated[str, Meta(max_length=40)] = ""
    kind: Annotated[str, Meta(max_length=40)] = ""
    url: Annotated[str, Meta(max_length=2048)] = ""


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    wanted = visit.draft.value("alert") or query.alert
    alert = await visit.context.storage.alerts.get(wanted) if wanted else None
    zone = visit.zone.key
    kind = visit.context.kinds.get(visit.draft.value("kind") or query.kind or WEBHOOK)
    start = NewDestinationForm(
        url=query.url or (kind and kind.address.default) or None,
        digest_timezone=zone,
        quiet_timezone=zone,
        quiet_days=WEEKDAYS,
    )
    kinds = visit.context.kinds
    more = {
        "alert": alert,
        "included": alert and (await private_sources(visit, alert.scope, alert.has_left))["included"],
        "grid": not query.kind and not visit.draft.given,
        "choices": [] if alert is not None else await alert_choices(visit),
        "families": [(words, [one for one in kinds.values() if one.family == family]) for family, words in FAMILIES],
    }
    title = say("Add a destination")
    if kind is not None and kind.id != WEBHOOK:
        title = say("Add a destination: %(kind)s", kind=translated(kind.label))
    return _page(start, title, kind or kinds[WEBHOOK], **more)


async def try_new(visit: Visit) -> Page:
    form: NewDestinationForm = visit.form
    visit.draft = draft_of(form)
    page = await new(visit)
    return await _tried(visit, page, form.kind, form.alert or None, form)


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
    request = "".join(request_of(one.capture) for one in page.captures)
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
        return Body(
            text[:MOST_BODY], say("These are its first %(count)s characters; the download has all.", count=MOST_BODY)
        )
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
        status, took = str(found.status_code), found.latency_ms
        return say("The test arrived: HTTP %(status)s after %(count)s ms.", status=status, count=took) + said
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
        says = say(
            "The confirmation mail was not sent: %(reason)s. Fix that, then send it again.",
            reason=translated(made.invited.error or ""),
        )
        return Go(there, says, bad=True)
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
        "languages": [("", say("The service's language")), *((one.code, one.name) for one in languages().values())],
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
