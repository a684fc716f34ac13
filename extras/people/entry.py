"""Joining, and opening a session after a password, a proxy or an issuer has identified a person."""

from __future__ import annotations

from msgspec.structs import replace

from actors.language.speaking import say
from api.dashboard.screen import Go, Visit
from api.dashboard.sessions import Sessions, own_path
from api.problems import Refusal
from extras.people.recording import activity_of, difference
from storage.records.access import Password, Person


async def begin(visit: Visit, person: Person, next: str = "/") -> Go:
    """Sign in, end the browser's former session, go to `next`. Raises Refusal (403) if the person may not."""
    storage, world = visit.context.storage, visit.context.world
    present = await storage.accounts.get(person.id)
    if present is None or present.disabled:
        world.log("dashboard.sign_in_refused", level="warning", address=visit.address, person=person.id)
        raise Refusal("forbidden", say("This account is disabled. Ask an owner of this service."))
    sessions = Sessions.of_context(visit.context)
    session, cookie = sessions.begin(visit.headers.get("User-Agent", ""), visit.address)
    await storage.people.open(replace(session, person=present.id, name=present.name, role=present.role))
    if visit.session is not None:
        await storage.people.sign_out(visit.session.id)
    world.log("dashboard.signed_in", address=visit.address, person=present.id)
    visit.attempts.succeeded(visit.address)
    mark = (sessions.remember(known_by(present)),) if present.hashed else ()
    return Go(own_path(next), cookies=(cookie, *mark), who=session.id)


async def joined(visit: Visit, person: Person) -> None:
    shown = {name: getattr(person, name) for name in ("name", "email", "role", "issuer")}
    one = activity_of(visit, visit.screen.label, f"/v1/people/{person.id}", difference(None, shown), person)
    await visit.context.storage.accounts.record(one)
    visit.context.world.log("people.joined", person=person.id, role=person.role)


def known_by(person: Person) -> Password:
    """Return the password that marks a person's browsers as known."""
    return Password(person.hashed, person.created_at)
