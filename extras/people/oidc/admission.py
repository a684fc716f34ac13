"""A person and their role, from the claims of an issuer.

Issuer and subject are the identity: names and e-mail addresses change hands. With groups in the settings, the issuer
decides the role at each sign-in; without, an invitation or the default decides it once, and owners change it later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extras.people.settings import PeopleSettings
from storage.records.access import Role

RANKS: Final[Sequence[Role]] = ("owner", "editor", "reader")
LONGEST_NAME = 100
LONGEST_EMAIL = 254
MOST_GROUPS = 5_000


class Claimed(Struct, frozen=True):
    """A person as the issuer describes them. email: verified, in lower case, or "". groups: None if it sent none."""

    subject: str
    name: str
    email: str
    groups: frozenset[str] | None


def claimed(claims: Mapping[str, Any], groups_claim: str) -> Claimed:
    email = _text(claims, "email", LONGEST_EMAIL).lower()
    verified = claims.get("email_verified") is True and email.count("@") == 1 and not email.endswith("@")
    subject = str(claims["sub"])
    names = (_text(claims, name, LONGEST_NAME) for name in ("name", "preferred_username", "email"))
    named = next(filter(None, names), subject[:LONGEST_NAME])
    return Claimed(subject, named, email if verified else "", _groups(claims, groups_claim))


def _text(claims: Mapping[str, Any], name: str, longest: int) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        return ""
    return "".join(sign for sign in value if sign.isprintable()).strip()[:longest]


def _groups(claims: Mapping[str, Any], claim: str) -> frozenset[str] | None:
    """Return the groups at a claim's name, or at its path: `realm_access.roles` of Keycloak."""
    value: Any = claims.get(claim)
    if value is None:
        value = claims
        for part in claim.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return None
    return frozenset(one for one in value[:MOST_GROUPS] if isinstance(one, str))


def by_groups(settings: PeopleSettings) -> bool:
    return any(_wanted(settings, role) for role in RANKS)


def role_of(groups: frozenset[str] | None, settings: PeopleSettings) -> Role | None:
    """Return the highest role of some groups, else the default; None for no access."""
    default: Any = settings.oidc_default_role or None
    return next((role for role in RANKS if (groups or frozenset()) & set(_wanted(settings, role))), default)


def _wanted(settings: PeopleSettings, role: Role) -> Sequence[str]:
    wanted: Sequence[str] = getattr(settings, f"oidc_{role}_groups")
    return wanted
