"""Checks an ID token (OpenID Connect Core, 3.1.3.7). Pure.

PyJWT reads keys, verifies the signature, and checks issuer and audience. The times are checked here, by the World's
clock. The algorithm must be on our list and fit the type of the key: no `none`, and no HMAC, whose secret would be the
public key.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from extras.people.oidc.documents import LIMIT, BadDocument, strict

ALGORITHMS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{family}{bits}": ("RSA", "") for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""algorithm: its type of key and its curve."""
SKEW = 60.0  # seconds that the issuer's clock may differ from ours
SUBJECT = 255  # the longest subject (Core, 2)


class BadToken(Exception):
    """An ID token is refused; the text says why, for the log."""


class UnknownKey(BadToken):
    """No key of the set fits. The issuer may have new keys."""


def checked(
    token: str, keys: Sequence[Mapping[str, Any]], *, issuer: str, client: str, nonce: str, now: float
) -> Mapping[str, Any]:
    """Return the claims of an ID token. now: seconds since 1970. Raises BadToken, UnknownKey."""
    header, claims = _unverified(token)
    name, key = _key(header, keys)
    try:
        verified = jwt.decode(
            token,
            PyJWK(dict(key), name),
            algorithms=[name],
            audience=client,
            issuer=issuer,
            options={
                "require": ["iss", "sub", "aud", "exp", "iat", "nonce"],
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
                "enforce_minimum_key_length": True,
            },
        )
    except PyJWTError as error:
        raise BadToken(f"{error}"[:200]) from None
    if verified != claims:
        raise BadToken("two readings of it differ")
    _check_audience(claims, client)
    _check_times(claims, now)
    if not isinstance(claims["nonce"], str) or not hmac.compare_digest(claims["nonce"].encode(), nonce.encode()):
        raise BadToken("its nonce is of another sign-in")
    if not 0 < len(claims["sub"]) <= SUBJECT:
        raise BadToken(f"its subject has no 1 to {SUBJECT} characters")
    return claims


def _unverified(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and claims, read strictly. PyJWT takes the last of two equal names."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > LIMIT or not token.isascii():
        raise BadToken("it is no signed token")
    try:
        header, claims = (strict(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except (BadDocument, ValueError) as error:
        raise BadToken(f"it can't be read: {error}") from None
    return header, claims


def _key(header: Mapping[str, Any], keys: Sequence[Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    name, wanted = header.get("alg"), header.get("kid")
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise BadToken(f"its algorithm is {str(name)[:20]!r}")
    if "crit" in header:
        raise BadToken("it has critical extensions")
    kind, curve = ALGORITHMS[name]
    fitting = [
        key
        for key in keys
        if key.get("kty") == kind
        and (not curve or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", name) == name
        and (wanted is None or key.get("kid") == wanted)
    ]
    if not fitting:
        raise UnknownKey("no key of the issuer fits it")
    if len(fitting) > 1:
        raise BadToken("several keys of the issuer fit it")
    return name, fitting[0]


def _check_audience(claims: Mapping[str, Any], client: str) -> None:
    audience = claims["aud"]
    party = claims.get("azp")
    if party is not None and party != client:
        raise BadToken("it was issued to another client")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise BadToken("it has several audiences and no azp")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    times = {name: claims[name] for name in ("exp", "iat", "nbf") if name in claims}
    for name, at in times.items():
        if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < 1 << 53:
            raise BadToken(f"its {name} is no time")
    if times["exp"] <= now - SKEW:
        raise BadToken("it has expired")
    if max(times["iat"], times.get("nbf", 0)) > now + SKEW:
        raise BadToken("it is from the future")
