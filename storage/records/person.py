"""People with access, their roles, invitations, and the record of who changed what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

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
    return tuple(one for one in scopes if ":".join(one.split(":")[:2]) in SCOPES_OF[role])


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


class Activity(Struct, frozen=True, kw_only=True):
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
