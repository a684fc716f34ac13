"""Devices in Settings: this browser subscribes to an alert's matches; the list of subscribed browsers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated

import trio
from msgspec import Meta

from actors.egress.failures import CheckFailed
from actors.errors import DomainError, Unprocessable, UrlRefused
from actors.language.sentences import translated
from actors.language.speaking import language, say, say_many
from api.dashboard.account.settings import in_words, show
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.notifying.destinations import alert_choices, standings
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.fields.alerts import Name
from api.fields.destinations import NewDestination
from api.nouns import alerts, destinations
from api.problems import Refusal
from storage.errors import STANDSTILL
from storage.records.destination import WEBPUSH, Destination

MOST_DEVICES = 50  # devices to list, the newest first
_MARK = 32


class NewDevice(Form, frozen=True):
    """A browser's subscription to an alert's matches."""

    alert: str = ""
    label: Name | None = None
    url: Annotated[str, Meta(max_length=2048)] = ""
    p256dh: Annotated[str, Meta(max_length=200)] = ""
    auth: Annotated[str, Meta(max_length=200)] = ""


class EndedDevice(Form, frozen=True):
    """The endpoint of a browser to remove."""

    url: Annotated[str, Meta(max_length=2048)]


async def devices(visit: Visit) -> Page:
    """Show the devices. mark: a hash, by which a browser knows its own. key: for a subscription, "" for none."""
    told = [each for each in await visit.context.storage.alerts.destinations() if each.kind == WEBPUSH]
    told.sort(key=lambda each: (each.created_at, each.id), reverse=True)
    shown = told[:MOST_DEVICES]
    marked = zip(await standings(visit, shown), map(mark_of, [each.address for each in shown]), strict=True)
    shows = {
        "key": await _key(visit),
        "choices": await alert_choices(visit),
        "listed": [{"standing": standing, "mark": mark} for standing, mark in marked],
        "total": len(told),
        "name": in_words(visit.headers.get("User-Agent", "")),
    }
    return Page("settings/devices.html", "", shows)


async def _key(visit: Visit) -> str:
    enrol = visit.context.kinds[WEBPUSH].enrol
    assert enrol is not None
    try:
        return await enrol()
    except (CheckFailed, *STANDSTILL):  # the disk may be full; the other settings still work
        return ""


def mark_of(endpoint: str) -> str:
    return hashlib.sha256(endpoint.encode()).hexdigest()[:_MARK]


async def add_device(visit: Visit) -> Go:
    form: NewDevice = visit.form
    if not form.url:
        raise InvalidForm(say("The browser did not register for notifications. This needs JavaScript."))
    if not form.alert:
        raise InvalidForm(alert=say("Choose the alert whose matches are shown."))
    alert = await alerts.named(visit, form.alert)
    made = await _told(visit, form)
    says = say("%(name)s now gets the matches of “%(alert)s”.", name=made.label, alert=alert.name)
    failure = await _tested(visit, made)
    if failure:
        failed = say("The test notification failed: %(reason)s.", reason=failure)
        return Go(f"/destinations/{made.id}", f"{says} {failed}", bad=True)
    return Go("/settings", f"{says} {say('A test notification is on its way.')}")


async def _told(visit: Visit, form: NewDevice) -> Destination:
    """Return the device's destination, created or updated with the browser's data."""
    options = {"p256dh": form.p256dh, "auth": form.auth, "language": language()}
    there = next((each for each in await _of(visit, form.url) if each.alert_id == form.alert), None)
    try:
        if there is None:
            new = NewDestination(url=form.url, kind=WEBPUSH, options={**options}, label=form.label)
            return (await destinations.add(visit, form.alert, new)).destination
        label = there.label if form.label is None else form.label
        return await destinations.change(visit, there.id, {"options": options, "label": label, "enabled": True})
    except (UrlRefused, Unprocessable) as error:
        reason = translated(error.detail)
        raise InvalidForm(say("The browser's registration is not usable: %(reason)s", reason=reason)) from None


async def _tested(visit: Visit, made: Destination) -> str:
    try:
        found = await destinations.test(visit, made.id)
    except trio.TooSlowError:
        return say("no answer")
    except (DomainError, Refusal) as error:
        return translated(error.detail)
    return "" if found.result == "sent" else translated(found.detail or "").removesuffix(".")


async def end_device(visit: Visit) -> Go:
    form: EndedDevice = visit.form
    told = await _of(visit, form.url)
    for each in told:
        await destinations.delete(visit, each.id)
    says = say_many(
        "This device gets no more notifications: %(count)s destination is deleted.",
        "This device gets no more notifications: %(count)s destinations are deleted.",
        len(told),
    )
    return Go("/settings", says if told else say("This device gets no more notifications."))


async def _of(visit: Visit, endpoint: str) -> Sequence[Destination]:
    everyone = await visit.context.storage.alerts.destinations()
    return [each for each in everyone if each.kind == WEBPUSH and each.address == endpoint]


SCREENS: tuple[Screen, ...] = (
    post("/settings/devices", add_device, NewDevice, show, scope="alerts:write"),
    post("/settings/devices/end", end_device, EndedDevice, show, scope="alerts:write"),
)
