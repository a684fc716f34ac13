"""Asks an issuer: its metadata and keys, which are kept for ten minutes, and the exchange of a code for claims.

Every request goes through the address guard with the networks of `oidc_networks`, follows no redirect, and has a bound
and a deadline. A key that is unknown leads to one more request for the keys, at most once a minute: strangers can't
make the service ask more often.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote_plus, urlencode

import trio

from actors.app_context import AppContext
from actors.egress.failures import CheckFailed, CheckRefused
from actors.egress.http import FetchRequest, RedirectElsewhere
from actors.egress.traffic import network_transport
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.settings import parsed
from extras.people.oidc.admission import by_groups
from extras.people.oidc.documents import LIMIT, BadDocument, Metadata, Tokens, keys_of, metadata_of, strict, tokens_of
from extras.people.oidc.journey import UsedStates
from extras.people.oidc.secret import BadSecret, client_secret
from extras.people.oidc.tokens import BadToken, UnknownKey, checked
from extras.people.settings import PeopleSettings

T = TypeVar("T")
DEADLINE = 10.0  # seconds for one request
FRESH = 600.0  # seconds until metadata and keys are fetched again; a key that the issuer withdrew works no longer
AGAIN = 60.0  # seconds between two requests for keys because of an unknown one
QUIET = 5.0  # seconds after a failure during which nothing is asked
AT_ONCE = 8  # exchanges at once


class IssuerFailed(Exception):
    """The issuer can't be asked, or breaks the protocol. The text says how, for the log."""


class Issuer:
    """The issuer in the settings, with its metadata and keys. used: the states that came back."""

    def __init__(self, context: AppContext) -> None:
        self._context, self._world = context, context.world
        self._settings = context.settings.of(PeopleSettings)
        self._metadata: Metadata | None = None
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._read_at = self._keys_at = self._failed_at = float("-inf")
        self._lock = trio.Lock()
        self._turns = trio.CapacityLimiter(AT_ONCE)
        self.used = UsedStates()

    @classmethod
    def of(cls, context: AppContext) -> Issuer:
        found = context.held.setdefault("oidc", None) or cls(context)
        assert isinstance(found, Issuer)
        context.held["oidc"] = found
        return found

    def __repr__(self) -> str:
        return f"<Issuer {self._settings.oidc_issuer}: {len(self._keys)} keys>"

    async def metadata(self) -> Metadata:
        """Return the metadata, at most ten minutes old. Raises IssuerFailed."""
        async with self._lock:
            if self._metadata is None or trio.current_time() - self._read_at >= FRESH:
                await self._read()
            assert self._metadata is not None
            return self._metadata

    async def claims(self, code: str, verifier: str, redirect: str, nonce: str) -> Mapping[str, Any]:
        """Exchange a code, and return the checked claims. Raises IssuerFailed, BadToken."""
        async with self._turns:
            metadata = await self.metadata()
            tokens = await self._exchange(metadata, code, verifier, redirect)
            claims = await self._checked(tokens.id_token, nonce)
            if not metadata.userinfo_endpoint or self._suffices(claims):
                return claims
            asked = [(b"Authorization", f"Bearer {tokens.access_token}".encode())]
            more = self._parsed(strict, await self._fetch(metadata.userinfo_endpoint, given=asked))
            if more.get("sub") != claims["sub"]:  # Core, 5.3.2: else another person's claims could be mixed in
                raise BadToken("its userinfo is of another person")
            return {**more, **claims}

    def _suffices(self, claims: Mapping[str, Any]) -> bool:
        wanted = ["name", "email"]
        if by_groups(self._settings):
            wanted.append(self._settings.oidc_groups_claim)
        return all(name in claims for name in wanted)

    async def _checked(self, token: str, nonce: str) -> Mapping[str, Any]:
        settings = self._settings
        given = {"issuer": settings.oidc_issuer, "client": settings.oidc_client_id, "nonce": nonce}
        try:
            return checked(token, self._keys, now=self._world.wall(), **given)
        except UnknownKey:
            if not await self._read_keys_again():
                raise
            return checked(token, self._keys, now=self._world.wall(), **given)

    async def _read_keys_again(self) -> bool:
        async with self._lock:
            if trio.current_time() - self._keys_at < AGAIN:
                return False
            await self._read()
            return True

    async def _read(self) -> None:
        if trio.current_time() - self._failed_at < QUIET:
            raise IssuerFailed("it has just failed")
        issuer = self._settings.oidc_issuer
        try:
            raw = await self._fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            metadata = self._parsed(lambda body: metadata_of(body, issuer), raw)
            keys = self._parsed(keys_of, await self._fetch(metadata.jwks_uri))
        except IssuerFailed:
            self._failed_at = trio.current_time()
            raise
        self._metadata, self._keys = metadata, keys
        self._read_at = self._keys_at = trio.current_time()

    async def _exchange(self, metadata: Metadata, code: str, verifier: str, redirect: str) -> Tokens:
        settings = self._settings
        try:
            secret = client_secret(settings)
        except BadSecret as error:
            raise IssuerFailed(f"{error}") from None
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
            "client_id": settings.oidc_client_id,
        }
        given = [(b"Content-Type", b"application/x-www-form-urlencoded")]
        if "client_secret_basic" in metadata.auth_methods or "client_secret_post" not in metadata.auth_methods:
            pair = f"{quote_plus(settings.oidc_client_id)}:{quote_plus(secret)}"  # RFC 6749, 2.3.1
            given.append((b"Authorization", b"Basic " + b64encode(pair.encode())))
        else:
            fields["client_secret"] = secret
        raw = await self._fetch(metadata.token_endpoint, posted=urlencode(fields).encode(), given=given)
        return self._parsed(tokens_of, raw)

    async def _fetch(
        self, address: str, *, posted: bytes | None = None, given: Sequence[tuple[bytes, bytes]] = ()
    ) -> bytes:
        opened = parsed(self._settings.oidc_networks)
        way = network_transport(self._world, self._context.settings, opened, "OIDC_NETWORKS")
        try:
            url = parse_url(address, schemes=("http", "https"))
            client = way.deliver if url.secure else way.deliver_plain
            with trio.fail_after(DEADLINE):
                wish = FetchRequest(url, accept="application/json", limit=LIMIT, body=posted, user_headers=given)
                return (await client.get(wish)).body
        except RedirectElsewhere as error:
            raise IssuerFailed(f"{address} redirects to {error.url.origin}, which is not followed") from None
        except trio.TooSlowError:
            raise IssuerFailed(f"{address} is not done after {DEADLINE:g} s") from None
        except UrlRefused as error:
            raise IssuerFailed(f"{address}: {error.words_inside}") from None
        except CheckRefused as error:
            raise IssuerFailed(f"{address}: {error.refusal.words_inside}") from None
        except (CheckFailed, ValueError) as error:
            raise IssuerFailed(f"{address}: {error}") from None
        finally:
            await way.aclose()

    def _parsed(self, read: Callable[[bytes], T], raw: bytes) -> T:
        try:
            return read(raw)
        except BadDocument as error:
            raise IssuerFailed(f"a document of {self._settings.oidc_issuer}: {error}") from None
