"""People, invitations, activity: the operations and their routes.

A call that gives a role needs every scope of that role, so no key gives away more than it has. Storage
protects the last owner in the transaction of the change.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from actors.errors import Conflict, NotFound
from actors.messages.declaring import made_of
from actors.notification.dialects import one_line
from api.dashboard.sessions import hashed
from api.fields.queries import ListQuery
from api.nouns.context import OperationContext, known_id, whole
from api.pagination import next_page, oldest_first, place
from api.problems import Refusal, invalid
from api.route import Answer, Call, Routes
from extras.people.fields import (
    ActivityQuery,
    ActivityRecord,
    InvitationRecord,
    NewInvitation,
    PersonPatch,
    PersonRecord,
    raw,
)
from storage.records.access import INVITATION_LIFE, SCOPES_OF, Activity, Invitation, Person, Role
from storage.records.identity import START, Millis, parse_rfc3339, rfc3339

MOST_INVITATIONS = 100
JOIN = "/join"
NEWEST = "~"  # larger than every id


async def every(call: OperationContext) -> Sequence[Person]:
    return await call.context.storage.accounts.all()


async def named(call: OperationContext, id: str) -> Person:
    found = await call.context.storage.accounts.get(known_id(id, "person"))
    if found is None:
        raise NotFound("There is no such person.")
    return found


@whole
async def invite(
    call: OperationContext, role: Role, email: str = "", planned: str | None = None
) -> tuple[Invitation, str]:
    """Raises Conflict, Refusal (403). A repeated call gets a new link under its `planned` id; no secret is stored."""
    check_gift(call, role)
    accounts, world = call.context.storage.accounts, call.context.world
    now, email = world.now(), email.strip().lower()
    if planned is not None:
        await accounts.withdraw(planned)
    if email and await accounts.by_email(email) is not None:
        raise Conflict("A person with this address has access already.")
    if len(await accounts.invitations(now)) >= MOST_INVITATIONS:
        raise Conflict(f"{MOST_INVITATIONS} invitations wait, the most possible: withdraw one first.")
    secret = urlsafe_b64encode(world.entropy(32)).rstrip(b"=").decode()
    made = Invitation(planned or world.new_id(), hashed(secret), email, role, call.by, now)
    await accounts.invite(made)
    world.log("people.invited", invitation=made.id, role=role)
    return made, f"{call.context.settings.public_url()}{JOIN}#{secret}"


@whole
async def withdraw(call: OperationContext, id: str) -> None:
    """Delete an invitation: its link stops working. Raises NotFound."""
    if not await call.context.storage.accounts.withdraw(known_id(id, "invitation")):
        raise NotFound("There is no such invitation; it may have been used.")


@whole
async def change(
    call: OperationContext,
    id: str,
    *,
    name: str | UnsetType = UNSET,
    role: Role | UnsetType = UNSET,
    disabled: bool | UnsetType = UNSET,
) -> Person:
    """Change a person. A new role, or `disabled`, ends the person's sessions. Raises NotFound, Conflict, Refusal."""
    old = await named(call, id)
    wanted: dict[str, Any] = {"role": role, "disabled": disabled, "name": name if name is UNSET else _name(name)}
    changed = replace(old, **{field: value for field, value in wanted.items() if value is not UNSET})
    if changed.role != old.role or (old.disabled and not changed.disabled):
        check_gift(call, changed.role)
    await store(call, changed)
    return changed


async def store(call: OperationContext, changed: Person) -> None:
    """Store a changed person. Raises NotFound, and Conflict for the last owner."""
    storage = call.context.storage
    if not await storage.accounts.change(changed, password_set=await storage.people.password() is not None):
        await named(call, changed.id)
        raise _last()
    call.context.world.log("people.changed", person=changed.id, role=changed.role, disabled=changed.disabled)


@whole
async def remove(call: OperationContext, id: str) -> None:
    """Delete a person with all sessions and keys. Raises NotFound, and Conflict for the last owner."""
    storage, known = call.context.storage, known_id(id, "person")
    if not await storage.accounts.remove(known, password_set=await storage.people.password() is not None):
        await named(call, known)
        raise _last()
    call.context.world.log("people.removed", person=known)


def check_gift(call: OperationContext, role: Role) -> None:
    """Refuse to give a role with scopes that the caller lacks. Raises Refusal (403)."""
    missing = sorted(scope for scope in SCOPES_OF[role] if not call.may(scope))
    if missing:
        raise Refusal("forbidden", f"To give the role {role} you need its scopes, too: {', '.join(missing)}.")


def _name(text: str) -> str:
    name = one_line(text)
    if not name or not name.isprintable():
        raise invalid("body.name", "a name has at least one letter", text)
    return name


def _last() -> Conflict:
    return Conflict("This is the last owner, and the service has no password. Make another owner first.")


INVITATIONS = Routes("/v1/invitations")
PEOPLE = Routes("/v1/people")
ACTIVITY = Routes("/v1/activity")


def _invitation(invitation: Invitation, url: str | None = None) -> InvitationRecord:
    return made_of(
        InvitationRecord, invitation, expires_at=rfc3339(Millis(invitation.created_at + INVITATION_LIFE)), url=url
    )


@INVITATIONS(
    "POST", "", {201: InvitationRecord}, scope="admin", body=(NewInvitation,), refuses=("conflict",), repeatable=True
)
async def create_invitation(call: Call) -> Answer:
    """Invite a person."""
    made, url = await invite(call, call.body.role, call.body.email, call.planned)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/invitations/{made.id}"}
    return Answer(_invitation(made, url), 201, headers=headers)


@INVITATIONS("GET", "", {200: list[InvitationRecord]}, scope="admin", query=ListQuery)
async def list_invitations(call: Call) -> Answer:
    """List the invitations that wait, oldest first."""
    page, headers = oldest_first(call, await call.context.storage.accounts.invitations(call.context.world.now()))
    return Answer([_invitation(each) for each in page], headers=headers)


@INVITATIONS("GET", "/{id}", {200: InvitationRecord}, scope="admin")
async def describe_invitation(call: Call) -> Answer:
    """Read one invitation."""
    known = known_id(call.path["id"], "invitation")
    for invitation in await call.context.storage.accounts.invitations(call.context.world.now()):
        if invitation.id == known:
            return Answer(_invitation(invitation))
    raise NotFound("There is no such invitation; it may have been used.")


@INVITATIONS("DELETE", "/{id}", {204: None}, scope="admin")
async def delete_invitation(call: Call) -> Answer:
    """Withdraw an invitation."""
    await withdraw(call, call.path["id"])
    return Answer(status=204)


@PEOPLE("GET", "", {200: list[PersonRecord]}, scope="admin", query=ListQuery)
async def list_people(call: Call) -> Answer:
    """List the people with access, oldest first."""
    page, headers = oldest_first(call, await every(call))
    return Answer([made_of(PersonRecord, each) for each in page], headers=headers)


@PEOPLE("GET", "/{id}", {200: PersonRecord}, scope="admin")
async def describe(call: Call) -> Answer:
    """Read one person."""
    return Answer(made_of(PersonRecord, await named(call, call.path["id"])))


@PEOPLE("PATCH", "/{id}", {200: PersonRecord}, scope="admin", body=(PersonPatch,), refuses=("conflict",))
async def patch(call: Call) -> Answer:
    """Change one person."""
    body: PersonPatch = call.body
    changed = await change(call, call.path["id"], name=body.name, role=body.role, disabled=body.disabled)
    return Answer(made_of(PersonRecord, changed))


@PEOPLE("DELETE", "/{id}", {204: None}, scope="admin", refuses=("conflict",))
async def delete(call: Call) -> Answer:
    """Remove one person."""
    await remove(call, call.path["id"])
    return Answer(status=204)


async def read_activity(call: OperationContext, query: ActivityQuery, before: str) -> Sequence[Activity]:
    """Return the newest changes before an id, one more than the limit if there are more. Raises Refusal (400)."""
    try:
        since = Millis(START) if query.since is None else parse_rfc3339(query.since)
    except ValueError:
        raise invalid("query.since", "not a time (RFC 3339)", query.since) from None
    accounts = call.context.storage.accounts
    return await accounts.activity(before, query.limit + 1, person=query.person, object=query.object, since=since)


@ACTIVITY("GET", "", {200: list[ActivityRecord]}, scope="admin", query=ActivityQuery)
async def list_activity(call: Call) -> Answer:
    """List who changed what, newest first."""
    found = await read_activity(call, call.query, place(call, str) or NEWEST)
    page = found[: call.query.limit]
    headers = next_page(call, page[-1].id if len(found) > len(page) else None)
    return Answer([activity_record(each) for each in page], headers=headers)


def activity_record(activity: Activity) -> ActivityRecord:
    return ActivityRecord(
        id=activity.id,
        at=rfc3339(activity.at),
        person=activity.person or None,
        by=activity.by,
        operation=activity.operation,
        object=activity.object or None,
        before=raw(activity.before),
        after=raw(activity.after),
    )


ROUTES = (*INVITATIONS, *PEOPLE, *ACTIVITY)
