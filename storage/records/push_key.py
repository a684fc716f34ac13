"""The key by which push services know this service (VAPID, RFC 8292)."""

from __future__ import annotations

from msgspec import Struct

from storage.records.identity import Millis


class PushKey(Struct, frozen=True):
    """A pair of P-256. `public`: the point, uncompressed, base64url, as browsers are given it; `secret`: 32 bytes."""

    public: str
    secret: bytes
    created_at: Millis

    def __repr__(self) -> str:
        """Name the key without its secret."""
        return f"PushKey({self.public!r})"
