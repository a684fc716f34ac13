"""The keys and the password, for a short-lived command beside running services or without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.session import Password, SetUpLink


class CommandKeys(Protocol):
    """Synchronous, as commands are. A running service goes by each change from its next request or event on."""

    def add(self, key: ApiKey) -> None:
        """Add a key. Raises DiskFull, Unavailable."""

    def all(self) -> Sequence[ApiKey]:
        """Return all keys, oldest first."""

    def revoke(self, key_id: str) -> bool:
        """Delete a key; return whether there was one."""

    def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first. Raises NoKey."""

    def public(self) -> Sequence[PublicKey]:
        """Return the public halves of keys that are not here, the oldest first."""

    def forget_public(self, key_id: str) -> bool:
        """Publish no more the public half of a key that is not here; return whether there was one."""

    def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one. Raises NoKey."""

    def password(self) -> Password | None:
        """Return the dashboard's password, None before the first one is set."""

    def offer(self, link: SetUpLink) -> None:
        """Keep a set-up link in the place of any before."""
