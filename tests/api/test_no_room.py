"""A full disk: every writing route answers 503 with Retry-After and changes nothing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from actors.messages.views import SourceView
from api.openapi.document import ROUTES
from storage.errors import DiskFull
from storage.records.access import ApiKey, OAuthCode, OAuthGrant, Person, RefreshToken
from storage.records.source import SourceRuntime
from supervision import Mailbox
from tests.api.house import ALL, House, ids
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import HOOK, hooked
from tests.api.nouns.test_why import a_page_draft, commit
from tests.support.build import NOW, a_source

WRITES_NOTHING = {
    "POST /v1/sources/detect",
    "POST /v1/sources/blocks",
    "POST /v1/sources/{id}/preview",
    "POST /v1/sources/{id}/blocks",
    "POST /v1/sources/{id}/check",
    "POST /v1/secrets/compare",
    "POST /v1/admin/streams/{number}/close",
    "POST /v1/alerts/preview",
    "POST /v1/destinations/preview",
    "POST /v1/templates/{template_id}/preview",
    "POST /v1/destinations/{id}/test",
    "POST /v1/destinations/{id}/invite",
    "POST /mcp",  # its tools call the routes of this table
    "DELETE /mcp",  # clears memory only
    "POST /v1/admin/tree/{path}/check",
    "POST /v1/admin/tree/{path}/restart",
    "POST /v1/admin/tree/{path}/release",
    "POST /v1/admin/drain",
    "POST /v1/admin/resume",
}
TOLD_IN_A_REPORT = {"POST /v1/templates/{template_id}/instantiate"}
"""Always 200: the report lists each source and alert as failed."""
BODIES: dict[str, Any] = {
    "POST /v1/sources": {"url": "https://new.test/"},
    "PATCH /v1/sources/{id}": {"tags": ["t:1"]},
    "POST /v1/events/{id}/feedback": {"verdict": "noise"},
    "POST /v1/alerts": {"filter_query": "price"},
    "PATCH /v1/alerts/{id}": {"name": "other"},
    "POST /v1/alerts/{id}/destinations": HOOK,
    "PATCH /v1/destinations/{id}": {"label": "other"},
    "PUT /v1/tags/{tag}": {"schedule": "1h"},
    "POST /v1/publications": {"title": "All"},
    "PATCH /v1/publications/{id}": {"title": "other"},
    "POST /v1/invitations": {"role": "reader"},
    "PATCH /v1/people/{id}": {"role": "reader"},
    "POST /v1/destinations/{id}/replay": {"since": "2000-01-01T00:00:00Z"},
}
WRITERS = [route for route in ROUTES if route.method != "GET" and route.label not in WRITES_NOTHING | TOLD_IN_A_REPORT]


WRITTEN = (
    *("AddSource", "EditSource", "DeleteSource", "RestoreSource", "Teach"),
    *("ShowPractice", "ChangePractice", "EndPractice"),
)
"""Messages to the registry that need a write."""


async def ids_of(house: House, client: httpx.AsyncClient) -> dict[str, str]:
    """Make one record of each kind; return their ids by the start of their paths."""
    source = a_source(type="html")
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    (event,) = await commit(house, a_page_draft())
    hook = (await hooked(client))["id"]
    house.destinations[hook] = Mailbox("hook", 4)
    assert (await client.put("/v1/tags/prices", json={"schedule": "2h"})).is_success
    return {
        "/v1/sources/": source.id,
        "/v1/events/": ids([event])[0],
        "/v1/alerts/": (await made(client))["id"],
        "/v1/destinations/": hook,
        "/v1/admin/tree/": f"sources/{source.id}",
        "/v1/admin/keys/": (await house.storage.keys.all())[0].id,
        "/v1/publications/": (await client.post("/v1/publications", json={"title": "Prices"})).json()["id"],
        "/v1/webhook-bins/": (await client.post("/v1/webhook-bins")).json()["id"],
        "/v1/invitations/": (await client.post("/v1/invitations", json={"role": "editor"})).json()["id"],
        "/v1/people/": await _a_person(house),
        "/v1/apps/": await _an_app(house),
    }


async def _a_person(house: House) -> str:
    person = Person(id=house.context.world.new_id(), name="Ada", email="", role="editor", created_at=NOW)
    assert await house.storage.accounts.add(person)
    return person.id


async def _an_app(house: House) -> str:
    id, scopes = house.context.world.new_id(), ("stream:read",)
    named = {"client": "app", "app": "Reader", "host": "app.test", "resource": ""}
    grant = OAuthGrant(id=id, person="", scopes=scopes, created_at=NOW, **named)
    key = ApiKey(id, "Reader", "svc_", f"sha of {id}", scopes, NOW, grant=id)
    code = OAuthCode(sha256="code", at=NOW, redirect="https://app.test/", challenge="", grant=grant)
    await house.storage.oauth.put_code(code)
    assert await house.storage.oauth.take_code("code", NOW) == code
    assert await house.storage.oauth.begin(code, RefreshToken("family", "turn"), key)
    return id


async def picture(client: httpx.AsyncClient) -> list[Any]:
    paths = (
        "/v1/sources",
        "/v1/alerts",
        "/v1/destinations",
        "/v1/publications",
        "/v1/webhook-bins",
        "/v1/invitations",
        "/v1/people",
        "/v1/apps",
    )
    return [(await client.get(path)).json() for path in paths]


@pytest.mark.parametrize("name", ["", "a-key"])
@pytest.mark.parametrize("label", [route.label for route in WRITERS])
async def test_a_write_without_room_is_503_says_when_to_come_back_and_changes_nothing(
    house: House, label: str, name: str
) -> None:
    def refuse(message: Any) -> Any:
        if type(message).__name__ in WRITTEN:
            return message.reply.fail(DiskFull("no room"))
        return handle(message)

    async with await house.client(*ALL) as client:
        there = await ids_of(house, client)
        before = await picture(client)
        house.storage.disk.full = True
        handle, house.registry._handle = house.registry._handle, refuse  # type: ignore[method-assign]
        method, path = label.replace("{what}", "page").replace("{tag}", "prices").split()
        for beginning, id in there.items():
            if path.startswith(beginning):
                path = path.replace("{id}", id).replace("{path}", id)
        headers = {"Idempotency-Key": name} if name else {}
        answer = await client.request(method, path, json=BODIES.get(label), headers=headers)
        assert (answer.status_code, answer.headers.get("retry-after")) == (503, "60"), answer.text
        assert answer.json()["type"].endswith("/unavailable")
        house.storage.disk.full = False
        assert await picture(client) == before


def test_every_route_that_may_write_is_walked_or_named() -> None:
    labels = {route.label for route in ROUTES if route.method != "GET"}
    assert labels >= WRITES_NOTHING | TOLD_IN_A_REPORT | set(BODIES)
    bodies = {route.label for route in WRITERS if route.body}
    assert bodies == set(BODIES), "a new route needs a body here, or a word on why it writes nothing"


async def test_a_batch_reports_the_error_of_each_item(house: House, client: httpx.AsyncClient) -> None:
    def refuse(message: Any) -> Any:
        return message.reply.fail(DiskFull("no room"))

    house.registry._handle = refuse  # type: ignore[method-assign]
    answer = await client.post("/v1/sources", json={"sources": [{"url": "https://a.test/"}]})
    (result,) = answer.json()["results"]
    assert (answer.status_code, result["status"], result["error"]["status"]) == (207, "failed", 503)
