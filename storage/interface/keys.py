"""API keys, the signing keys of events, and the key for push services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.records.identity import Millis
from storage.records.key import ApiKey, PublicKey, PushKey, SigningKey


class Keys(Protocol):
    """API keys and signing keys. The next call sees changes by other processes (commands)."""

    async def add(self, key: ApiKey) -> None:
        """Add an API key."""

    async def by_hash(self, sha256: str) -> ApiKey | None:
        """Return the key with this hash unless revoked. On the path of every request: microseconds."""

    async def all(self) -> Sequence[ApiKey]:
        """Return all keys, oldest first."""

    async def revoke(self, key_id: str) -> bool:
        """Delete a key; return whether there was one."""

    async def touch(self, used: Mapping[str, Millis]) -> None:
        """Record when keys were last used (lazily, in batches)."""

    async def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first."""

    async def active_signing(self) -> str | None:
        """Return the id of the active signing key. On the path of every batch of events: microseconds."""

    async def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one and retire the others."""

    async def add_first_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one unless there is one: of concurrent starts, one adds the first."""

    async def public(self) -> Sequence[PublicKey]:
        """Return the public keys of keys that are not stored here, oldest first; they signed events in the log.

        They belong to other instances, or were given up with their master key.
        """

    async def add_public(self, keys: Sequence[PublicKey]) -> None:
        """Store public keys permanently; an existing one stays unchanged."""

    async def push(self) -> PushKey | None:
        """Return the key for push services, None before it is made."""

    async def add_first_push(self, key: PushKey) -> None:
        """Add that key unless there is one: of concurrent callers, one adds it."""
