"""The key that identifies this service to push services (VAPID, RFC 8292)."""

from __future__ import annotations

from msgspec import Struct

from storage.records.identity import Millis


class PushKey(Struct, frozen=True):
    """A P-256 key pair. `public`: the uncompressed point, base64url, as browsers get it. `secret`: 32 bytes."""

    public: str
    secret: bytes
    created_at: Millis

    def __repr__(self) -> str:
        """Leave out the secret."""
        return f"PushKey({self.public!r})"
