"""API keys, the keys that events are signed with, and the one that push services know us by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.records.identity import Millis
from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.push_key import PushKey


class Keys(Protocol):
    """API keys and signing keys. A change made by another process (the command line) is seen by the next call."""

    async def add(self, key: ApiKey) -> None:
        """Add an API key."""

    async def by_hash(self, sha256: str) -> ApiKey | None:
        """Return the key with this hash, unless it was revoked. On the path of every request: microseconds."""

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
        """Add a signing key as the active one, unless there is one: of several starts at once, one makes the first."""

    async def public(self) -> Sequence[PublicKey]:
        """Return the public halves of keys that are not here, the oldest first: events here were signed with them.

        They are other instances', or have been given up with the master key that sealed them.
        """

    async def add_public(self, keys: Sequence[PublicKey]) -> None:
        """Keep public halves of keys, for good; one that is there already stays as it is."""

    async def push(self) -> PushKey | None:
        """Return the key that push services know us by, None while none is made."""

    async def add_first_push(self, key: PushKey) -> None:
        """Add that key, unless there is one: of several who make one at once, one makes it."""
