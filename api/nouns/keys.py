"""API keys, and the comparison of secrets with values that a caller supplies.

Callers may set secrets anyway, so they could only learn a weak one by guessing. Wrong values are rate-limited.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.egress.url import parse_url
from actors.errors import DomainError, NotFound
from api.keys import BURST, RATE, new_key
from api.nouns import destinations, sources
from api.nouns.context import OperationContext, check_pace, existing
from api.problems import invalid
from api.ratelimit import Limit
from api.route import Answer, Call, Routes
from storage.records.access import ApiKey
from storage.records.destination import ADDRESS, LINK, Destination
from storage.records.identity import Millis

MOST = 100  # secrets per request
_NAME = "For a source `headers` or `hello`; for a destination `url`, `secret` or the name of an option"
SecretName = Annotated[str, Meta(min_length=1, max_length=100, description=_NAME, examples=["headers"])]
_VALUE: Any = {"description": "The value to compare", "examples": ["Authorization: Bearer 3"]}


class SupposedSecret(Struct, frozen=True, forbid_unknown_fields=True):
    """A value to compare with a stored secret."""

    of: Literal["source", "destination"]
    id: Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
    name: SecretName
    value: Annotated[str, Meta(max_length=32_768, **_VALUE)]

    def __repr__(self) -> str:
        return f"SupposedSecret({self.of!r}, {self.id!r}, {self.name!r})"


class SecretsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Values to compare with the stored secrets."""

    secrets: Annotated[tuple[SupposedSecret, ...], Meta(min_length=1, max_length=MOST)]


class SecretsAnswer(Struct, frozen=True):
    """Whether each value equals the stored one, in the order of the request; false if none is stored."""

    same: tuple[bool, ...]


async def make(
    call: OperationContext,
    name: str,
    scopes: Sequence[str],
    *,
    rate: int = RATE,
    burst: int = BURST,
    person: str = "",
    expires_at: Millis | None = None,
) -> tuple[str, ApiKey]:
    """Create and store a key; return its plaintext and its record. Raises KeyRefused."""
    world = call.context.world
    plaintext, key = new_key(name, scopes, entropy=world.entropy, now=world.now(), rate=rate, burst=burst)
    key = replace(key, person=person, expires_at=expires_at)
    await call.context.storage.keys.add(key)
    world.log("keys.created", key=key.prefix, name=key.name, scopes=list(key.scopes))
    return plaintext, key


async def named(call: OperationContext, id: str) -> ApiKey:
    """Return a key. Raises NotFound."""
    keys = await call.context.storage.keys.all()
    found = next((key for key in keys if key.id == id), None)
    return existing(found, "There is no such key; it may have been deleted.")


async def revoke(call: OperationContext, id: str) -> ApiKey:
    """Delete a key and return it. The next request with it is refused. Raises NotFound."""
    key = await named(call, id)
    await call.context.storage.keys.revoke(key.id)
    call.context.world.log("keys.revoked", key=key.prefix, name=key.name)
    return key


WRONG = Limit(1.0, 1000)  # wrong values of all callers together: the burst, and the rate per second


async def _known(call: OperationContext, secret: SupposedSecret) -> str | None:
    try:
        if secret.of == "destination":
            return _of_destination(await destinations.named(call, secret.id), secret.name)
        source = (await sources.view(call, secret.id)).source
    except NotFound:
        return None
    return {"headers": source.headers, "hello": source.hello}.get(secret.name)


def _of_destination(destination: Destination, name: str) -> str | None:
    if name == "secret":
        return destination.secrets[0].value if destination.secrets else None
    if name == LINK:
        return None
    private = destination.private.get(ADDRESS if name == "url" else name)
    return None if private is None else private.value


def _same(known: str, value: str) -> bool:
    """Compare in constant time; a URL also in its stored spelling."""
    spellings = [value]
    with suppress(DomainError, ValueError):
        spellings.append(parse_url(value).text)
    return max(hmac.compare_digest(known.encode(), each.encode("utf-8", "replace")) for each in spellings)


ROUTES = Routes("/v1/secrets", "sources")


@ROUTES("POST", "/compare", {200: SecretsAnswer}, beside=("alerts:write",), body=(SecretsRequest,))
async def compare(call: Call) -> Answer:
    """Compare stored secrets with given values."""
    found = []
    for index, secret in enumerate(call.body.secrets):
        try:
            UUID(secret.id)
        except ValueError:
            raise invalid(f"body.secrets[{index}].id", "not an id (a UUID)", secret.id) from None
        known = await _known(call, secret)
        same = known is not None and _same(known, secret.value)
        if not same:
            check_pace(call, "values of secrets", WRONG, "Too many values differed from the stored ones.")
        found.append(same)
    return Answer(SecretsAnswer(tuple(found)))
