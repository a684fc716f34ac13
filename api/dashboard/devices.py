"""Devices with Web Push: add or remove this one, and the list in Settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import trio
from msgspec import Meta

from actors.egress.failures import LookFailed
from actors.errors import DomainError, Unprocessable, UrlRefused
from api.dashboard.destinations.choices import alert_choices
from api.dashboard.destinations.standing import Standing, standings
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import language, say, say_many
from api.dashboard.screen import Go, Visit
from api.operations import alerts, destinations
from api.problems import Refusal
from api.schemas import alerts as wire
from storage.errors import STANDSTILL
from storage.records.destination import WEBPUSH, Destination

SHOWN = 50
"""Devices to list, the newest first."""
_MARK = 32


class Device(NamedTuple):
    """A device. mark: a hash of its endpoint, so that its own browser recognises it."""

    standing: Standing
    mark: str


class Devices(NamedTuple):
    """The devices in Settings. key: for a browser's subscription, "" if none can be made now."""

    key: str
    choices: Sequence[tuple[str, str]]
    listed: Sequence[Device]
    total: int


class NewDevice(Form, frozen=True):
    """A browser's subscription to an alert's matches."""

    alert: str = ""
    label: wire.Name | None = None
    url: Annotated[str, Meta(max_length=2048)] = ""
    p256dh: Annotated[str, Meta(max_length=200)] = ""
    auth: Annotated[str, Meta(max_length=200)] = ""


class EndedDevice(Form, frozen=True):
    """The endpoint of a browser to remove."""

    url: Annotated[str, Meta(max_length=2048)]


async def devices(visit: Visit) -> Devices:
    told = [each for each in await visit.context.storage.alerts.destinations() if each.kind == WEBPUSH]
    told.sort(key=lambda each: (each.created_at, each.id), reverse=True)
    listed = [Device(each, mark_of(each.destination.address)) for each in await standings(visit, told[:SHOWN])]
    return Devices(await _key(visit), await alert_choices(visit), listed, len(told))


async def _key(visit: Visit) -> str:
    enrol = visit.context.kinds[WEBPUSH].enrol
    assert enrol is not None
    try:
        return await enrol()
    except (LookFailed, *STANDSTILL):  # the disk may be full; the other settings still work
        return ""


def mark_of(endpoint: str) -> str:
    """Return the mark of a device. The script computes the same from its endpoint."""
    return hashlib.sha256(endpoint.encode()).hexdigest()[:_MARK]


async def begin(visit: Visit) -> Go:
    """Send an alert's matches to a device, and a test now."""
    form: NewDevice = visit.form
    if not form.url:
        raise Wrong(say("The browser gave nothing to tell it by. JavaScript is needed for it."))
    if not form.alert:
        raise Wrong(alert=say("Choose the alert whose matches are shown."))
    alert = await alerts.named(visit, form.alert)
    made = await _told(visit, form)
    says = say("%(name)s is told of what “%(alert)s” matches from now on.", name=made.label, alert=alert.name)
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
            wanted = wire.NewDestination(url=form.url, kind=WEBPUSH, options={**options}, label=form.label)
            return (await destinations.add(visit, form.alert, wanted)).destination
        label = there.label if form.label is None else form.label
        patch = wire.DestinationPatch(options={**options}, label=label, enabled=True)
        return await destinations.change(visit, there.id, patch)
    except (UrlRefused, Unprocessable) as error:
        reason = translated(error.detail)
        raise Wrong(say("What the browser gave can't be used: %(reason)s", reason=reason)) from None


async def _tested(visit: Visit, made: Destination) -> str:
    """Send a test; return why it failed, or ""."""
    try:
        found = await destinations.test(visit, made.id)
    except trio.TooSlowError:
        return say("no answer")
    except (DomainError, Refusal) as error:
        return translated(error.detail)
    return "" if found.result == "sent" else translated(found.detail or "").removesuffix(".")


async def end(visit: Visit) -> Go:
    """Remove a device from all alerts."""
    form: EndedDevice = visit.form
    told = await _of(visit, form.url)
    for each in told:
        await destinations.delete(visit, each.id)
    says = say_many(
        "This device is told no more: %(count)s destination is deleted.",
        "This device is told no more: %(count)s destinations are deleted.",
        len(told),
    )
    return Go("/settings", says if told else say("This device is told no more."))


async def _of(visit: Visit, endpoint: str) -> Sequence[Destination]:
    everyone = await visit.context.storage.alerts.destinations()
    return [each for each in everyone if each.kind == WEBPUSH and each.address == endpoint]
