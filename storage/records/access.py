"""Credentials and keys: of people (with their roles, invitations and changes), of programs, of apps that act for people
by OAuth, of the service itself. No secret of a person is stored: a password is an argon2id string; a link or session is
the SHA-256 (hex) of 256 random bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from storage.records.identity import Millis

Role = Literal["reader", "editor", "owner"]
_NOUNS = ("sources", "alerts", "bins", "publications")
_READS = frozenset(("stream:read", *(f"{noun}:read" for noun in _NOUNS)))
_EDITS = _READS | {f"{noun}:write" for noun in _NOUNS}
SCOPES_OF: Final[Mapping[Role, frozenset[str]]] = {"reader": _READS, "editor": _EDITS, "owner": _EDITS | {"admin"}}
"""role: its scopes. The scopes of routes and screens are the only gate."""
INVITATION_LIFE: Final = Millis(7 * 86_400_000)
ACTIVITY_LIFE: Final = Millis(90 * 86_400_000)


def allowed(scopes: Iterable[str], role: Role) -> tuple[str, ...]:
    """Return the scopes that a role has too. A scope of one channel is part of `stream:read`.

    >>> allowed(("stream:read:prices", "admin"), "reader")
    ('stream:read:prices',)
    """
    return tuple(scope for scope in scopes if ":".join(scope.split(":")[:2]) in SCOPES_OF[role])


class Person(Struct, frozen=True, kw_only=True):
    """A person with access. The service's own password belongs to none: it signs in the owner of the machine. email: in
    lower case, unique, or "". issuer, subject: of OpenID Connect, or of a proxy (`header`); "" if the person signs in
    by password. hashed: the password as an argon2id string, "" for none. totp: whether a second factor is set.
    """

    id: str
    name: str
    email: str
    role: Role
    created_at: Millis
    issuer: str = ""
    subject: str = ""
    hashed: str = ""
    totp: bool = False
    disabled: bool = False

    def __repr__(self) -> str:
        return f"Person({self.id!r}, {self.role}{', disabled' if self.disabled else ''})"


class Invitation(Struct, frozen=True):
    """A one-time link that makes a person. sha256: of its secret. by: the inviter's name."""

    id: str
    sha256: str
    email: str
    role: Role
    by: str
    created_at: Millis


class Activity(Struct, frozen=True):
    """A change by someone. id: a UUIDv7 of its time. person: the id, "" for the machine's owner. by: the name of the
    person or key, as it was then. operation: the label of the route or screen. object: the path of the changed record
    in the API, "" for none. before, after: the record as the API shows it, without secrets; None if there was none.
    """

    id: str
    at: Millis
    person: str
    by: str
    operation: str
    object: str = ""
    before: bytes | None = None
    after: bytes | None = None


SHOWN = 12  # characters of a key that are stored and shown, so that people can tell keys apart


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


LIFE: Final = Millis(30 * 86_400_000)  # longest life of a session, used or not
IDLE: Final = Millis(7 * 86_400_000)  # life of an unused session


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
MOST_CALLS = 100_000  # Most responses kept, newest first. A repeat of an older call is a new call.


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


Holder = ApiKey | Session  # the owner of a stream or export: a program's key, or a dashboard session


MOST_CLIENTS: Final = 1_000
UNUSED_CLIENT: Final = Millis(86_400_000)  # life of an app without consent
FRESH_CLIENT: Final = Millis(600_000)  # age at which an unused app may give way to a new one
GRANT_LIFE: Final = Millis(90 * 86_400_000)  # life of a grant without renewed tokens, and of an app without grants
CODE_LIFE: Final = Millis(60_000)
CODE_KEPT: Final = Millis(600_000)  # how long a used code is known, so that its second use ends the grant
TOKEN_LIFE: Final = Millis(3_600_000)


class OAuthClient(Struct, frozen=True):
    """An app. id: random, or the URL of its metadata document. at: when it was registered, or the document fetched."""

    id: str
    name: str
    redirects: tuple[str, ...]
    at: Millis


class OAuthGrant(Struct, frozen=True, kw_only=True):
    """A person's consent. Its access token is the API key with the same id. person: "" for the owner of the service's
    password. client: the app's id. app, host: its name and the host of its redirect URI, as the person saw them.
    resource: as of an ApiKey. last_used_at: of the access tokens.
    """

    id: str
    person: str
    client: str
    app: str
    host: str
    scopes: tuple[str, ...]
    resource: str
    created_at: Millis
    last_used_at: Millis | None = None


class OAuthCode(Struct, frozen=True, kw_only=True):
    """An authorization code: its SHA-256, and the grant that it makes. challenge: of PKCE (S256)."""

    sha256: str
    at: Millis
    redirect: str
    challenge: str
    grant: OAuthGrant

    def __repr__(self) -> str:
        return f"OAuthCode(of {self.grant.id!r})"


class RefreshToken(Struct, frozen=True):
    """The SHA-256 of both halves of a refresh token. A grant keeps its family; each renewal makes a new turn."""

    family: str
    turn: str
