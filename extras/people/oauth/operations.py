"""Connected apps in the API: the list, and disconnecting one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from actors.errors import NotFound
from api.nouns.context import OperationContext
from api.route import Answer, Call, Routes
from storage.records.access import ApiKey, OAuthGrant
from storage.records.identity import rfc3339

GONE = "There is no such app; it may have been disconnected."


class AppRecord(Struct, frozen=True):
    """A connected app.

    person: the id of the person that it acts for, "" for the owner of the service's password. host: of its redirect
    URI. resource: the URL that its tokens open, with everything below it.
    """

    id: str
    app: str
    host: str
    person: str
    scopes: tuple[str, ...]
    resource: str
    created_at: str
    last_used_at: str | None


def record_of(call: OperationContext, grant: OAuthGrant) -> AppRecord:
    used = None if grant.last_used_at is None else rfc3339(grant.last_used_at)
    resource = f"{call.context.settings.public_url()}{grant.resource}"
    made = rfc3339(grant.created_at)
    return AppRecord(grant.id, grant.app, grant.host, grant.person, grant.scopes, resource, made, used)


async def grants(call: OperationContext) -> Sequence[OAuthGrant]:
    """Return the grants of everyone, newest first."""
    return (await call.context.storage.oauth.grants(call.context.world.now()))[::-1]


async def end(call: OperationContext, grant: OAuthGrant) -> None:
    """Disconnect an app. Its next request fails, and its streams end within a second."""
    await call.context.storage.oauth.end(grant.id)
    call.context.world.log("oauth.disconnected", grant=grant.id, app=grant.app, by=call.by)


def shown_to(key: ApiKey, grant: OAuthGrant) -> bool:
    """Return whether a key may see and end a grant: all with the scope admin, else its person's, and an app its own."""
    if "admin" in key.scopes or grant.id == key.grant:
        return True
    return bool(key.person) and not key.grant and grant.person == key.person


ROUTES = Routes("/v1/apps", "stream")


@ROUTES("GET", "", {200: list[AppRecord]})
async def show_all(call: Call) -> Answer:
    """List connected apps."""
    assert call.key is not None
    return Answer([record_of(call, grant) for grant in await grants(call) if shown_to(call.key, grant)])


@ROUTES("DELETE", "/{id}", {204: None}, scope="stream:read")
async def delete(call: Call) -> Answer:
    """Disconnect an app."""
    assert call.key is not None
    for grant in await grants(call):
        if grant.id == call.path["id"] and shown_to(call.key, grant):
            await end(call, grant)
            return Answer(status=204)
    raise NotFound(GONE)
