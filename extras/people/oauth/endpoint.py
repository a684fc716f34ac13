"""OAuth for programs: metadata of the resources and the server, registration, tokens, revocation.

Anyone may ask, so an address registers few apps, and every document and form is small. Errors are those of RFC 6749,
5.2, and RFC 7591, 3.2.2.

Apps: their registration (RFC 7591), metadata documents at an https URL, and redirect URIs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, NoReturn
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec
import trio
from msgspec import Meta, Struct

from actors.app_context import AppContext
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchRequest, RedirectElsewhere
from actors.egress.traffic import network_transport
from actors.egress.url import parse_url
from actors.errors import DomainError
from actors.language.speaking import noted
from api.application import Application
from api.auth import hash_of
from api.endpoint import Arrived, Endpoint, EndpointReply, Message
from api.peers import answer_to_preflight, cors_headers
from api.problems import Refusal
from api.ratelimit import Limit
from extras.people.oauth import tokens
from extras.people.oauth.tokens import MCP, OFFERED, TOOLS, tokens_of
from storage.records.access import TOKEN_LIFE, OAuthClient, OAuthGrant, allowed
from storage.records.identity import Millis

DOCUMENT_LIFE = 600_000  # milliseconds until a metadata document is fetched again
DOCUMENT_LIMIT = 16 << 10
DOCUMENT_TIME = 10.0  # seconds for the fetch: a person waits for the page
NAME_LENGTH = 80
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_URI = re.compile(r"[!$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]{1,2048}", re.ASCII)


class ClientRefused(ValueError):
    """An unusable app. The message is a sentence; error: the code of RFC 7591, 3.2.2."""

    def __init__(self, says: str, error: str = "invalid_client_metadata") -> None:
        super().__init__(says)
        self.error = error


class ClientMetadata(Struct, frozen=True):
    """An app's metadata. Other fields are ignored, as RFC 7591 requires."""

    redirect_uris: Annotated[tuple[str, ...], Meta(min_length=1, max_length=10)]
    client_name: str = ""
    client_id: str = ""
    token_endpoint_auth_method: str = "none"  # noqa: S105 - a method
    grant_types: tuple[str, ...] = ("authorization_code",)
    response_types: tuple[str, ...] = ("code",)


def client_in(raw: bytes, id: str, now: Millis) -> OAuthClient:
    """Raises ClientRefused. Apps are public: a registration's other method becomes `none` (RFC 7591, 3.2.1)."""
    try:
        found = msgspec.json.decode(raw, type=ClientMetadata)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ClientRefused(f"The metadata is invalid: {error}.") from None
    for uri in found.redirect_uris:
        check_redirect(uri)
    if "authorization_code" not in found.grant_types or "code" not in found.response_types:
        raise ClientRefused("The only flow is authorization_code, with response_type code.")
    name = " ".join("".join(sign if sign.isprintable() else " " for sign in found.client_name).split())
    return OAuthClient(id, name[:NAME_LENGTH] or host_of(found.redirect_uris[0]), found.redirect_uris, now)


def check_redirect(uri: str) -> None:
    """Refuse a redirect URI unless it is https, or http on the app's own machine (RFC 8252, 7.3)."""
    split = _split(uri)
    local = split is not None and split.scheme == "http" and split.hostname in _LOOPBACK
    if split is None or not (split.scheme == "https" or local):
        says = f"{uri[:200]!a} is no redirect URI: use https, or http on 127.0.0.1, [::1] or localhost, no fragment."
        raise ClientRefused(says, "invalid_redirect_uri")


def matches(given: str, registered: Sequence[str]) -> bool:
    """Return whether a redirect URI is one of the registered ones. Only on the app's own machine may its port differ.

    >>> matches("https://a.test/back", ["https://a.test/back"]), matches("https://a.test/back/x", ["https://a.test/back"])
    (True, False)
    >>> matches("http://127.0.0.1:4000/x", ["http://127.0.0.1/x"]), matches("http://localhost:1/x", ["http://[::1]/x"])
    (True, False)
    """
    if given in registered:
        return True
    local = _without_port(given)
    return local is not None and any(local == _without_port(text) for text in registered)


def _without_port(uri: str) -> tuple[str | None, str, str] | None:
    split = _split(uri)
    if split is None or split.scheme != "http" or split.hostname not in _LOOPBACK:
        return None
    return split.hostname, split.path, split.query


def _split(uri: str) -> SplitResult | None:
    if not _URI.fullmatch(uri):
        return None
    try:
        split = urlsplit(uri)
        split.port  # noqa: B018 - raises ValueError
    except ValueError:
        return None
    return split if split.hostname and "@" not in split.netloc else None


def host_of(uri: str) -> str:
    return urlsplit(uri).netloc


def is_document(client_id: str) -> bool:
    """Return whether a client id is the URL of a metadata document.

    >>> is_document("https://a.test/app.json"), is_document("https://a.test/"), is_document("https://a.test/x/../y")
    (True, False, False)
    """
    split = _split(client_id)
    if split is None or split.scheme != "https" or split.path in ("", "/"):
        return False
    return not {".", ".."} & set(split.path.split("/"))


async def named(context: AppContext, client_id: str) -> OAuthClient:
    """Raises ClientRefused. An id may be a URL; only a signed-in person's request comes here and makes us fetch."""
    now, stored = context.world.now(), await context.storage.oauth.client(client_id)
    if not is_document(client_id):
        if stored is None:
            raise ClientRefused(
                noted("This app is not registered here, or was forgotten after 90 days. Connect it again.")
            )
        return stored
    if stored is not None and stored.at > now - DOCUMENT_LIFE:
        return stored
    found = client_in(await _fetched(context, client_id), client_id, now)
    if not await context.storage.oauth.put_client(found, now):
        raise ClientRefused(noted("Too many apps have registered here. Try again in ten minutes."))
    return found


async def _fetched(context: AppContext, url: str) -> bytes:
    """Return a metadata document that names its own URL. Redirects are not followed. Raises ClientRefused."""
    way = network_transport(context.world, context.settings, (), "")
    try:
        with trio.fail_after(DOCUMENT_TIME):
            wish = FetchRequest(parse_url(url, schemes=("https",)), accept="application/json", limit=DOCUMENT_LIMIT)
            body = (await way.deliver.get(wish)).body
        named = msgspec.json.decode(body, type=ClientMetadata)
    except (CheckFailed, DomainError, RedirectElsewhere, trio.TooSlowError, msgspec.MsgspecError, UnicodeDecodeError):
        raise ClientRefused(noted("The app's metadata document could not be fetched, or is invalid.")) from None
    finally:
        await way.aclose()
    if named.client_id != url or named.token_endpoint_auth_method != "none":  # noqa: S105 - a method
        raise ClientRefused(noted("The app's metadata document has another client_id, or asks for a secret."))
    return body


BODY = 16 << 10
REGISTRATIONS = Limit(1 / 60, 10)  # apps registered from one address
METADATA, RESOURCE = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
AUTHORIZE, REGISTER, TOKEN, REVOKE = "/oauth/authorize", "/oauth/register", "/oauth/token", "/oauth/revoke"
JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


class OAuthRefused(Exception):
    """An error that apps understand. error: its code."""

    def __init__(self, error: str, says: str, status: int = 400) -> None:
        super().__init__(says)
        self.error, self.status = error, status


class OAuthEndpoint(Endpoint):
    """The application of all these addresses."""

    path, name = "/oauth/", "OAuth"
    harmless: ClassVar[Mapping[str, str]] = {"content-security-policy": "default-src 'none'; frame-ancestors 'none'"}

    def __init__(self, api: Application) -> None:
        super().__init__(api)
        self._world, self._oauth = api.context.world, api.context.storage.oauth
        api.metadata_of = self.metadata_of
        self._acts: Mapping[str, tuple[str, Callable[[Arrived], Awaitable[EndpointReply]]]] = {
            METADATA: ("GET", self._server),
            RESOURCE: ("GET", self._whole),
            RESOURCE + MCP: ("GET", self._tools),
            REGISTER: ("POST", self._register),
            TOKEN: ("POST", self._token),
            REVOKE: ("POST", self._revoke),
        }

    def metadata_of(self, path: str) -> str:
        mcp = path == MCP or path.startswith(f"{MCP}/")
        return f"{self._api.base_url}{RESOURCE}{MCP if mcp else ''}"

    def applies(self, scope: Message) -> bool:
        return scope.get("type") == "http" and scope.get("raw_path", b"").decode("latin-1") in self._acts

    async def reply(self, request: Arrived) -> EndpointReply:
        method, headers = request.scope["method"], request.headers
        wanted, act = self._acts[request.scope["raw_path"].decode("latin-1")]
        preflight = answer_to_preflight(headers, self._api.origins, [wanted]) if method == "OPTIONS" else None
        if preflight is not None:
            reply = EndpointReply(204, "", b"", tuple(preflight.items()))
        elif method != wanted and (method, wanted) != ("HEAD", "GET"):
            raise Refusal("method-not-allowed", f"This takes {wanted}.", headers={"Allow": wanted})
        else:
            try:
                reply = await act(request)
            except OAuthRefused as refused:
                says = {"error": refused.error, "error_description": str(refused)}
                reply = EndpointReply(refused.status, JSON, msgspec.json.encode(says))
        return reply._replace(headers=(*reply.headers, *cors_headers(headers, self._api.origins).items()))

    async def _server(self, request: Arrived) -> EndpointReply:
        base = self._api.base_url
        return _said(
            issuer=base,
            authorization_endpoint=base + AUTHORIZE,
            token_endpoint=base + TOKEN,
            registration_endpoint=base + REGISTER,
            revocation_endpoint=base + REVOKE,
            scopes_supported=OFFERED,
            response_types_supported=["code"],
            response_modes_supported=["query"],
            grant_types_supported=["authorization_code", "refresh_token"],
            code_challenge_methods_supported=["S256"],
            token_endpoint_auth_methods_supported=["none"],
            revocation_endpoint_auth_methods_supported=["none"],
            authorization_response_iss_parameter_supported=True,
            client_id_metadata_document_supported=True,
        )

    async def _whole(self, request: Arrived) -> EndpointReply:
        return self._resource("", OFFERED)

    async def _tools(self, request: Arrived) -> EndpointReply:
        return self._resource(MCP, TOOLS)

    def _resource(self, path: str, scopes: Sequence[str]) -> EndpointReply:
        base = self._api.base_url
        return _said(
            resource=base + path,
            resource_name="Sanderling",
            authorization_servers=[base],
            scopes_supported=scopes,
            bearer_methods_supported=["header"],
        )

    async def _register(self, request: Arrived) -> EndpointReply:
        verdict = self._api.limiter.take(f"OAuth apps {request.peer}", REGISTRATIONS, trio.current_time())
        if not verdict.admitted:
            wait = {"Retry-After": str(verdict.retry_after)}
            raise Refusal("rate-limited", "Too many apps were registered from this address.", headers=wait)
        now, body = self._world.now(), await _body(request, JSON)
        try:
            client = client_in(body, self._world.new_id(), now)
        except ClientRefused as refused:
            raise OAuthRefused(refused.error, str(refused)) from None
        if not await self._oauth.put_client(client, now):
            raise Refusal("unavailable", "Too many apps have registered.", headers={"Retry-After": "600"})
        self._world.log("oauth.registered", client=client.id, name=client.name, redirects=list(client.redirects))
        reply = _said(
            client_id=client.id,
            client_id_issued_at=client.at // 1000,
            client_name=client.name,
            redirect_uris=client.redirects,
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",  # noqa: S106 - no secret
        )
        return reply._replace(status=201)

    async def _token(self, request: Arrived) -> EndpointReply:
        fields = _fields(await _body(request, _FORM))
        match fields.get("grant_type"):
            case "authorization_code":
                return await self._exchange(fields)
            case "refresh_token":
                return await self._renew(fields)
        raise OAuthRefused("unsupported_grant_type", "grant_type is authorization_code or refresh_token.")

    async def _exchange(self, fields: Mapping[str, str]) -> EndpointReply:
        """Trade a code for tokens. A wrong verifier uses the code up, so guessing ends."""
        now = self._world.now()
        code = await self._oauth.take_code(tokens.hashed(fields.get("code", "")), now)
        if (
            code is None
            or fields.get("client_id") != code.grant.client
            or fields.get("redirect_uri", code.redirect) != code.redirect
            or not tokens.fits(fields.get("code_verifier", ""), code.challenge)
        ):
            _no_grant("The code is wrong, used, expired, or of another app, redirect URI or verifier.")
        self._check_resource(fields, code.grant)
        made = tokens_of(code.grant, code.grant.scopes, entropy=self._world.entropy, now=now)
        if not await self._oauth.begin(code, made.stored, made.key):
            _no_grant("The person has no access any more.")
        self._world.log("oauth.connected", grant=code.grant.id, app=code.grant.app, person=code.grant.person)
        return await self._issued(made)

    async def _renew(self, fields: Mapping[str, str]) -> EndpointReply:
        now, text = self._world.now(), fields.get("refresh_token", "")
        old = tokens.refresh_in(text)
        grant = None if old is None else await self._oauth.by_refresh(old, now)
        if old is None or grant is None or fields.get("client_id") != grant.client:
            _no_grant("The refresh token is wrong, used, expired, or of another app; connect the app again.")
        self._check_resource(fields, grant)
        scopes = fields["scope"].split(" ") if fields.get("scope") else grant.scopes
        if not set(scopes) <= set(grant.scopes):
            raise OAuthRefused("invalid_scope", f"The person consented to {' '.join(grant.scopes)}.")
        family = tokens.family_of(text)
        made = tokens_of(grant, scopes, entropy=self._world.entropy, now=now, family=family)
        if not await self._oauth.renew(grant, old, made.stored.turn, made.key):
            _no_grant("The refresh token was used twice; connect the app again.")
        return await self._issued(made)

    def _check_resource(self, fields: Mapping[str, str], grant: OAuthGrant) -> None:
        asked = fields.get("resource")
        if asked and tokens.resource_in(asked, self._api.base_url) != grant.resource:
            raise OAuthRefused("invalid_target", f"The person consented to {self._api.base_url}{grant.resource}.")

    async def _issued(self, made: tokens.Tokens) -> EndpointReply:
        """Return new tokens, with the scopes that they have: the consent's, as far as the person's role goes."""
        person = made.key.person and await self._api.context.storage.accounts.get(made.key.person)
        scopes = allowed(made.key.scopes, person.role if person else "owner")
        return _said(
            access_token=made.access,
            token_type="Bearer",  # noqa: S106 - a type
            expires_in=TOKEN_LIFE // 1000,
            refresh_token=made.refresh,
            scope=" ".join(scopes),
        )

    async def _revoke(self, request: Arrived) -> EndpointReply:
        """End the grant of either token (RFC 7009). Unknown tokens are well: they have no access."""
        text, now = _fields(await _body(request, _FORM)).get("token", ""), self._world.now()
        refresh, hashed = tokens.refresh_in(text), hash_of(text)
        if refresh is not None and (grant := await self._oauth.by_refresh(refresh, now)) is not None:
            await self._oauth.end(grant.id)
        elif hashed is not None:
            key = await self._api.context.storage.keys.by_hash(hashed, now)
            if key is not None and key.grant:
                await self._oauth.end(key.grant)
        return EndpointReply(200, JSON, b"{}")


def endpoints(api: Application) -> Sequence[Endpoint]:
    return (OAuthEndpoint(api),)


def _no_grant(says: str) -> NoReturn:
    raise OAuthRefused("invalid_grant", says)


def _said(**fields: Any) -> EndpointReply:
    return EndpointReply(200, JSON, msgspec.json.encode(fields))


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:
        raise OAuthRefused("invalid_request", "The form must be percent-encoded UTF-8.") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise OAuthRefused("invalid_request", "A field may be given once only.")
    return fields


async def _body(request: Arrived, media: str) -> bytes:
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != media:
        raise OAuthRefused("invalid_request", f"This takes {media}.")
    return await request.body(BODY)
