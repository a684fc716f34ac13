"""People, invitations and activity: requests and answers."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from actors.messages.declaring import Time, record_of
from api.fields.queries import Cursor, Limit
from storage.records.access import Invitation, Person, Role

NAME = 100  # characters of a name
Name = Annotated[str, Meta(min_length=1, max_length=NAME, description="The name that others see")]
Email = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^(|[^@\s]+@[^@\s]+)$(?!\n)",
        description='Who may use the invitation; "" if the link alone decides',
        examples=["ada@example.com"],
        extra={"form": "an e-mail address, or empty"},
    ),
]


class NewInvitation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An invitation to make."""

    role: Annotated[Role, Meta(description="What the person may do")] = "reader"
    email: Email = ""


@record_of(Invitation, "id role email by created_at expires_at url")
class InvitationRecord(Struct, frozen=True, kw_only=True):
    """An invitation that waits. `url` is shown only once, by the call that makes it; null everywhere else."""

    expires_at: Time
    url: str | None = None


@record_of(Person, "id name email role issuer totp disabled created_at")
class PersonRecord(Struct, frozen=True, kw_only=True):
    """A person with access. `issuer` is empty for a person who signs in by password."""


class PersonPatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields to change; omitted ones stay."""

    name: Name | UnsetType = UNSET
    role: Role | UnsetType = UNSET
    disabled: Annotated[bool, Meta(description="Whether the person is kept out")] | UnsetType = UNSET


class ActivityRecord(Struct, frozen=True, kw_only=True):
    """A change by someone. `before` and `after` hold the fields that differ, as the API shows them, without secrets."""

    id: str
    at: Time
    person: Annotated[str | None, Meta(description="The person's id; null for a key or password of the service")]
    by: Annotated[str, Meta(description="The name of the person or key at that time")]
    operation: Annotated[str, Meta(examples=["PATCH /v1/sources/{id}"])]
    object: Annotated[str | None, Meta(description="The path of the changed record; null if there is none")]
    before: Any = None
    after: Any = None


Since = Annotated[
    str,
    Meta(
        max_length=40,
        description="Only changes from this time on",
        extra_json_schema={"format": "date-time"},
        examples=["2026-04-21T10:00:00Z"],
    ),
]


class ActivityQuery(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The part of the activity to return."""

    person: Annotated[str, Meta(max_length=100)] = ""
    object: Annotated[str, Meta(max_length=500)] = ""
    since: Since | None = None
    limit: Limit = 100
    cursor: Cursor | None = None


def raw(body: bytes | None) -> Raw | None:
    return None if body is None else Raw(body)
