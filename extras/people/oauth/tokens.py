"""Codes, tokens, PKCE, scopes and resources of OAuth. Pure: takes entropy and clock as arguments."""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec.structs import replace

from api.keys import BURST, CHANNEL_SCOPE, RATE, SCOPES, KeyRefused, check_scope, new_key
from storage.records.access import TOKEN_LIFE, ApiKey, OAuthGrant, RefreshToken, Role, allowed
from storage.records.identity import Millis

Entropy = Callable[[int], bytes]
MCP: Final = "/mcp"
TOOLS: Final = ("stream:read", "sources:read", "sources:write", "alerts:read", "alerts:write")
"""The scopes that the tools of an assistant use."""
OFFERED: Final = tuple(scope for scope in SCOPES if scope != "admin")
"""The scopes that metadata offers to all apps. An app may ask for admin by name."""
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_REFRESH = re.compile(r"svr_([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})", re.ASCII)


class Tokens(NamedTuple):
    """New tokens: their texts and stored hashes."""

    access: str
    refresh: str
    key: ApiKey
    stored: RefreshToken


def drawn(entropy: Entropy) -> str:
    return urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()


def hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def is_challenge(text: str) -> bool:
    return _CHALLENGE.fullmatch(text) is not None


def fits(verifier: str, challenge: str) -> bool:
    """Return whether a PKCE verifier belongs to an S256 challenge (RFC 7636, 4.6).

    >>> fits("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    True
    """
    if not _VERIFIER.fullmatch(verifier):
        return False
    return hmac.compare_digest(urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"="), challenge.encode())


def refresh_in(text: str) -> RefreshToken | None:
    """Return the hashes of a refresh token; None if the text cannot be one."""
    found = _REFRESH.fullmatch(text)
    return None if found is None else RefreshToken(hashed(found[1]), hashed(found[2]))


def tokens_of(
    grant: OAuthGrant, scopes: Sequence[str], *, entropy: Entropy, now: Millis, family: str | None = None
) -> Tokens:
    """Return the tokens of a grant. family: that of its refresh token before, as text; None for its first."""
    access, key = new_key(grant.app, scopes, entropy=entropy, now=now, rate=RATE, burst=BURST)
    key = replace(key, id=grant.id, person=grant.person, grant=grant.id, resource=grant.resource)
    key = replace(key, expires_at=Millis(now + TOKEN_LIFE))
    family, turn = family or drawn(entropy), drawn(entropy)
    return Tokens(access, f"svr_{family}.{turn}", key, RefreshToken(hashed(family), hashed(turn)))


def family_of(refresh: str) -> str:
    """Return the constant half of a refresh token, given that `refresh_in` accepts it."""
    return refresh.removeprefix("svr_").partition(".")[0]


def asked_of(text: str, role: Role, resource: str) -> tuple[str, ...]:
    """Return the known scopes that an app asks for and the role has; without any, those to read with.

    >>> asked_of("stream:read sources:write nonsense", "reader", "/mcp")
    ('stream:read',)
    >>> asked_of("", "reader", "/mcp")
    ('stream:read', 'sources:read', 'alerts:read')
    """
    known = [scope for scope in dict.fromkeys(text.split(" ")) if is_scope(scope)]
    return allowed(known or [scope for scope in (TOOLS if resource else OFFERED) if scope.endswith(":read")], role)


def chosen(offered: Sequence[str], ticked: Sequence[str]) -> tuple[str, ...]:
    """Return the scopes of a consent: ticks that the page did not offer count for nothing."""
    return tuple(text for text in offered if text in ticked)


def is_scope(text: str) -> bool:
    try:
        check_scope(text)
    except KeyRefused:
        return False
    return True


def order(scope: str) -> int:
    """Return a scope's place in the table of scopes; channels come last."""
    return len(SCOPES) if scope.startswith(CHANNEL_SCOPE) else list(SCOPES).index(scope)


def resource_in(text: str, base_url: str) -> str | None:
    """Return the path of the resource that an app asks for (RFC 8707); None if it is not ours.

    Apps of older versions of MCP name none and get `/mcp`, the narrower one.

    >>> [resource_in(text, "https://a.test") for text in ("", "https://a.test/", "https://a.test/mcp", "https://b.test")]
    ['/mcp', '', '/mcp', None]
    """
    return {"": MCP, base_url: "", f"{base_url}/": "", base_url + MCP: MCP, f"{base_url}{MCP}/": MCP}.get(text)
