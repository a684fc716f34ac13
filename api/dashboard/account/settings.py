"""The settings of the dashboard's user: preferences, devices with Web Push, password, sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar
from zoneinfo import available_timezones

import trio
from msgspec import Meta, Struct
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header, parse_cookie

from actors.egress.failures import LookFailed
from actors.errors import DomainError, Unprocessable, UrlRefused
from actors.language.catalogues import languages
from actors.language.sentences import translated
from actors.language.speaking import each_said, language, noted, say, say_many, speak
from api.dashboard.account.entry import check_again
from api.dashboard.account.passwords import check_password
from api.dashboard.drawing.figures import is_zone, zone_of
from api.dashboard.forms import Form, Wrong
from api.dashboard.notifying.destination_form import alert_choices
from api.dashboard.notifying.destinations import standings
from api.dashboard.screen import Go, Page, Reply, Screen, Visit, post
from api.dashboard.sessions import Density, Preferences, Sessions, Theme, spoken_to
from api.operations import alerts, destinations
from api.problems import Refusal
from api.schemas import alerts as wire
from storage.errors import STANDSTILL
from storage.records.destination import WEBPUSH, Destination
from storage.records.session import Password

MOST_DEVICES = 50
"""Devices to list, the newest first."""
_MARK = 32


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


async def devices(visit: Visit) -> dict[str, Any]:
    """Return the devices in Settings. mark: a hash of a device's endpoint, so that its own browser recognises it. key:
    for a browser's subscription, "" if none can be made now.
    """
    told = [each for each in await visit.context.storage.alerts.destinations() if each.kind == WEBPUSH]
    told.sort(key=lambda each: (each.created_at, each.id), reverse=True)
    shown = told[:MOST_DEVICES]
    marked = zip(await standings(visit, shown), map(mark_of, [each.address for each in shown]), strict=True)
    listed = [{"standing": standing, "mark": mark} for standing, mark in marked]
    return {"key": await _key(visit), "choices": await alert_choices(visit), "listed": listed, "total": len(told)}


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


async def add_device(visit: Visit) -> Go:
    form: NewDevice = visit.form
    if not form.url:
        raise Wrong(say("The browser did not register for notifications. This needs JavaScript."))
    if not form.alert:
        raise Wrong(alert=say("Choose the alert whose matches are shown."))
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
            wanted = wire.NewDestination(url=form.url, kind=WEBPUSH, options={**options}, label=form.label)
            return (await destinations.add(visit, form.alert, wanted)).destination
        label = there.label if form.label is None else form.label
        patch = wire.DestinationPatch(options={**options}, label=label, enabled=True)
        return await destinations.change(visit, there.id, patch)
    except (UrlRefused, Unprocessable) as error:
        reason = translated(error.detail)
        raise Wrong(say("The browser's registration is not usable: %(reason)s", reason=reason)) from None


async def _tested(visit: Visit, made: Destination) -> str:
    """Send a test; return why it failed, or ""."""
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


class NewPassword(Form, frozen=True):
    """The current password, and a new one twice."""

    verbatim: ClassVar[tuple[str, ...]] = ("present", "password", "again")
    present: str
    password: str
    again: str


_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def in_words(agent: str) -> str:
    """Return a readable name of a browser.

    >>> in_words("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    """
    browser = next((name for sign, name in _BROWSERS if f"{sign}/" in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if browser and system:
        return say("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or agent[:60] or say("(not said)")


class Wishes(Form, frozen=True):
    """Display preferences; empty ones are left to the browser."""

    language: str = ""
    theme: Theme = ""
    density: Density = "comfortable"
    zone: str = ""


_THEMES = (("", noted("As the system has it")), ("light", noted("Light")), ("dark", noted("Dark")))
_DENSITIES = (("comfortable", noted("Comfortable")), ("compact", noted("Compact")))


class SettingsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The preselected alert for a device, from the link."""

    alert: Annotated[str, Meta(max_length=40)] = ""


async def show(visit: Visit) -> Page:
    """Show the preferences, the devices, the sessions, and the form for a new password."""
    sessions = [
        (one, in_words(one.agent)) for one in await visit.context.storage.people.sessions() if one.ends_at > visit.now
    ]
    shows = {
        "sessions": sessions,
        "languages": [("", say("As the browser asks for")), *((one.code, one.name) for one in languages().values())],
        "themes": each_said(_THEMES),
        "densities": each_said(_DENSITIES),
        "zones": sorted(name for name in available_timezones() if "/" in name or name == "UTC"),
        "devices": await devices(visit),
        "device_name": in_words(visit.headers.get("User-Agent", "")),
        "browsers_zone": zone_of(parse_cookie(visit.headers.get("Cookie", "")).get("tz", "")).key,
    }
    return Page("settings/show.html", say("Settings"), shows)


async def wish(visit: Visit) -> Reply:
    """Store the display preferences in this browser."""
    form: Wishes = visit.form
    if form.language and form.language not in languages():
        raise Wrong(language=say("Choose one of the list."))
    if form.zone and not is_zone(form.zone):
        raise Wrong(zone=say("There is no such time zone. Write a name such as Europe/Stockholm."))
    sessions = Sessions.of_context(visit.context)
    kept = Preferences(form.language, form.theme, form.density, form.zone)
    speak(spoken_to(kept, parse_accept_header(visit.headers.get("Accept-Language", ""), LanguageAccept)))
    return Go("/settings", say("Saved."), cookies=tuple(sessions.keep(*one) for one in kept._asdict().items()))


async def change(visit: Visit) -> Reply:
    """Change the password. Every session ends, and this browser gets a new one."""
    form: NewPassword = visit.form
    check_password(form.password, form.again)
    await check_again(visit, "present", form.present)
    people, world = visit.context.storage.people, visit.context.world
    password = Password(await world.passwords.hash(form.password), visit.now)
    sessions = Sessions.of_context(visit.context)
    session, cookie = sessions.begin(visit.headers.get("User-Agent", ""), visit.address)
    await people.settle(password, session)
    world.log("dashboard.password_changed", address=visit.address)
    says = say("The password is changed. Every other browser has been signed out.")
    return Go("/settings", says, cookies=(cookie, sessions.remember(password)), who=session.id)


async def end(visit: Visit) -> Reply:
    """End a session. Ending the current one signs out."""
    ended = await visit.context.storage.people.sign_out(visit.path["id"])
    if visit.session is not None and visit.path["id"] == visit.session.id:
        return Go("/sign-in?out=1")
    return Go("/settings", say("The session is ended.") if ended else say("It had ended already."))


async def end_others(visit: Visit) -> Reply:
    assert visit.session is not None
    people = visit.context.storage.people
    for one in await people.sessions():
        if one.id != visit.session.id:
            await people.sign_out(one.id)
    return Go("/settings", say("Every other browser has been signed out."))


SCREENS: tuple[Screen, ...] = (
    Screen(path="/settings", run=show, query=SettingsQuery),
    post("/settings/devices", add_device, NewDevice, show),
    post("/settings/devices/end", end_device, EndedDevice, show),
    post("/settings/wishes", wish, Wishes, show),
    post("/settings/password", change, NewPassword, show),
    post("/settings/sessions/{id}/end", end, Form, show),
    post("/settings/sessions/end-others", end_others, Form, show),
)
