"""OAuth for programs: metadata of the resources and the server, registration, tokens, revocation.

Anyone may ask, so an address registers few apps, and every document and form is small. Errors are those of RFC 6749,
5.2, and RFC 7591, 3.2.2.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn
from urllib.parse import parse_qsl

import msgspec
import trio

from api.application import Application
from api.auth import hash_of
from api.endpoint import Arrived, Endpoint, EndpointReply, Message
from api.peers import answer_to_preflight, cors_headers
from api.problems import Refusal
from api.ratelimit import Limit
from extras.people.oauth import tokens
from extras.people.oauth.clients import ClientRefused, client_in
from extras.people.oauth.tokens import MCP, OFFERED, TOOLS, tokens_of
from storage.records.grant import TOKEN_LIFE, OAuthGrant
from storage.records.person import allowed

BODY = 16 << 10
REGISTRATIONS = Limit(1 / 60, 10)
"""Apps registered from one address."""
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
