"""Access: the one-time link to set a password, signing in and out, and agreeing to mail.

The page behind a link in a mail has the link's secret as its only credential. Mail programs open links to scan for
viruses, so only a POST changes anything (RFC 8058, 3.1). Mail services post `List-Unsubscribe=One-Click` there.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct, field

from actors.errors import NotFound
from actors.extras import always_on
from actors.language.speaking import noted, say
from api.dashboard.account.passwords import check_password
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Run, Screen, Visit, post
from api.dashboard.sessions import Sessions, hashed, own_path
from api.nouns import destinations
from storage.records.access import Password, SetUpLink
from storage.records.identity import Millis

LINK_LIFE = 3_600_000  # milliseconds until a set-up link expires


class NextQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The page after signing in, and whether the reader has just signed out."""

    next: str = "/"
    out: bool = False


_NOT_GOOD = noted("This code is invalid. A code works once, for an hour, and only the newest one works.")


class SetUp(Form, frozen=True):
    """The code of the link (its end, or the whole link), and a first password, twice."""

    verbatim: ClassVar[tuple[str, ...]] = ("password", "again")
    code: str
    password: str
    again: str


class SignIn(Form, frozen=True):
    """The password, and the next page. email: a person's, "" for the service's own password. code: of an app."""

    verbatim: ClassVar[tuple[str, ...]] = ("password",)
    password: str
    email: Annotated[str, Meta(max_length=254)] = ""
    code: Annotated[str, Meta(max_length=40)] = ""
    next: str = "/"


def new_link(entropy: Callable[[int], bytes], now: Millis) -> tuple[str, SetUpLink]:
    """Return the path and record of a new link. Browsers never send its secret (after `#`), so no log has it."""
    key = urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()
    return f"/set-up#{key}", SetUpLink(hashed(key), now)


async def show_set_up(visit: Visit) -> Page:
    """Show the form for the first password. The server never sees the link's code: a script copies it into the form."""
    good = _good(await visit.context.storage.people.link(), visit.now) is not None
    return Page("entry/set_up.html", say("Set up"), {"good": good, "link": _link(visit)}, 200 if good else 404)


def _link(visit: Visit) -> str:
    """Return the command that makes a set-up link. It names no folder, because strangers can read these pages."""
    return visit.context.world.typed("setup-link")


async def set_up(visit: Visit) -> Reply:
    """Set the password and sign in. One transaction also consumes the link."""
    form: SetUp = visit.form
    check_password(form.password, form.again)
    storage, world = visit.context.storage, visit.context.world
    link = _good(await storage.people.link(), visit.now)
    if link is None or hashed(form.code.rpartition("#")[2].strip()) != link.sha256:
        raise InvalidForm(code=say(_NOT_GOOD))
    password = Password(await world.passwords.hash(form.password), visit.now)
    sessions = Sessions.of_context(visit.context)
    session, cookie = sessions.begin(visit.headers.get("User-Agent", ""), visit.address)
    if not await storage.people.settle(password, session, link=link.sha256):
        raise InvalidForm(code=say(_NOT_GOOD))
    world.log("dashboard.set_up", address=visit.address)
    visit.attempts.succeeded(visit.address)
    return Go("/", cookies=(cookie, sessions.remember(password)))


def _good(link: SetUpLink | None, now: Millis) -> SetUpLink | None:
    """Return a link if it is young enough. After setting the clock back, none is valid for more than twice its life."""
    return link if link is not None and abs(now - link.created_at) < LINK_LIFE else None


async def show_sign_in(visit: Visit) -> Reply:
    back = own_path(visit.query.next if not visit.draft.given else visit.draft.value("next"))
    if visit.session is not None:
        return Go(back)
    storage = visit.context.storage
    people = _by_email() is not None and bool(await storage.accounts.all())
    ready = people or await storage.people.password() is not None
    panels = [await extra.panels()["/sign-in"](visit) for extra in always_on() if "/sign-in" in extra.panels()]
    shows = {"back": back, "ready": ready, "people": people, "out": visit.query.out, "link": _link(visit)}
    shows["panels"] = panels
    return Page("entry/sign_in.html", say("Sign in"), shows)


async def sign_in(visit: Visit) -> Reply:
    form: SignIn = visit.form
    by_email = _by_email()
    if form.email and by_email is not None:
        return await by_email(visit)
    people, world, sessions = visit.context.storage.people, visit.context.world, Sessions.of_context(visit.context)
    password = await people.password()
    async with visit.attempts.one(visit.address, sessions.known(visit.headers, password)):
        fits = password is not None and await world.passwords.fits(form.password, password.hashed)
    if password is None or not fits:
        world.log("dashboard.sign_in_refused", level="warning", address=visit.address)
        raise InvalidForm(password=say("Wrong password."))
    session, cookie = sessions.begin(visit.headers.get("User-Agent", ""), visit.address)
    if not await people.sign_in(session, password):
        raise InvalidForm(password=say("The password has just been changed."))
    if visit.session is not None:
        await people.sign_out(visit.session.id)
    world.log("dashboard.signed_in", address=visit.address)
    visit.attempts.succeeded(visit.address)
    return Go(own_path(form.next), cookies=(cookie, sessions.remember(password)))


def _by_email() -> Run | None:
    return next((extra.sign_in for extra in always_on() if extra.sign_in is not None), None)


async def sign_out(visit: Visit) -> Reply:
    assert visit.session is not None
    await visit.context.storage.people.sign_out(visit.session.id)
    return Go("/sign-in?out=1", cookies=(Sessions.of_context(visit.context).farewell(),))


async def check_again(visit: Visit, field: str, given: str) -> Password:
    """Check the password in an open session, despite strangers' tries. Raises InvalidForm at `field`, Refusal (429)."""
    assert visit.session is not None
    visit.attempts.in_session(visit.session.id)
    present = await visit.context.storage.people.password()
    if visit.session.person:
        person = await visit.context.storage.accounts.get(visit.session.person)
        present = Password(person.hashed, person.created_at) if person is not None and person.hashed else None
    if present is None or not await visit.context.world.passwords.fits(given, present.hashed):
        visit.context.world.log("dashboard.password_refused", level="warning", address=visit.address)
        raise InvalidForm(**{field: say("Wrong password.")})
    return present


MAIL_PATH = "/mail/{id}/{secret}"


class SubscriptionForm(Form, frozen=True, kw_only=True):
    """The choice. `one_click`: a mail service unsubscribes the reader."""

    wish: Literal["", "agree", "stop"] = ""
    one_click: str = field(name="List-Unsubscribe", default="")


async def show_mail(visit: Visit) -> Page:
    title = say("Mail from Sanderling")
    try:
        hook = await destinations.of_link(visit, visit.path["id"], visit.path["secret"])
    except NotFound:
        return Page("entry/mail.html", title, {"stands": "unknown", "about": "", "label": ""}, 404)
    alert = await visit.context.storage.alerts.get(hook.alert_id)
    stands = "asked" if not hook.confirmed else "stopped" if hook.state == "disabled" else "told"
    about = "" if alert is None else alert.name
    return Page("entry/mail.html", title, {"stands": stands, "about": about, "label": hook.label})


async def take_wish(visit: Visit) -> Page:
    wish: SubscriptionForm = visit.form
    id, secret = visit.path["id"], visit.path["secret"]
    with suppress(NotFound):  # the page reports it
        if wish.wish == "agree":
            await destinations.agree(visit, id, secret)
        elif wish.wish == "stop" or wish.one_click == "One-Click":
            await destinations.decline(visit, id, secret)
    return await show_mail(visit)


SCREENS: tuple[Screen, ...] = (
    Screen(path="/set-up", run=show_set_up, access="anyone"),
    post("/set-up", set_up, SetUp, show_set_up, access="anyone"),
    Screen(path="/sign-in", run=show_sign_in, access="anyone", query=NextQuery),
    post("/sign-in", sign_in, SignIn, show_sign_in, access="anyone"),
    post("/sign-out", sign_out, Form),
    Screen(path=MAIL_PATH, run=show_mail, access="link"),
    post(MAIL_PATH, take_wish, SubscriptionForm, show_mail, access="link"),
)
