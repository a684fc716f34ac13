"""The consent page for an app, and the list of connected apps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urlencode, urlsplit

from msgspec import Meta, Struct

from actors.errors import NotFound
from actors.language.speaking import noted, say
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Visit, post
from api.keys import CHANNEL_SCOPE, SCOPES
from api.problems import Refusal
from extras.people.oauth import endpoint, operations, tokens
from extras.people.oauth.endpoint import AUTHORIZE
from extras.people.recording import activity_of, difference
from storage.records.access import Activity, OAuthClient, OAuthCode, OAuthGrant, allowed

_Text = Annotated[str, Meta(max_length=2_048)]
_CHANNEL = noted("read the channel %(name)s")
READ = "stream:read"


class Asked(Struct, frozen=True):
    """A request for authorization, as sent. Other parameters are ignored, as RFC 6749 requires."""

    client_id: _Text = ""
    redirect_uri: _Text = ""
    response_type: _Text = ""
    code_challenge: _Text = ""
    code_challenge_method: _Text = ""
    scope: _Text = ""
    state: _Text = ""
    resource: _Text = ""


class Consent(Form, frozen=True):
    """The request again, and the person's answer to it."""

    client_id: _Text
    redirect_uri: _Text
    response_type: _Text
    code_challenge: _Text
    code_challenge_method: _Text
    scope: _Text = ""
    state: _Text = ""
    resource: _Text = ""
    scopes: tuple[str, ...] = ()
    decision: Literal["allow", "deny"] = "deny"


class Request(Struct, frozen=True):
    """A valid request. redirect: exact. offered: the scopes that it asks for and the person has."""

    client: OAuthClient
    redirect: str
    challenge: str
    state: str
    resource: str
    offered: tuple[str, ...]


async def _valid(visit: Visit, asked: Asked | Consent) -> Request:
    """Raises Refusal, shown here: anyone can register an app, so redirects would be open (RFC 9700, 4.11.2)."""
    try:
        client = await endpoint.named(visit.context, asked.client_id)
    except endpoint.ClientRefused as refused:
        raise Refusal("not-found", say(str(refused))) from None
    redirect = asked.redirect_uri or (client.redirects[0] if len(client.redirects) == 1 else "")
    if not endpoint.matches(redirect, client.redirects):
        raise Refusal("invalid-request", say("The app asks to be answered at an address that it has not registered."))
    if asked.response_type != "code" or asked.code_challenge_method != "S256":
        raise Refusal("invalid-request", say("The app's request is invalid: it needs a code, with PKCE by S256."))
    if not tokens.is_challenge(asked.code_challenge):
        raise Refusal("invalid-request", say("The app's request is invalid: it needs a code, with PKCE by S256."))
    resource = tokens.resource_in(asked.resource, visit.context.settings.public_url())
    if resource is None:
        raise Refusal("invalid-request", say("The app asks for access to another service."))
    assert visit.session is not None
    offered = tokens.asked_of(asked.scope, visit.session.role, resource)
    return Request(client, redirect, asked.code_challenge, asked.state, resource, offered)


def in_words(scope: str) -> str:
    return say("May %(what)s.", what=say(SCOPES.get(scope, _CHANNEL), name=scope.removeprefix(CHANNEL_SCOPE)))


async def show(visit: Visit) -> Page:
    draft = visit.draft
    fields = {name: draft.value(name) for name in Asked.__struct_fields__} if draft.given else None
    asked: Asked = visit.query if fields is None else Asked(**fields)
    request = await _valid(visit, asked)
    shows = {
        "app": request.client.name,
        "by": endpoint.host_of(request.client.id) if endpoint.is_document(request.client.id) else "",
        "host": endpoint.host_of(request.redirect),
        "local": urlsplit(request.redirect).scheme == "http",
        "resource": request.resource,
        "scopes": [(one, one, in_words(one)) for one in sorted(request.offered, key=tokens.order)],
        "ticked": [one for one in request.offered if one != "admin"],
        "asked": [(name, getattr(asked, name)) for name in Asked.__struct_fields__],
        "person": (visit.session.name if visit.session else "") or say("the owner"),
    }
    return Page("oauth/authorize.html", say("Connect %(name)s", name=request.client.name), shows)


async def answer(visit: Visit) -> Page:
    """Send the person back to the app, with a code or a refusal. The page does that, and no redirect: `form-action
    'self'` blocks redirects of forms, and apps redirect on.
    """
    form: Consent = visit.form
    request = await _valid(visit, form)
    if form.decision == "deny":
        return _back(visit, request, error="access_denied")
    scopes = tokens.chosen(request.offered, form.scopes)
    if not scopes:
        raise InvalidForm(scopes=say("Choose at least one: an app without any can do nothing."))
    if request.resource and READ not in scopes:
        raise InvalidForm(scopes=say("An assistant needs %(scope)s, or it can do nothing.", scope=READ))
    world, code = visit.context.world, tokens.drawn(visit.context.world.entropy)
    grant = _grant(visit, request, scopes)
    await visit.context.storage.oauth.put_code(
        OAuthCode(
            sha256=tokens.hashed(code),
            at=visit.now,
            redirect=request.redirect,
            challenge=request.challenge,
            grant=grant,
        )
    )
    world.log("oauth.consented", grant=grant.id, app=grant.app, host=grant.host, person=grant.person, scopes=scopes)
    await visit.context.storage.accounts.record(_consented(visit, grant))
    return _back(visit, request, code=code)


def _consented(visit: Visit, grant: OAuthGrant) -> Activity:
    """Return the record of a consent: the recorder of changes sees a page, not the grant."""
    after = {"app": grant.app, "host": grant.host, "scopes": grant.scopes, "resource": grant.resource}
    return activity_of(visit, visit.screen.label, f"/v1/apps/{grant.id}", difference(None, after))


def _grant(visit: Visit, request: Request, scopes: Sequence[str]) -> OAuthGrant:
    assert visit.session is not None
    return OAuthGrant(
        id=visit.context.world.new_id(),
        person=visit.session.person,
        client=request.client.id,
        app=request.client.name,
        host=endpoint.host_of(request.redirect),
        scopes=allowed(scopes, visit.session.role),
        resource=request.resource,
        created_at=visit.now,
    )


def _back(visit: Visit, request: Request, **fields: str) -> Page:
    if request.state:
        fields["state"] = request.state
    fields["iss"] = visit.context.settings.public_url()  # RFC 9207
    to = f"{request.redirect}{'&' if '?' in request.redirect else '?'}{urlencode(fields)}"
    return Page("oauth/back.html", say("One moment"), {"to": to, "app": request.client.name})


async def apps(visit: Visit) -> Page:
    people = {account.id: account.name for account in await visit.context.storage.accounts.all()}
    rows = [
        {
            "grant": grant,
            "person": people.get(grant.person, "") or say("the owner"),
            "may": [say(SCOPES.get(scope, _CHANNEL), name=scope.removeprefix(CHANNEL_SCOPE)) for scope in grant.scopes],
        }
        for grant in await _shown(visit)
    ]
    shows = {"rows": rows, "all": visit.may("admin"), "url": f"{visit.context.settings.public_url()}{tokens.MCP}"}
    return Page("oauth/apps.html", say("Connected apps"), shows)


async def disconnect(visit: Visit) -> Reply:
    for grant in await _shown(visit):
        if grant.id == visit.path["id"]:
            await operations.end(visit, grant)
            return Go("/apps", say("%(name)s is disconnected.", name=grant.app))
    raise NotFound(say("There is no such app; it may have been disconnected."))


async def _shown(visit: Visit) -> Sequence[OAuthGrant]:
    assert visit.session is not None
    mine = visit.session.person
    return [grant for grant in await operations.grants(visit) if visit.may("admin") or grant.person == mine]


SCREENS: tuple[Screen, ...] = (
    Screen(path=AUTHORIZE, run=show, query=Asked, scope=READ),
    post(AUTHORIZE, answer, Consent, show, scope=READ),
    Screen(path="/apps", run=apps, scope=READ),
    post("/apps/{id}/disconnect", disconnect, Form, apps, scope=READ),
)
