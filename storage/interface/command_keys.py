"""The keys and the password, for a short-lived command, with or without running services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.session import Password, SetUpLink


class CommandKeys(Protocol):
    """Synchronous, for commands. A running service sees each change at its next request or event."""

    def add(self, key: ApiKey) -> None:
        """Add a key. Raises DiskFull, Unavailable."""

    def all(self) -> Sequence[ApiKey]:
        """Return all keys, oldest first."""

    def revoke(self, key_id: str) -> bool:
        """Delete a key; return whether there was one."""

    def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first. Raises NoKey."""

    def public(self) -> Sequence[PublicKey]:
        """Return the public keys of other instances, oldest first."""

    def forget_public(self, key_id: str) -> bool:
        """Stop publishing the public key of another instance; return whether there was one."""

    def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one. Raises NoKey."""

    def password(self) -> Password | None:
        """Return the dashboard's password, None before the first one is set."""

    def offer(self, link: SetUpLink) -> None:
        """Store a set-up link, replacing any other."""
