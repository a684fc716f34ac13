"""The form of an alert: create it, try it on the last week, change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.errors import DomainError, Stale, UrlRefused
from actors.notices import ALERT_TYPES
from actors.query import languages
from api.dashboard.alerts.form import (
    ABOUT,
    AlertEdit,
    AlertForm,
    NewAlertForm,
    chosen,
    form_of,
    new_alert,
    patch_of,
)
from api.dashboard.alerts.highlights import Fault, fault_of
from api.dashboard.alerts.trying import TrialResult, tried
from api.dashboard.destinations.choices import BIN, MODES, signing_secret
from api.dashboard.forms import Draft, Wrong, draft_of
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import each_said, noted, say, say_many
from api.dashboard.picker import Group, picker, private_choices
from api.dashboard.screen import Go, Page, Visit
from api.operations import alerts, bins, destinations, tag_defaults
from api.problems import Refusal
from api.schemas import alerts as wire
from storage.records.alert import Scope
from storage.records.destination import WEBHOOK
from storage.records.source import tag_of

NOTICES = (
    ("source_quiet", noted("A source has gone quiet"), noted("It used to have news and no longer does.")),
    ("source_recovered", noted("A source is back"), noted("What was told of it before is over.")),
    ("source_failing", noted("A source can't be read"), noted("It has failed for the time below.")),
    (
        "source_reset",
        noted("A source told nearly everything anew"),
        noted("Most of a feed is new at once: it is held back."),
    ),
    (
        "source_moved",
        noted("A page leads elsewhere"),
        noted("Another page stands there now, at another address, and it stays."),
    ),
    ("destination_failing", noted("A destination fails"), noted("Deliveries to it have failed without one success.")),
    (
        "destination_disabled",
        noted("A destination was disabled"),
        noted("After five days of failures, or because it answered 410."),
    ),
    ("watching_stalled", noted("Watching stands still"), noted("Looks that are due do not happen.")),
    ("storage_damaged", noted("The database is damaged"), noted("A backup must be restored.")),
    (
        "heartbeat",
        noted("Heartbeats"),
        noted("At even times, while the service does its work: the setting heartbeat_event says how often."),
    ),
)
AFTER = (
    (0, noted("at once")),
    (900, noted("15 minutes")),
    (3600, noted("an hour")),
    (21600, noted("6 hours")),
    (86400, noted("a day")),
)
assert tuple(name for name, *_ in NOTICES) == ALERT_TYPES


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill: a query, its language, sources, tags."""

    q: Annotated[str, Meta(max_length=4096)] = ""
    language: wire.LanguageCode = "en"
    source: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    tag: Annotated[tuple[str, ...], Meta(max_length=50)] = ()


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    start = NewAlertForm(
        filter_query=query.q,
        language=query.language,
        scope="some" if query.source or query.tag else "all",
        source_ids=query.source,
        tags=tuple(map(tag_of, query.tag)),
        notices=wire.SOURCES_OWN,
        once_per_story=Scope(query.source, query.tag).several,
    )
    return await _page(visit, start)


async def try_new(visit: Visit) -> Page:
    """Show the form as typed, with a trial of its query."""
    return await _tried(visit, visit.form)


async def create(visit: Visit) -> Go:
    """Create an alert, and its first destination if requested."""
    form: NewAlertForm = visit.form
    scope = chosen(form)
    if form.deliver == "url":
        await _check_address(visit, form.url)
    wanted_later = replace(new_alert(form, scope), default_destinations=form.deliver == "later")
    alert = await tag_defaults.add_alert(visit, wanted_later)
    there = f"/alerts/{alert.id}"
    if form.deliver == "person":
        return Go(f"/destinations/new?alert={alert.id}", say("The alert is made. Choose who is told."))
    if form.deliver == "later" and await visit.context.storage.alerts.destinations(alert.id):
        return Go(there, say("The alert is made, and what it matches goes to the destinations of its tags."))
    if form.deliver == "later":
        return Go(there, say("The alert is made. It matches from now on; give it a destination when you like."))
    try:
        url = form.url if form.deliver == "url" else await bins.new_address(visit)
        assert url is not None
        label = BIN if form.deliver == "bin" else None
        wanted = wire.NewDestination(url=url, delivery_mode=form.delivery_mode, label=label)
        made = await destinations.add(visit, alert.id, wanted)
        destination, secret = made.destination, made.secret
    except (Refusal, DomainError) as error:
        says = say("The alert is made, but not its destination: %(reason)s", reason=translated(error.detail))
        asked = {"alert": alert.id} | ({"url": form.url} if form.url else {})
        return Go(f"/destinations/new?{urlencode(asked)}", says, bad=True)
    to = say("a new bin") if form.deliver == "bin" else destination.label
    says = say("The alert is made, and what it matches goes to %(name)s.", name=to)
    return Go(there, says, secret=signing_secret(destination.label, secret))


async def edit(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    return await _page(visit, form_of(alert), alert_id=alert.id, name=alert.name)


async def try_edit(visit: Visit) -> Page:
    """Show the changed form, with a trial of its query."""
    alert = await alerts.named(visit, visit.path["id"])
    return await _tried(visit, visit.form, alert_id=alert.id, name=alert.name)


async def change(visit: Visit) -> Go:
    """Change an alert, unless someone else changed it in the meantime."""
    form: AlertEdit = visit.form
    alert = await alerts.named(visit, visit.path["id"])
    patch = patch_of(form, alert, chosen(form))
    try:
        await alerts.change(visit, alert.id, patch, form.expected, seen=True)
    except Stale:
        raise Wrong(
            say("The alert has been changed in another place since you opened this form. Open it anew.")
        ) from None
    return Go(f"/alerts/{alert.id}", say("Saved. The change holds for the next event."))


async def _check_address(visit: Visit, url: str | None) -> None:
    """Raise Wrong for an invalid address, before anything is created."""
    if url is None:
        raise Wrong(url=say("Where to? Write the address, or choose another way."))
    try:
        await destinations.admitted(visit, destinations.kind_of(visit, WEBHOOK), url)
    except UrlRefused as error:
        raise Wrong(url=translated(error.detail)) from None


async def _tried(visit: Visit, form: AlertForm, **more: Any) -> Page:
    """Show a form with its trial. Other errors in the form can wait until it is saved."""
    visit.draft = draft_of(form)
    try:
        scope = chosen(form)
    except Wrong as error:
        return await _page(visit, form, TrialResult(says=str(error)), **more)
    return await _page(visit, form, await tried(visit, form, scope), **more)


async def _page(
    visit: Visit, form: AlertForm, result: TrialResult | None = None, *, alert_id: str = "", name: str = ""
) -> Page:
    draft = visit.draft
    picked = _texts(draft.given.get("source_ids", ())) if draft.given else form.source_ids
    tags = _texts(draft.given.get("tags", ())) if draft.given else form.tags
    choice = await picker(visit, picked, draft.value("find"))
    shows = {
        "form": form,
        "alert_id": alert_id,
        "name": name,
        "tried": result,
        "fault": _fault(draft),
        "languages": sorted(each_said(languages().items()), key=lambda one: (one[0] != "simple", one[1])),
        "picker": choice,
        "chosen": picked,
        "private": await private_choices(visit, form.private_source_ids),
        "tags": tags,
        "groups": _groups(choice.groups, tags),
        "notices": each_said(NOTICES),
        "after": _after(form.notice_after),
        "modes": each_said(MODES),
        "about": each_said(ABOUT),
        "is_new": isinstance(form, NewAlertForm),
    }
    return Page("alerts/form.html", say("Edit %(name)s", name=name) if alert_id else say("New alert"), shows)


def _groups(known: Sequence[Group], tags: Sequence[str]) -> list[Group]:
    """Return the tags to choose from, including chosen ones that no source has."""
    sizes = {group.tag: group.size for group in known}
    return [*(Group(tag, 0) for tag in tags if tag not in sizes), *known]


def _after(standing: int) -> list[tuple[int, str]]:
    """Return the choices for `notice_after`, including the current value."""
    known = {after: say(words) for after, words in AFTER}
    if standing not in known:
        minutes = standing // 60
        known[standing] = say("%(count)s seconds", count=standing)
        if not standing % 60:
            known[standing] = say_many("%(count)s minute", "%(count)s minutes", minutes)
    return sorted(known.items())


def _fault(draft: Draft) -> Fault | None:
    """Return where a refused form's query is invalid."""
    return fault_of(draft.value("filter_query"), draft.value("language")) if draft.error("filter_query") else None


def _texts(values: Sequence[str | bytes]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
