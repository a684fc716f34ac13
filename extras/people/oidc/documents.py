"""The documents of an issuer: strict JSON, its metadata, its keys, and its answers. Pure.

A name twice in one object is refused: parsers disagree about which one counts, and an attacker picks the parser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from actors.egress.url import parse_url
from actors.errors import UrlRefused

LIMIT = 256 << 10  # bytes of a document. Keys of large issuers take 10 KiB, a token with hundreds of groups 50.
MOST_KEYS = 100
S = TypeVar("S", bound=Struct)


class BadDocument(Exception):
    """A document breaks a rule; the text says which."""


class Metadata(Struct, frozen=True):
    """The metadata of an issuer (OpenID Connect Discovery, 3; RFC 8414). "" for missing endpoints."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    auth_methods: tuple[str, ...] = field(
        name="token_endpoint_auth_methods_supported", default=("client_secret_basic",)
    )
    names_itself: bool = field(name="authorization_response_iss_parameter_supported", default=False)
    """It sends `iss` with each answer to the browser (RFC 9207)."""


class Tokens(Struct, frozen=True):
    """The answer to a code."""

    id_token: str
    access_token: str
    token_type: str

    def __repr__(self) -> str:
        return "Tokens()"


def strict(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadDocument("it is not JSON") from None
    if not isinstance(found, dict):
        raise BadDocument("it is not a JSON object")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadDocument("it has a name twice in one object")
    return found


def _no_number(name: str) -> None:
    raise BadDocument(f"it has {name}, which is not JSON")


def metadata_of(raw: bytes, issuer: str) -> Metadata:
    """Return an issuer's metadata. Raises BadDocument, also for another issuer's."""
    found = _converted(raw, Metadata)
    if found.issuer != issuer:  # Discovery, 4.3: exactly, without normalization
        raise BadDocument(f"it is of the issuer {found.issuer[:200]!r}: set oidc_issuer to exactly that if it is yours")
    secure = issuer.startswith("https://")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint"):
        address = getattr(found, name)
        if not address and name in ("userinfo_endpoint", "end_session_endpoint"):
            continue
        try:
            url = parse_url(address, schemes=("http", "https"))
        except UrlRefused as refusal:
            raise BadDocument(f"its {name} is refused: {refusal.detail}") from None
        if secure and not url.secure:
            raise BadDocument(f"its {name} is not https")
        if not address.isascii() or "#" in address:
            raise BadDocument(f"its {name} is no plain URL")
    return found


def keys_of(raw: bytes) -> Sequence[Mapping[str, Any]]:
    keys = strict(raw).get("keys")
    if not isinstance(keys, list) or len(keys) > MOST_KEYS:
        raise BadDocument(f"it is no set of at most {MOST_KEYS} keys")
    return [key for key in keys if isinstance(key, dict)]


def tokens_of(raw: bytes) -> Tokens:
    found = _converted(raw, Tokens)
    if found.token_type.lower() != "bearer":
        raise BadDocument("its tokens are not of type Bearer")
    return found


def _converted(raw: bytes, kind: type[S]) -> S:
    try:
        return msgspec.convert(strict(raw), kind)
    except msgspec.ValidationError as error:
        raise BadDocument(f"{error}"[:200]) from None
