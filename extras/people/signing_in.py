"""Signing in with e-mail, password and a code, joining by an invitation, and the second factor in Settings.

A wrong address costs the same hash as a wrong password and gets the same answer, so neither says whether a person
exists. A code is asked for only after the right password.
"""

from __future__ import annotations

from base64 import b32decode, b32encode
from typing import Annotated, ClassVar

import trio
from msgspec import Meta
from msgspec.structs import replace

from actors.language.speaking import noted, say
from actors.notification.dialects import one_line
from api.dashboard.account.entry import SignIn, check_again
from api.dashboard.account.passwords import check_password
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, post
from api.dashboard.sessions import OF_ONE, Sessions, hashed
from api.problems import Refusal
from extras.people import factor as codes
from extras.people.entry import begin, joined, known_by
from extras.people.fields import NAME
from extras.people.operations import JOIN
from storage.records.access import Person

_WRONG = noted("Wrong e-mail, password or code.")
_NO_INVITATION = noted("This invitation is invalid. It works once, for 7 days.")


async def sign_in(visit: Visit) -> Reply:
    """Sign a person in by the core's form. Raises InvalidForm, Refusal (429)."""
    form: SignIn = visit.form
    accounts, world = visit.context.storage.accounts, visit.context.world
    person = await accounts.by_email(form.email)
    if person is not None and (not person.hashed or person.disabled):
        person = None
    known = "" if person is None else Sessions.of_context(visit.context).known(visit.headers, known_by(person))
    async with visit.attempts.one(visit.address, known):
        if person is None:
            await world.passwords.hash(form.password)
            fits = False
        else:
            fits = await world.passwords.fits(form.password, person.hashed)
    if person is None or not fits:
        world.log("dashboard.sign_in_refused", level="warning", address=visit.address)
        raise InvalidForm(password=say(_WRONG))
    await _check_code(visit, person, form.code)
    return await begin(visit, person, form.next)


async def _check_code(visit: Visit, person: Person, code: str) -> None:
    """Check and use up a code, if the person has a second factor. Raises InvalidForm, Refusal (429)."""
    accounts, world = visit.context.storage.accounts, visit.context.world
    stored = await accounts.totp(person.id)
    if stored is None:
        return
    if not code:
        raise InvalidForm(code=say("Enter the code of your app, or a recovery code."))
    verdict = visit.limiter.take(f"code of {person.id}", OF_ONE, trio.current_time())
    if not verdict.admitted:
        wait = str(verdict.retry_after)
        says = say("Too many attempts. Wait %(seconds)s s.", seconds=wait)
        raise Refusal("rate-limited", says, headers={"Retry-After": wait})
    after = codes.used(codes.decoded(stored), code, visit.now)
    if after is None or not await accounts.use_totp(person.id, stored, after.encoded()):
        world.log("dashboard.code_refused", level="warning", address=visit.address, person=person.id)
        raise InvalidForm(code=say("Wrong code. Each code works once; check the clock of your phone."))


class Join(Form, frozen=True):
    """The code of the invitation's link, and the person's own data."""

    verbatim: ClassVar[tuple[str, ...]] = ("password", "again")
    code: Annotated[str, Meta(max_length=500)]
    name: Annotated[str, Meta(max_length=NAME)]
    email: Annotated[str, Meta(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
    password: str
    again: str


async def show_join(visit: Visit) -> Page:
    """Show the form. The server does not see the link's code; a script copies it into the form."""
    return Page("people/join.html", say("Join"), {})


async def join(visit: Visit) -> Reply:
    """Make the person and sign in. One transaction also consumes the invitation."""
    form: Join = visit.form
    check_password(form.password, form.again)
    name, email = one_line(form.name), form.email.lower()
    if not name or not name.isprintable():
        raise InvalidForm(name=say("A name has at least one letter."))
    accounts, world = visit.context.storage.accounts, visit.context.world
    mark = hashed(form.code.rpartition("#")[2].strip())
    invitation = await accounts.invitation(mark, visit.now)
    if invitation is None:
        async with visit.attempts.one(visit.address):
            raise InvalidForm(code=say(_NO_INVITATION))
    if invitation.email not in ("", email):
        raise InvalidForm(email=say("The invitation is for another address."))
    if await accounts.by_email(email) is not None:
        raise InvalidForm(email=say("This address has access already. Sign in instead."))
    person = Person(
        id=world.new_id(),
        name=name,
        email=email,
        role=invitation.role,
        created_at=visit.now,
        hashed=await world.passwords.hash(form.password),
    )
    if not await accounts.add(person, invitation=mark):
        raise InvalidForm(code=say(_NO_INVITATION))
    await joined(visit, person)
    return await begin(visit, person)


class NewFactor(Form, frozen=True):
    """The secret that the page showed, a code that proves the app has it, and the password."""

    verbatim: ClassVar[tuple[str, ...]] = ("present",)
    secret: Annotated[str, Meta(max_length=64)]
    code: Annotated[str, Meta(max_length=40)]
    present: str


class FactorEnd(Form, frozen=True):
    """The password, to remove the second factor."""

    verbatim: ClassVar[tuple[str, ...]] = ("present",)
    present: str


async def panel(visit: Visit) -> Page:
    """Show whether the reader has a second factor. person: None for those who have none here."""
    return Page("people/factor_panel.html", "", {"person": await _own(visit)})


async def _own(visit: Visit) -> Person | None:
    assert visit.session is not None
    person = await visit.context.storage.accounts.get(visit.session.person) if visit.session.person else None
    return person if person is not None and person.hashed else None


async def show_factor(visit: Visit) -> Reply:
    person = await _own(visit)
    if person is None:
        return Go("/settings", say("Only people who sign in by password have a second factor here."), bad=True)
    fresh = b32encode(visit.context.world.entropy(codes.SECRET_BYTES)).decode()
    secret = visit.draft.value("secret", fresh) or fresh
    address = codes.address_of(secret, person.email, "Sanderling")
    return Page("people/factor.html", say("Second factor"), {"secret": secret, "address": address, "person": person})


async def set_factor(visit: Visit) -> Reply:
    form: NewFactor = visit.form
    person = await _own(visit)
    try:
        secret = b32decode(form.secret)
    except ValueError:  # also for letters outside ASCII
        secret = b""
    if person is None or len(secret) != codes.SECRET_BYTES:
        raise InvalidForm(say("Open the page again."))
    await check_again(visit, "present", form.present)
    world = visit.context.world
    shown, marks = codes.recovery_codes(world.entropy(codes.RECOVERY_ENTROPY))
    after = codes.used(codes.Factor(secret), form.code, visit.now)
    if after is None:
        raise InvalidForm(code=say("Wrong code. Each code works once; check the clock of your phone."))
    await visit.context.storage.accounts.set_totp(person.id, replace(after, recovery=marks).encoded())
    world.log("dashboard.factor_set", address=visit.address, person=person.id)
    says = say("Keep these recovery codes where you keep passwords. Each works once, instead of a code.")
    done = say("From now on, signing in needs a code.")
    return Go("/settings", done, secret=Secret(say("Recovery codes"), "\n".join(shown), says))


async def end_factor(visit: Visit) -> Reply:
    person = await _own(visit)
    await check_again(visit, "present", visit.form.present)
    if person is not None:
        await visit.context.storage.accounts.set_totp(person.id, None)
        visit.context.world.log("dashboard.factor_removed", address=visit.address, person=person.id)
    return Go("/settings", say("Signing in needs no code any more."))


SCREENS: tuple[Screen, ...] = (
    Screen(path=JOIN, run=show_join, access="anyone"),
    post(JOIN, join, Join, show_join, access="anyone"),
    Screen(path="/settings/factor", run=show_factor),
    post("/settings/factor", set_factor, NewFactor, show_factor),
    post("/settings/factor/end", end_factor, FactorEnd, show_factor),
)
