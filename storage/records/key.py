"""Credentials of people, and keys of the service: API keys, password, sessions and saved views of the dashboard,
idempotent calls, and the signing keys of events.

No secret of a person is stored: the password is an argon2id string; a link or session is the SHA-256 (hex) of 256
random bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from storage.records.identity import Millis
from storage.records.person import SCOPES_OF, Role

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
    person: str = ""
    """The person whose role limits it; "" if it belongs to the service."""
    expires_at: Millis | None = None
    grant: str = ""
    """The OAuth grant that it is an access token of; "" for a key that someone made."""
    resource: str = ""
    """The only path that it opens, with everything below it; "" for all."""


class SigningKey(Struct, frozen=True):
    """An Ed25519 key pair of the service. `seed`: 32 secret bytes. A retired key stays published."""

    key_id: str
    seed: bytes
    created_at: Millis
    state: Literal["active", "retired"] = "active"

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id!r}, {self.state})"


class PublicKey(Struct, frozen=True):
    """The public signing key of another instance whose events are in the log. `x`: 32 bytes, base64url."""

    key_id: str
    x: str
    created_at: Millis


LIFE: Final = Millis(30 * 86_400_000)
"""Longest life of a session, used or not."""
IDLE: Final = Millis(7 * 86_400_000)
"""Life of an unused session."""


class Password(Struct, frozen=True):
    """The dashboard's password as an argon2id string, with parameters and salt."""

    hashed: str
    set_at: Millis

    def __repr__(self) -> str:
        return f"Password(set_at={self.set_at})"


class SetUpLink(Struct, frozen=True):
    """The link that sets a password; valid until used or replaced."""

    sha256: str
    created_at: Millis


class Session(Struct, frozen=True):
    """agent, address: of the sign-in. person: "" for the service's password. name, role: at the time of the query."""

    id: str
    sha256: str
    created_at: Millis
    seen_at: Millis
    agent: str = ""
    address: str = ""
    person: str = ""
    name: str = ""
    role: Role = "owner"

    def may(self, scope: str) -> bool:
        return scope in SCOPES_OF[self.role]

    @property
    def ends_at(self) -> Millis:
        return Millis(min(self.created_at + LIFE, self.seen_at + IDLE))


Place = Literal["sources", "stream"]


class SavedView(Struct, frozen=True):
    """query: the query string of the list's URL when the view was saved."""

    id: str
    place: Place
    name: str
    query: str
    created_at: Millis


class ReadEvents(NamedTuple):
    """The events that a person has read: all up to a position, except those that `marks` name."""

    upto: int
    marks: Mapping[int, bool]

    def has(self, seq: int) -> bool:
        return self.marks.get(seq, seq <= self.upto)


KEPT_CALL_LIFE = Millis(24 * 3_600_000)
MOST_CALLS = 100_000
"""Most responses kept, newest first. A repeat of an older call is a new call."""


class KeptCall(Struct, frozen=True):
    """A call and its response, None while it runs or if it was cut off. key: a hash of the caller and its idempotency
    key. fingerprint: a hash of the request. id: the id of the record to create, chosen in advance so that a resumed
    call finds it. answer: sealed, opaque here. node: the member that runs the call or ran it when it was cut off.
    """

    key: str
    fingerprint: str
    at: Millis
    id: str
    answer: bytes | None = None
    node: str = ""


Holder = ApiKey | Session
"""The owner of a stream or export: a program's key, or a dashboard session."""
