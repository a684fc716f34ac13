"""API keys and the signing keys of events."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

SHOWN = 12
"""Characters of a key that are kept and shown, so that a person can tell keys apart."""
_SECRET = re.compile(
    r"(svc_[A-Za-z0-9_-]{8})[A-Za-z0-9_-]{20,}|(whsec_)[A-Za-z0-9+/=_-]{8,}|(smk_)[A-Za-z0-9_-]{20,}", re.ASCII
)


def without_secrets(text: str) -> str:
    """Return text in which an API key is cut to what is shown of it, a webhook secret or master key to its prefix.

    >>> without_secrets("GET /svc_" + "x" * 43)
    'GET /svc_xxxxxxxx...'
    >>> without_secrets("whsec_" + "x" * 44 + " smk_" + "x" * 43)
    'whsec_... smk_...'
    """
    return _SECRET.sub(r"\1\2\3...", text)


class ApiKey(Struct, frozen=True):
    """An API key as it is stored: never the plaintext, only its SHA-256 (hex) and the first 12 characters."""

    id: str
    name: str
    prefix: str
    sha256: str
    scopes: tuple[str, ...]
    created_at: Millis
    rate_per_minute: int = 600
    burst: int = 100
    last_used_at: Millis | None = None


class SigningKey(Struct, frozen=True):
    """An Ed25519 key pair of the service. `seed` is 32 secret bytes; a retired key stays published."""

    key_id: str
    seed: bytes
    created_at: Millis
    state: Literal["active", "retired"] = "active"

    def __repr__(self) -> str:
        """Name the key without its seed."""
        return f"SigningKey({self.key_id!r}, {self.state})"


class PublicKey(Struct, frozen=True):
    """The public half of a signing key of another instance, whose events are in the log. `x`: 32 bytes, base64url."""

    key_id: str
    x: str
    created_at: Millis
