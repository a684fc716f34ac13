"""API keys, the signing keys of events, and the key for push services (VAPID, RFC 8292)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

SHOWN = 12
"""Characters of a key that are stored and shown, so that people can tell keys apart."""


class ApiKey(Struct, frozen=True):
    """A stored API key: its SHA-256 (hex) and first 12 characters, never the plaintext."""

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
    """An Ed25519 key pair of the service. `seed`: 32 secret bytes. A retired key stays published."""

    key_id: str
    seed: bytes
    created_at: Millis
    state: Literal["active", "retired"] = "active"

    def __repr__(self) -> str:
        """Leave out the seed."""
        return f"SigningKey({self.key_id!r}, {self.state})"


class PublicKey(Struct, frozen=True):
    """The public signing key of another instance whose events are in the log. `x`: 32 bytes, base64url."""

    key_id: str
    x: str
    created_at: Millis


class PushKey(Struct, frozen=True):
    """A P-256 key pair. `public`: the uncompressed point, base64url, as browsers get it. `secret`: 32 bytes."""

    public: str
    secret: bytes
    created_at: Millis

    def __repr__(self) -> str:
        """Leave out the secret."""
        return f"PushKey({self.public!r})"
