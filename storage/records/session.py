"""Access to the dashboard: one password, a one-time link to set it, and the sessions that are signed in.

No secret is kept: the password is an argon2id string, a link and a session are the SHA-256 (hex) of 256 random bits.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from storage.records.identity import Millis

LIFE: Final = Millis(30 * 86_400_000)
"""How long a session lasts, however much it is used."""
IDLE: Final = Millis(7 * 86_400_000)
"""How long a session lasts that nobody uses."""


class Password(Struct, frozen=True):
    """The dashboard's password as argon2id wrote it (parameters and salt included), and since when it holds."""

    hashed: str
    set_at: Millis

    def __repr__(self) -> str:
        """Name it without its hash."""
        return f"Password(set_at={self.set_at})"


class SetUpLink(Struct, frozen=True):
    """The link with which a password is set, until it is used or another takes its place."""

    sha256: str
    created_at: Millis


class Session(Struct, frozen=True):
    """One browser that is signed in. agent, address: what it called itself, and where it signed in from."""

    id: str
    sha256: str
    created_at: Millis
    seen_at: Millis
    agent: str = ""
    address: str = ""

    @property
    def ends_at(self) -> Millis:
        """When it ends unless it is used again."""
        return Millis(min(self.created_at + LIFE, self.seen_at + IDLE))
