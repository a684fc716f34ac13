"""One sign-in, from our redirect to the issuer's.

A cookie holds a random seed; state, nonce and PKCE verifier are derived from it, so the addresses that carry them
reveal none of the others. The cookie is `SameSite=Lax`, because the callback comes from another site. It is sealed with
the client's secret, which all nodes of a service have, and lives for ten minutes.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode

LIFE: Final = 600.0  # seconds
MOST_USED = 10_000
_LONGEST = 3_000  # characters of a cookie; browsers take 4,096 with its name and attributes


@dataclass(frozen=True, slots=True)
class Journey:
    """A sign-in. seed: 32 random bytes. at: its start, in seconds since 1970. next: our page after it."""

    seed: bytes
    at: int
    next: str = "/"

    def __repr__(self) -> str:
        return f"Journey({self.at}, {self.next!r})"

    @property
    def state(self) -> str:
        return self._derived("state")

    @property
    def nonce(self) -> str:
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """The verifier's hash (RFC 7636, 4.2: S256)."""
        return _encoded(sha256(self.verifier.encode()).digest())

    def _derived(self, name: str) -> str:
        return _encoded(hmac.digest(self.seed, name.encode(), "sha256"))

    def sealed(self, secret: str, issuer: str) -> str:
        text = f"{_encoded(self.seed)}.{self.at}.{_encoded(self.next.encode())}"
        return f"{text}.{_seal(text, secret, issuer)}"


def opened(cookie: str, secret: str, issuer: str, now: float) -> Journey | None:
    """Return the sign-in of a cookie; None if it is forged, of another issuer, or older than ten minutes."""
    text, _, seal = cookie.rpartition(".")
    if len(cookie) > _LONGEST or not hmac.compare_digest(seal.encode(), _seal(text, secret, issuer).encode()):
        return None
    seed, at, back = text.split(".")
    journey = Journey(_decoded(seed), int(at), _decoded(back).decode())
    return journey if abs(now - journey.at) < LIFE else None


def authorization(endpoint: str, journey: Journey, *, client: str, redirect: str, scopes: Sequence[str]) -> str:
    asked = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": redirect,
        "scope": " ".join(scopes),
        "state": journey.state,
        "nonce": journey.nonce,
        "code_challenge": journey.challenge,
        "code_challenge_method": "S256",
    }
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"


class UsedStates:
    """States of the last ten minutes, at most 10,000: each works once, at one node, as do the issuer's codes."""

    def __init__(self) -> None:
        self._used: OrderedDict[str, float] = OrderedDict()

    def take(self, state: str, now: float) -> bool:
        while self._used and (len(self._used) >= MOST_USED or next(iter(self._used.values())) <= now - 2 * LIFE):
            self._used.popitem(last=False)
        if state in self._used:
            return False
        self._used[state] = now
        return True

    def __repr__(self) -> str:
        return f"<UsedStates: {len(self._used)}>"


def _seal(text: str, secret: str, issuer: str) -> str:
    return _encoded(hmac.digest(secret.encode(), f"oidc sign-in {issuer} {text}".encode(), "sha256"))


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
