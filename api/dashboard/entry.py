"""The way in: the one-time link with which a password is set, signing in, signing out."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import ClassVar

import trio
from msgspec import Struct

from api.dashboard.forms import Form, Wrong
from api.dashboard.screen import Go, Page, Reply, Screen, Visit
from api.dashboard.sessions import Sessions, hashed, own_path
from api.problems import Refusal
from api.ratelimit import Limit, neighbourhood
from storage.records.identity import Millis
from storage.records.session import Password, SetUpLink

SHORTEST = 10
LONGEST = 1_024
FEWEST_KINDS = 5
"""Different characters of a password."""
OF_ADDRESS = Limit(1 / 30, 5)
"""Attempts to sign in from one address."""
OF_ALL = Limit(1 / 3, 30)
"""Attempts to sign in from everywhere: each costs a tenth of a second and 64 MiB."""


class LinkQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The secret of the one-time link."""

    key: str = ""


class NextQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to go on after signing in; whether somebody has just signed out."""

    next: str = "/"
    out: bool = False


class SetUp(Form, frozen=True):
    """A first password, twice."""

    verbatim: ClassVar[tuple[str, ...]] = ("password", "again")
    password: str
    again: str
    key: str


class SignIn(Form, frozen=True):
    """The password, and where to go on."""

    verbatim: ClassVar[tuple[str, ...]] = ("password",)
    password: str
    next: str = "/"


def new_link(entropy: Callable[[int], bytes], now: Millis) -> tuple[str, SetUpLink]:
    """Return the path of a new one-time link, and what is kept of it."""
    key = urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()
    return f"/set-up?key={key}", SetUpLink(hashed(key), now)


def check_password(password: str, again: str) -> None:
    """Refuse a password that is easily guessed, or was typed in two ways. Raises Wrong."""
    if len(password) < SHORTEST:
        raise Wrong(
            password=f"At least {SHORTEST} characters. A sentence of four words or more is strong, and easily kept."
        )
    if len(password) > LONGEST:
        raise Wrong(password=f"At most {LONGEST} characters.")
    if len(set(password)) < FEWEST_KINDS:
        raise Wrong(password="Too few different characters.")  # noqa: S106 - words about one
    if password != again:
        raise Wrong(again="The two are not the same.")


async def show_set_up(visit: Visit) -> Page:
    """Show the form for the first password, or what to do when the link is not good."""
    key = visit.query.key or visit.draft.value("key")
    link = await visit.doors.storage.people.link()
    good = link is not None and hashed(key) == link.sha256
    return Page("entry/set_up.html", "Set up", {"good": good, "key": key if good else ""}, 200 if good else 404)


async def set_up(visit: Visit) -> Reply:
    """Set the password and sign in. The link is used up by it, in one transaction."""
    form: SetUp = visit.form
    check_password(form.password, form.again)
    storage, world = visit.doors.storage, visit.doors.world
    link = await storage.people.link()
    if link is None or hashed(form.key) != link.sha256:
        raise Refusal("not-found", "This link has been used, or another has taken its place.")
    password = Password(await world.passwords.hash(form.password), visit.now)
    session, cookie = Sessions.of_doors(visit.doors).begin(visit.headers.get("User-Agent", ""), visit.address)
    if not await storage.people.settle(password, session, link=link.sha256):
        raise Refusal("not-found", "This link has been used, or another has taken its place.")
    world.log("dashboard.set_up", address=visit.address)
    return Go("/", cookies=(cookie,))


async def show_sign_in(visit: Visit) -> Reply:
    """Show the form for the password."""
    back = own_path(visit.query.next if not visit.draft.given else visit.draft.value("next"))
    if visit.session is not None:
        return Go(back)
    ready = await visit.doors.storage.people.password() is not None
    return Page("entry/sign_in.html", "Sign in", {"back": back, "ready": ready, "out": visit.query.out})


async def sign_in(visit: Visit) -> Reply:
    """Open a session for who knows the password."""
    form: SignIn = visit.form
    take_attempt(visit)
    people, world = visit.doors.storage.people, visit.doors.world
    password = await people.password()
    if password is None or not await world.passwords.fits(form.password, password.hashed):
        world.log("dashboard.sign_in_refused", level="warning", address=visit.address)
        raise Wrong(password="That is not the password.")  # noqa: S106 - words about one
    session, cookie = Sessions.of_doors(visit.doors).begin(visit.headers.get("User-Agent", ""), visit.address)
    if not await people.sign_in(session, password):
        raise Wrong(password="The password has just been changed.")  # noqa: S106 - words about one
    if visit.session is not None:
        await people.sign_out(visit.session.id)
    world.log("dashboard.signed_in", address=visit.address)
    return Go(own_path(form.next), cookies=(cookie,))


async def sign_out(visit: Visit) -> Reply:
    """End this session."""
    assert visit.session is not None
    await visit.doors.storage.people.sign_out(visit.session.id)
    return Go("/sign-in?out=1", cookies=(Sessions.of_doors(visit.doors).farewell(),))


def take_attempt(visit: Visit) -> None:
    """Count an attempt to guess the password. Raises Refusal (429)."""
    now = trio.current_time()
    for who, limit in ((f"sign-in {neighbourhood(visit.address)}", OF_ADDRESS), ("sign-in", OF_ALL)):
        verdict = visit.limiter.take(who, limit, now)
        if not verdict.admitted:
            wait = str(verdict.retry_after)
            raise Refusal("rate-limited", f"Too many attempts. Wait {wait} s.", headers={"Retry-After": wait})


SCREENS = (
    Screen(path="/set-up", run=show_set_up, access="anyone", query=LinkQuery),
    Screen(method="POST", path="/set-up", run=set_up, access="anyone", form=SetUp, again=show_set_up),
    Screen(path="/sign-in", run=show_sign_in, access="anyone", query=NextQuery),
    Screen(method="POST", path="/sign-in", run=sign_in, access="anyone", form=SignIn, again=show_sign_in),
    Screen(method="POST", path="/sign-out", run=sign_out, form=Form),
)
