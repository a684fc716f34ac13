"""The form of a destination: add, change."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from zoneinfo import available_timezones

from msgspec import Meta, Struct

from actors.destination_kinds.fields import LANGUAGE, MESSAGE, MESSAGE_FIELDS, MESSAGE_TITLE
from actors.destination_kinds.kind import DestinationKind
from actors.errors import DomainError, Stale, UrlRefused
from actors.notification.message_template import OF_EVENTS, OF_MESSAGES
from api.dashboard.destinations.choices import BIN, FAMILIES, FORMATS, MODES, alert_choices, signing_secret
from api.dashboard.destinations.form import (
    DestinationEdit,
    DestinationForm,
    NewDestinationForm,
    address_of,
    form_of,
    new_destination,
    patch_of,
)
from api.dashboard.forms import Wrong, draft_of
from api.dashboard.language.catalogues import languages
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import each_said, noted, say
from api.dashboard.screen import Go, Page, Visit
from api.operations import alerts, bins, destinations
from api.problems import Refusal
from api.schemas.alert_previews import MessagePreviewRequest
from storage.records.destination import WEBHOOK, WEEKDAYS

_DAYS = (
    noted("Monday"),
    noted("Tuesday"),
    noted("Wednesday"),
    noted("Thursday"),
    noted("Friday"),
    noted("Saturday"),
    noted("Sunday"),
)
_OF = {
    "event": noted("Of the newest event"),
    "digest": noted("Of a digest"),
    "sample": noted("Of a sample, as there is no event yet"),
}


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill."""

    alert: Annotated[str, Meta(max_length=40)] = ""
    kind: Annotated[str, Meta(max_length=40)] = WEBHOOK
    url: Annotated[str, Meta(max_length=2048)] = ""


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    wanted = visit.draft.value("alert") or query.alert
    alert = await visit.context.storage.alerts.get(wanted) if wanted else None
    zone = visit.zone.key
    kind = visit.context.kinds.get(visit.draft.value("kind") or query.kind)
    start = NewDestinationForm(
        url=query.url or (kind and kind.address.default) or None,
        digest_timezone=zone,
        quiet_timezone=zone,
        quiet_days=WEEKDAYS,
    )
    choices = [] if alert is not None else await alert_choices(visit)
    families = [
        (words, [each for each in visit.context.kinds.values() if each.family == family]) for family, words in FAMILIES
    ]
    title = say("Add a destination")
    if kind is not None and kind.id != WEBHOOK:
        title = say("Add a destination: %(kind)s", kind=translated(kind.label))
    return _page(
        visit, start, title, kind or visit.context.kinds[WEBHOOK], alert=alert, choices=choices, families=families
    )


async def try_new(visit: Visit) -> Page:
    """Show the form as typed, with a preview of its messages."""
    form: NewDestinationForm = visit.form
    visit.draft = draft_of(form)
    page = await new(visit)
    return await _tried(visit, page, form.kind, form.alert or None, form)


async def create(visit: Visit) -> Go:
    """Add a destination to an alert. The next page shows its secret."""
    form: NewDestinationForm = visit.form
    if not form.alert:
        raise Wrong(alert=say("Choose the alert whose matches go there."))
    alert = await alerts.named(visit, form.alert)
    kind = destinations.kind_of(visit, form.kind)
    try:
        url = address_of(form, kind.address) or await bins.new_address(visit)
        wanted = new_destination(form, url, form.label or (say(BIN) if form.deliver == "bin" else None))
        made = await destinations.add(visit, alert.id, wanted)
    except UrlRefused as error:
        raise Wrong(url=translated(error.detail)) from None
    says = say("What “%(alert)s” matches from now on goes to %(name)s.", alert=alert.name, name=made.destination.label)
    if made.invited is not None and not made.invited.delivered:
        says = say(
            "The question whether it wants these mails was not sent: %(reason)s. Mend that, then ask again.",
            reason=translated(made.invited.error or ""),
        )
        return Go(f"/destinations/{made.destination.id}", says, bad=True)
    if not made.destination.confirmed:
        asked = say(
            "%(name)s was asked whether it wants these mails. Nothing else is sent before it agrees.",
            name=made.destination.label,
        )
        return Go(f"/destinations/{made.destination.id}", asked)
    if not made.secret:
        return Go(f"/destinations/{made.destination.id}", f"{says} {say('Send a test to see it arrive.')}")
    return Go(f"/destinations/{made.destination.id}", says, secret=signing_secret(made.destination.label, made.secret))


async def edit(visit: Visit) -> Page:
    hook = await destinations.named(visit, visit.path["id"])
    return _page(
        visit, form_of(hook), say("Edit %(name)s", name=hook.label), visit.context.kinds.get(hook.kind), hook=hook
    )


async def try_edit(visit: Visit) -> Page:
    """Show the changed form, with a preview of its messages."""
    form: DestinationEdit = visit.form
    hook = await destinations.named(visit, visit.path["id"])
    visit.draft = draft_of(form)
    return await _tried(visit, await edit(visit), hook.kind, hook.alert_id, form)


async def _tried(visit: Visit, page: Page, kind: str, alert_id: str | None, form: DestinationForm) -> Page:
    title, message = (form.options.get(name, "") for name in (MESSAGE_TITLE, MESSAGE))
    asked = MessagePreviewRequest(kind, message, title, alert_id, form.options.get(LANGUAGE, "")[:8])
    try:
        found, says = await destinations.preview(visit, asked), ""
    except (Refusal, DomainError) as error:
        found, says = None, error.detail
    return replace(page, shows={**page.shows, "told": found, "says": says})


async def change(visit: Visit) -> Go:
    """Change a destination, unless someone else changed it in the meantime."""
    form: DestinationEdit = visit.form
    old = await destinations.named(visit, visit.path["id"])
    try:
        kind = visit.context.kinds.get(old.kind)
        patch = patch_of(form, old, () if kind is None else kind.fields)
        await destinations.change(visit, old.id, patch, form.expected)
    except UrlRefused as error:
        raise Wrong(url=translated(error.detail)) from None
    except Stale:
        raise Wrong(say("The destination has been changed in another place meanwhile. Open the form anew.")) from None
    return Go(f"/destinations/{old.id}", say("Saved. It holds for the next delivery."))


def _page(visit: Visit, form: DestinationForm, title: str, kind: DestinationKind | None, **more: object) -> Page:
    shows = {
        "form": form,
        "kind": kind,
        "asked": () if kind is None else [each for each in kind.fields if each not in MESSAGE_FIELDS],
        "templates": MESSAGE_FIELDS if kind is not None and kind.limits else (),
        "languages": [("", say("As the service speaks")), *((one.code, one.name) for one in languages().values())],
        "names": OF_EVENTS | OF_MESSAGES,
        "told": None,
        "says": "",
        "of": _OF,
        "families": (),
        "modes": each_said(MODES),
        "formats": each_said(FORMATS),
        "hours": [(hour, f"{hour:02d}:00") for hour in range(24)],
        "days": [(day, say(name), "") for day, name in zip(WEEKDAYS, _DAYS, strict=True)],
        "zones": sorted(name for name in available_timezones() if "/" in name or name == "UTC"),
        "alert": None,
        "choices": (),
        "hook": None,
    }
    return Page("destinations/form.html", title, {**shows, **more})
