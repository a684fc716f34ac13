"""Sign-in by a proxy's header: trusted senders, the person, and the role of the groups.

Only the settings' headers count, and only on a connection from one of `trusted_proxies`; on any other they are removed
before anything reads them. A header that arrives twice is refused: one of the two may be the client's. A session of
such a person counts only together with the header, and ends with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, cast, get_args

from msgspec.structs import replace
from quart import Request
from werkzeug.datastructures import Headers

from actors.language.speaking import say
from actors.notification.dialects import one_line
from api.application import Application
from api.dashboard.account.entry import NextQuery
from api.dashboard.face import Gate
from api.dashboard.screen import Reply, Screen, Visit
from api.peers import is_trusted
from api.problems import Refusal
from extras.people.entry import begin, joined
from extras.people.fields import NAME
from extras.people.settings import PeopleSettings
from storage.records.access import Person, Role, Session

ISSUER: Final = "header"
PAGE: Final = "/sign-in/proxy"
_ORDER: Final = ("owner", "editor", "reader")
MOST: Final = 255  # characters of a user's name at the proxy


class Sent(NamedTuple):
    """A person as a proxy names them. role: None if the groups give none."""

    subject: str
    name: str
    email: str
    role: Role | None


def headers_of(settings: PeopleSettings) -> tuple[str, ...]:
    named = (settings.auth_header, settings.auth_header_name, settings.auth_header_email, settings.auth_header_groups)
    return tuple(name for name in named if name)


def role_of(groups: str, roles: Mapping[str, Role], default: str) -> Role | None:
    """Return the highest role of a list of groups.

    >>> role_of("staff, admins", {"admins": "owner", "staff": "reader"}, ""), role_of("x", {}, "")
    ('owner', None)
    """
    found = {roles[name] for one in groups.replace("|", ",").split(",") if (name := one.strip()) in roles}
    best = next((one for one in _ORDER if one in found), default)
    return cast(Role, best) if best in get_args(Role) else None


def roles_in(settings: PeopleSettings) -> Mapping[str, Role]:
    pairs = (text.rpartition("=") for text in settings.auth_roles)
    return {group.strip(): cast(Role, role.strip()) for group, _, role in pairs}


def sent(headers: Headers, settings: PeopleSettings) -> Sent | None:
    """Return the person that a trusted proxy names, None if it names none. Raises Refusal (403)."""
    values = {name: headers.getlist(name) for name in headers_of(settings)}
    if any(len(found) > 1 for found in values.values()):
        raise Refusal("forbidden", say("A sign-in header arrived twice. The proxy must replace those of its clients."))
    texts = {name: _decoded(found[0]) for name, found in values.items() if found}
    subject = texts.get(settings.auth_header, "")
    if not subject:
        return None
    if len(subject) > MOST or not subject.isprintable():
        raise Refusal("forbidden", say("The proxy sent a user name that cannot be one."))
    name = one_line(texts.get(settings.auth_header_name, ""))[:NAME]
    email = texts.get(settings.auth_header_email, "").lower()
    role = role_of(texts.get(settings.auth_header_groups, ""), roles_in(settings), settings.auth_default_role)
    return Sent(subject, name or subject[:NAME], email if "@" in email else "", role)


def _decoded(value: str) -> str:
    r"""Return a header's text: proxies send UTF-8, HTTP libraries read Latin-1.

    >>> _decoded("\xc3\x85sa"), _decoded("\xc5sa")
    ('Åsa', 'Åsa')
    """
    try:
        return value.encode("latin-1").decode().strip()
    except UnicodeError:
        return value.strip()


def gate(app: Application) -> Gate | None:
    settings = app.context.settings.of(PeopleSettings)
    if not settings.auth_header:
        return None
    accounts = app.context.storage.accounts

    async def check(request: Request, session: Session | None) -> str | None:
        if not is_trusted((request.scope.get("client") or ("", 0))[0], app.proxies):
            for name in headers_of(settings):
                request.headers.pop(name, None)
        named = sent(request.headers, settings)
        if session is None:
            return None if named is None else PAGE
        person = await accounts.get(session.person) if session.person else None
        if person is None or person.issuer != ISSUER:
            return None
        if named is None or named.subject != person.subject:
            return PAGE if named is not None else "/sign-in"
        return None if named.role == person.role else PAGE

    return check


async def sign_in(visit: Visit) -> Reply:
    """Sign in the person in the header. Makes the person at the first visit, and follows role and name."""
    settings, storage = visit.context.settings.of(PeopleSettings), visit.context.storage
    named = sent(visit.headers, settings) if settings.auth_header else None
    if not settings.auth_header:
        raise Refusal("not-found", say("There is no such page."))
    if named is None:
        raise Refusal("forbidden", say("No proxy has named you. Open the service through its proxy."))
    person = await storage.accounts.by_subject(ISSUER, named.subject)
    if named.role is None:
        if person is not None and not person.disabled:
            await _follow(visit, person, replace(person, role="reader"))
            for session in await storage.people.sessions():
                if session.person == person.id:
                    await storage.people.sign_out(session.id)
        raise Refusal("forbidden", say("Your groups give no role here. Ask an owner of this service."))
    if person is None:
        person = await _made(visit, named, named.role)
    email = named.email or person.email
    taken = await storage.accounts.by_email(email)
    changed = replace(person, name=named.name, role=named.role)
    if taken is None or taken.id == person.id:
        changed = replace(changed, email=email)
    if changed != person:
        await _follow(visit, person, changed)
    return await begin(visit, changed, visit.query.next)


async def _follow(visit: Visit, person: Person, changed: Person) -> None:
    """Store the role and name that the proxy gives. It may also demote the last owner: the proxy decides."""
    await visit.context.storage.accounts.change(changed, password_set=True)
    visit.context.world.log("people.changed", person=person.id, role=changed.role, disabled=changed.disabled)


async def _made(visit: Visit, named: Sent, role: Role) -> Person:
    accounts, world = visit.context.storage.accounts, visit.context.world
    person = Person(
        id=world.new_id(),
        name=named.name,
        email=named.email if await accounts.by_email(named.email) is None else "",
        role=role,
        created_at=visit.now,
        issuer=ISSUER,
        subject=named.subject,
    )
    if not await accounts.add(person):  # at the same moment, another request of the same browser added it
        return await accounts.by_subject(ISSUER, named.subject) or person
    await joined(visit, person)
    return person


SCREENS: tuple[Screen, ...] = (Screen(path=PAGE, run=sign_in, access="anyone", query=NextQuery),)
