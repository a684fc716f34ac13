"""Dashboard sessions and saved views, and idempotent calls.

No secret is stored: the password is an argon2id string; a link or session is the SHA-256 (hex) of 256 random bits.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from storage.records.identity import Millis

LIFE: Final = Millis(30 * 86_400_000)
"""Longest life of a session, used or not."""
IDLE: Final = Millis(7 * 86_400_000)
"""Life of an unused session."""


class Password(Struct, frozen=True):
    """The dashboard's password as an argon2id string, with parameters and salt."""

    hashed: str
    set_at: Millis

    def __repr__(self) -> str:
        """Leave out the hash."""
        return f"Password(set_at={self.set_at})"


class SetUpLink(Struct, frozen=True):
    """The link that sets a password; valid until used or replaced."""

    sha256: str
    created_at: Millis


class Session(Struct, frozen=True):
    """A signed-in browser. agent, address: its User-Agent and the address it signed in from."""

    id: str
    sha256: str
    created_at: Millis
    seen_at: Millis
    agent: str = ""
    address: str = ""

    @property
    def ends_at(self) -> Millis:
        """When it ends if it is not used again."""
        return Millis(min(self.created_at + LIFE, self.seen_at + IDLE))


Place = Literal["sources", "stream"]
"""The list that the view filters."""


class SavedView(Struct, frozen=True):
    """query: the query string of the list's URL when the view was saved."""

    id: str
    place: Place
    name: str
    query: str
    created_at: Millis


KEPT_CALL_LIFE = Millis(24 * 3_600_000)
"""How long a response is kept."""
MOST = 100_000
"""Most responses kept, newest first. A repeat of an older call is a new call."""


class KeptCall(Struct, frozen=True):
    """A call and its response, None while it runs or if it was cut off.

    key: a hash of the caller and its idempotency key. fingerprint: a hash of the request. id: the id of the record to
    create, chosen in advance so that a resumed call finds it. answer: sealed, opaque here. node: the member that runs
    the call or ran it when it was cut off.
    """

    key: str
    fingerprint: str
    at: Millis
    id: str
    answer: bytes | None = None
    node: str = ""
