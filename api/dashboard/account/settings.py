"""The settings of the dashboard's user: preferences, password, sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from zoneinfo import available_timezones

from msgspec.structs import replace
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header, parse_cookie

from actors.extras import always_on
from actors.language.catalogues import languages
from actors.language.speaking import noted, say, set_language, translated_rows
from api.dashboard.account.entry import check_again
from api.dashboard.account.passwords import check_password
from api.dashboard.drawing import is_zone, zone_of
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Visit, post, texts
from api.dashboard.sessions import Density, Preferences, Sessions, Theme, spoken_to
from storage.records.access import Password, Session


class NewPassword(Form, frozen=True):
    """The current password, and a new one twice."""

    verbatim: ClassVar[tuple[str, ...]] = ("present", "password", "again")
    present: str
    password: str
    again: str


_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux")


def in_words(agent: str) -> str:
    """Return a readable name of a browser.

    >>> in_words("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    """
    browser = next((name for sign, name in _BROWSERS if f"{sign}/" in agent), "")
    system = next((name for name in _SYSTEMS if name in agent), "").replace("Mac OS", "macOS")
    if browser and system:
        return say("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or agent[:60] or say("(not said)")


class Wishes(Form, frozen=True):
    """Display preferences; empty ones are left to the browser."""

    language: str = ""
    theme: Theme = ""
    density: Density = "comfortable"
    zone: str = ""


_THEMES = (("", noted("Same as the system")), ("light", noted("Light")), ("dark", noted("Dark")))
_DENSITIES = (("comfortable", noted("Comfortable")), ("compact", noted("Compact")))


async def show(visit: Visit) -> Page:
    own = await _own(visit)
    sessions = [(session, in_words(session.agent)) for session in own if session.ends_at > visit.now]
    person = None if not own[0].person else await visit.context.storage.accounts.get(own[0].person)
    shows = {
        "sessions": sessions,
        "person": person,
        "languages": [("", say("Same as the browser")), *((own.code, own.name) for own in languages().values())],
        "themes": translated_rows(_THEMES),
        "densities": translated_rows(_DENSITIES),
        "zones": sorted(name for name in available_timezones() if "/" in name or name == "UTC"),
        "panels": [await extra.panels()["/settings"](visit) for extra in always_on() if "/settings" in extra.panels()],
        "browsers_zone": zone_of(parse_cookie(visit.headers.get("Cookie", "")).get("tz", "")).key,
    }
    return Page("settings/show.html", say("Settings"), shows)


async def wish(visit: Visit) -> Reply:
    form: Wishes = visit.form
    if form.language and form.language not in languages():
        raise InvalidForm(language=say("Choose one from the list."))
    if form.zone and not is_zone(form.zone):
        raise InvalidForm(zone=say("There is no such time zone. Write a name such as Europe/Stockholm."))
    sessions = Sessions.of_context(visit.context)
    kept = Preferences(form.language, form.theme, form.density, form.zone)
    set_language(spoken_to(kept, parse_accept_header(visit.headers.get("Accept-Language", ""), LanguageAccept)))
    return Go("/settings", say("Saved."), cookies=tuple(sessions.keep(*pair) for pair in kept._asdict().items()))


async def _own(visit: Visit) -> Sequence[Session]:
    """Return the reader's sessions, last used first."""
    assert visit.session is not None
    found = await visit.context.storage.people.sessions()
    return [session for session in found if session.person == visit.session.person] or [visit.session]


async def change(visit: Visit) -> Reply:
    form: NewPassword = visit.form
    check_password(form.password, form.again)
    await check_again(visit, "present", form.present)
    storage, world, own = visit.context.storage, visit.context.world, dict[str, str]()
    password = Password(await world.passwords.hash(form.password), visit.now)
    sessions = Sessions.of_context(visit.context)
    session, cookie = sessions.begin(visit.headers.get("User-Agent", ""), visit.address)
    if visit.session is not None and visit.session.person:
        own["person"] = visit.session.person
        person = await storage.accounts.get(visit.session.person)
        # This ends all of the person's sessions.
        changed = person and await storage.accounts.change(replace(person, hashed=password.hashed), password_set=True)
        if person is None or not changed:
            return Go("/sign-in?out=1")
        password = Password(password.hashed, person.created_at)
        await storage.people.open(replace(session, person=person.id))
    else:
        await storage.people.settle(password, session)
    world.log("dashboard.password_changed", address=visit.address, **own)
    says = say("Password changed. All other browsers are signed out.")
    return Go("/settings", says, cookies=(cookie, sessions.remember(password)), who=session.id)


async def end(visit: Visit) -> Reply:
    own = visit.path["id"] in {session.id for session in await _own(visit)}
    ended = own and await visit.context.storage.people.sign_out(visit.path["id"])
    if visit.session is not None and visit.path["id"] == visit.session.id:
        return Go("/sign-in?out=1")
    return Go("/settings", say("Session ended.") if ended else say("The session had already ended."))


async def end_others(visit: Visit) -> Reply:
    assert visit.session is not None
    people = visit.context.storage.people
    for session in await _own(visit):
        if session.id != visit.session.id:
            await people.sign_out(session.id)
    return Go("/settings", say("All other browsers are signed out."))


SCREENS: tuple[Screen, ...] = (
    Screen(path="/settings", run=show, query=texts(alert=40)),
    post("/settings/wishes", wish, Wishes, show),
    post("/settings/password", change, NewPassword, show),
    post("/settings/sessions/{id}/end", end, Form, show),
    post("/settings/sessions/end-others", end_others, Form, show),
)
