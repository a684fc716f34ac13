"""The pages of signing in at an issuer: the button, the way there, the way back, and signing out there.

The callback comes from another site, so the browser sends it no `Strict` cookie, also not to the page after it. So it
is answered with our own page that requests it again at once, as the first link from another site to any page is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode, urlsplit

from msgspec import Meta, Struct
from msgspec.structs import replace
from werkzeug.http import dump_cookie, parse_cookie

from actors.language.speaking import noted, say
from api.dashboard.screen import Go, Page, Reply, Screen, Visit
from api.dashboard.sessions import own_path
from api.problems import Refusal
from extras.people.entry import begin, joined
from extras.people.settings import PeopleSettings
from storage.records.access import Person

if TYPE_CHECKING:
    from extras.people.oidc.admission import Claimed
    from extras.people.oidc.journey import Journey

PATH = "/sign-in/oidc"
CALLBACK = f"{PATH}/callback"
_Text = Annotated[str, Meta(max_length=8_192)]


class StartQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The page after signing in."""

    next: str = "/"


class CallbackQuery(Struct, frozen=True):
    """The issuer's answer (RFC 6749, 4.1.2; RFC 9207)."""

    code: _Text = ""
    state: _Text = ""
    iss: _Text = ""
    error: _Text = ""


class SignInFailed(Exception):
    """A sign-in ends without a session. says: for the person, translated. why: for the log."""

    def __init__(self, says: str, why: str, status: int = 403) -> None:
        super().__init__(why)
        self.says, self.why, self.status = says, why, status


_AGAIN = noted("This sign-in took too long, or was started in another browser. Start again.")
_DOWN = noted("%(name)s can't sign you in now. Try again later. The service's log says why.")
_REFUSED = noted("%(name)s gave an answer that is not valid. Try again. The service's log says why.")
_DECLINED = noted("%(name)s did not sign you in (%(code)s).")
_NO_ROLE = noted("Your account at %(name)s has no access to this service. Ask an owner of this service.")
_TAKEN = noted("Another account here has your e-mail address. Ask an owner of this service to remove it first.")
_LAST = noted("You are the last owner here, and %(name)s no longer gives you that role. Set a password first.")


def _settings(visit: Visit) -> PeopleSettings:
    return visit.context.settings.of(PeopleSettings)


def name_of(visit: Visit) -> str:
    settings = _settings(visit)
    return settings.oidc_name or urlsplit(settings.oidc_issuer).hostname or ""


async def button(visit: Visit) -> Page:
    """Return the part of the sign-in page. After signing out here, it offers to sign out at the issuer."""
    back = own_path(visit.query.next if not visit.draft.given else visit.draft.value("next"))
    to = PATH if back == "/" else f"{PATH}?{urlencode({'next': back})}"
    cookies = parse_cookie(visit.headers.get("Cookie", ""))
    shows = {"name": name_of(visit), "to": to, "leave": visit.query.out and _cookie_name(visit, "used") in cookies}
    return Page("people/oidc_button.html", "", {"oidc": shows if _settings(visit).oidc_issuer else None})


async def start(visit: Visit) -> Reply:
    """Send the browser to the issuer."""
    try:
        return await _started(visit)
    except SignInFailed as failed:
        return _failed(visit, failed)


async def _started(visit: Visit) -> Go:
    from extras.people.oidc.issuer import Issuer, IssuerFailed
    from extras.people.oidc.journey import LIFE, Journey, authorization
    from extras.people.oidc.secret import BadSecret, client_secret

    _check_set(visit)
    world, settings = visit.context.world, _settings(visit)
    journey = Journey(world.entropy(32), int(world.wall()), own_path(visit.query.next)[:1_000])
    try:
        metadata = await Issuer.of(visit.context).metadata()
        sealed = journey.sealed(client_secret(settings), settings.oidc_issuer)
    except (IssuerFailed, BadSecret) as error:
        raise SignInFailed(say(_DOWN, name=name_of(visit)), f"{error}", 503) from None
    address = authorization(
        metadata.authorization_endpoint,
        journey,
        client=settings.oidc_client_id,
        redirect=_callback(visit),
        scopes=settings.oidc_scopes,
    )
    return Go(address, cookies=(_cookie(visit, "journey", sealed, int(LIFE)),))


async def callback(visit: Visit) -> Reply:
    """Take the issuer's answer, and sign the person in."""
    if visit.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return Page("detour.html", say("One moment"), {"back": visit.target})
    try:
        return await _signed_in(visit)
    except SignInFailed as failed:
        return _failed(visit, failed)


async def _signed_in(visit: Visit) -> Go:
    from extras.people.oidc.admission import claimed
    from extras.people.oidc.issuer import Issuer, IssuerFailed
    from extras.people.oidc.secret import BadSecret
    from extras.people.oidc.tokens import BadToken

    _check_set(visit)
    issuer, name = Issuer.of(visit.context), name_of(visit)
    try:
        journey = await _journey(visit)
        claims = await issuer.claims(visit.query.code, journey.verifier, _callback(visit), journey.nonce)
    except (IssuerFailed, BadSecret) as error:
        raise SignInFailed(say(_DOWN, name=name), f"{error}", 503) from None
    except BadToken as error:
        raise SignInFailed(say(_REFUSED, name=name), f"ID token: {error}") from None
    person = await _admitted(visit, claimed(claims, _settings(visit).oidc_groups_claim))
    went = await begin(visit, person, own_path(journey.next))
    used = _cookie(visit, "used", "1", 30 * 86_400)
    return Go(went.to, cookies=(*went.cookies, _cookie(visit, "journey", "", 0), used), who=went.who)


async def _journey(visit: Visit) -> Journey:
    import hmac

    from extras.people.oidc.issuer import Issuer
    from extras.people.oidc.journey import opened
    from extras.people.oidc.secret import client_secret

    settings, query, now = _settings(visit), visit.query, visit.context.world.wall()
    cookie = parse_cookie(visit.headers.get("Cookie", "")).get(_cookie_name(visit, "journey"), "")
    journey = opened(cookie, client_secret(settings), settings.oidc_issuer, now)
    if journey is None or not hmac.compare_digest(query.state.encode(), journey.state.encode()):
        raise SignInFailed(say(_AGAIN), "no sign-in of this browser has this state", 400)
    issuer = Issuer.of(visit.context)
    if not issuer.used.take(journey.state, now):
        raise SignInFailed(say(_AGAIN), "its state has been used", 400)
    if query.iss != settings.oidc_issuer and (query.iss or (await issuer.metadata()).names_itself):
        raise SignInFailed(say(_REFUSED, name=name_of(visit)), f"answered by {query.iss[:200]!r}")
    if query.error or not query.code:
        code = query.error if query.error.isidentifier() and query.error.isascii() else "error"
        raise SignInFailed(say(_DECLINED, name=name_of(visit), code=code[:60]), f"the issuer answered {code[:60]}")
    return journey


async def _admitted(visit: Visit, given: Claimed) -> Person:
    from extras.people.oidc.admission import by_groups, role_of

    settings, accounts = _settings(visit), visit.context.storage.accounts
    known = await accounts.by_subject(settings.oidc_issuer, given.subject)
    role = role_of(given.groups, settings)
    if known is None:
        return await _joined(visit, given)
    if not by_groups(settings):
        role = known.role
    email = known.email
    if given.email and await accounts.by_email(given.email) is None:
        email = given.email
    # Groups that no longer give a role end keys, sessions and streams too; without a claim, nothing is known.
    gone = role is None and given.groups is not None
    changed = replace(known, name=given.name, email=email, role=role or known.role, disabled=known.disabled or gone)
    password_set = await visit.context.storage.people.password() is not None
    if changed != known and not await accounts.change(changed, password_set=password_set):
        raise SignInFailed(say(_LAST, name=name_of(visit)), f"the last owner {known.id} has lost the role")
    if changed != known:
        visit.context.world.log("people.changed", person=known.id, role=changed.role, disabled=changed.disabled)
    if role is None:
        raise SignInFailed(say(_NO_ROLE, name=name_of(visit)), f"{known.id} has no group with a role")
    return changed


async def _joined(visit: Visit, given: Claimed) -> Person:
    """Add a person, by an invitation if there is one for the verified e-mail address. Raises SignInFailed."""
    from extras.people.oidc.admission import by_groups, role_of

    settings, world, accounts = _settings(visit), visit.context.world, visit.context.storage.accounts
    invited = [
        invitation
        for invitation in await accounts.invitations(visit.now)
        if given.email and invitation.email == given.email
    ]
    role = role_of(given.groups, settings)
    if invited and not by_groups(settings):
        role = invited[-1].role
    if role is None:
        raise SignInFailed(say(_NO_ROLE, name=name_of(visit)), f"no role for the subject {given.subject!r}")
    person = Person(
        id=world.new_id(),
        name=given.name,
        email=given.email,
        role=role,
        created_at=visit.now,
        issuer=settings.oidc_issuer,
        subject=given.subject,
    )
    if not await accounts.add(person, invitation=invited[-1].sha256 if invited else ""):
        if (added := await accounts.by_subject(person.issuer, person.subject)) is not None:
            return added  # at the same moment, another tab added it
        raise SignInFailed(say(_TAKEN), f"the e-mail address of {given.subject!r} is taken", 409)
    await joined(visit, person)
    return person


async def leave(visit: Visit) -> Reply:
    """Send the browser to the issuer to sign out there (OpenID Connect RP-Initiated Logout)."""
    from extras.people.oidc.issuer import Issuer, IssuerFailed

    _check_set(visit)
    settings, ended = _settings(visit), _cookie(visit, "used", "", 0)
    try:
        end = (await Issuer.of(visit.context).metadata()).end_session_endpoint
    except IssuerFailed as error:
        return _failed(visit, SignInFailed(say(_DOWN, name=name_of(visit)), f"{error}", 503))
    if not end:
        return Go(settings.oidc_issuer, cookies=(ended,))
    back = f"{visit.context.settings.public_url()}/sign-in"
    asked = {"client_id": settings.oidc_client_id, "post_logout_redirect_uri": back}
    return Go(f"{end}{'&' if '?' in end else '?'}{urlencode(asked)}", cookies=(ended,))


def _check_set(visit: Visit) -> None:
    if not _settings(visit).oidc_issuer:
        raise Refusal("not-found", say("There is no such page."))


def _failed(visit: Visit, failed: SignInFailed) -> Page:
    visit.context.world.log(
        "dashboard.sign_in_refused", level="warning", address=visit.address, way="oidc", why=failed.why
    )
    shows: dict[str, Any] = {"says": failed.says, "again": PATH}
    return Page("people/oidc_failed.html", say("Not signed in"), shows, failed.status)


def _callback(visit: Visit) -> str:
    return f"{visit.context.settings.public_url()}{CALLBACK}"


def _cookie_name(visit: Visit, purpose: str) -> str:
    """Return a name as `Sessions` makes them: cookies ignore ports, and `__Host-` keeps other subdomains' out."""
    url = urlsplit(visit.context.settings.public_url())
    return f"{'__Host-' if url.scheme == 'https' else ''}oidc-{purpose}{f'-{url.port}' if url.port else ''}"


def _cookie(visit: Visit, purpose: str, value: str, age: int) -> str:
    secure = visit.context.settings.public_url().startswith("https://")
    return dump_cookie(_cookie_name(visit, purpose), value, age, path="/", secure=secure, httponly=True, samesite="Lax")


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=start, access="anyone", query=StartQuery),
    Screen(path=CALLBACK, run=callback, access="anyone", query=CallbackQuery, open_query=True),
    Screen(path=f"{PATH}/leave", run=leave, access="anyone"),
)
