"""Routes that reveal texts need the reading scope too (S8)."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from api.keys import SCOPES as SAID
from api.route import Route
from sanderling.commands.keys import create
from tests.api.house import House
from tests.api.walk import all_routes, assert_problem, call
from tests.rules.source_files import ROOT

HOOK = {"kind": "webhook", "url": "https://hook.test/in", "delivery_mode": "instant"}
LETS_OUT = {
    "POST /v1/alerts": "stream:read",
    "PATCH /v1/alerts/{id}": "stream:read",
    "POST /v1/alerts/preview": "stream:read",
    "POST /v1/destinations/preview": "stream:read",
    "POST /v1/alerts/{id}/destinations": "stream:read",
    "PATCH /v1/destinations/{id}": "stream:read",
    "POST /v1/destinations/{id}/replay": "stream:read",
    "POST /v1/templates/{template_id}/instantiate": "stream:read",
    "POST /v1/sources/{id}/preview": "sources:read",
    "POST /v1/sources/{id}/blocks": "sources:read",
}
ROUTES = [route for route in all_routes() if route.label in LETS_OUT]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.label)
async def test_x16_s8_a_route_that_sends_texts_out_needs_the_scope_that_reads_them(house: House, route: Route) -> None:
    reads = LETS_OUT[route.label]
    narrow = [scope for scope in SAID if scope != reads]
    async with await house.client(*narrow, "stream:read:pricing") as client:
        answer = await call(client, route)
        assert_problem(answer, 403, "forbidden")
        assert answer.json()["detail"].endswith(f"lacks the scope {reads}.")
    async with await house.client(*narrow, reads) as client:
        assert (await call(client, route)).status_code != 403


def test_s8_every_route_that_lets_texts_out_is_there() -> None:
    assert {route.label for route in ROUTES} == LETS_OUT.keys()


async def test_s8_a_key_for_alerts_alone_can_still_delete_them(house: House) -> None:
    async with await house.client("alerts:write", "stream:read") as client:
        path = f"/v1/alerts/{(await client.post('/v1/alerts', json={'filter_query': 'x'})).json()['id']}"
    async with await house.client("alerts:write") as client:
        assert (await client.delete(path)).status_code == 204


def test_s8_table_form_and_help_say_which_scope_requires_which() -> None:
    """The routes are the truth; the form shows `api.keys.SCOPES`."""
    page = (ROOT / "docs/security-access.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w:]+)`(?:, `[\w:]+`)* \| (.+) \|$", page, re.M))
    reading = {"stream:read", "sources:read", "alerts:read"}
    wants = {(route.scope, more) for route in all_routes() for more in route.beside if more in reading}
    assert len(wants) >= 4
    said = CliRunner().invoke(create, ["--help"]).output
    assert [(scope, more) for scope, more in sorted(wants) if f"with `{more}`" not in rows[scope]] == []
    assert [(scope, more) for scope, more in sorted(wants) if f"with {more}" not in SAID[scope]] == []
    said = " ".join(said.split())
    taken = [(set(re.findall(r"\w+:\w+", part))) for part in re.split(r"[.;]| to (?=try|preview)", said)]
    assert [(scope, more) for scope, more in sorted(wants) if not any({scope, more} <= part for part in taken)] == []
    assert [scope for scope in SAID if scope not in said] == []


async def test_a_write_only_key_gets_id_and_revision_only(house: House) -> None:
    """Security finding 9: `PATCH {}` showed the whole record to a key without the reading scope."""
    async with await house.client(*SAID) as owner:
        source = (await owner.post("/v1/sources", json={"url": "https://example.com/feed", "title": "Mine"})).json()
        alert = (await owner.post("/v1/alerts", json={"filter_query": "x"})).json()
        hook = (await owner.post(f"/v1/alerts/{alert['id']}/destinations", json=HOOK)).json()
        publication = (await owner.post("/v1/publications", json={"title": "All"})).json()
    paths = {
        "sources": [f"/v1/sources/{source['id']}"],
        "alerts": [f"/v1/alerts/{alert['id']}", f"/v1/destinations/{hook['id']}"],
        "publications": [f"/v1/publications/{publication['id']}"],
    }
    for room, some in paths.items():
        async with await house.client(f"{room}:write", "stream:read") as client:
            for path in some:
                answer = await client.patch(path, json={})
                assert answer.status_code == 200, answer.text
                assert answer.json().keys() == {"id", "revision"}, path
    async with await house.client("sources:write") as client:
        batch = {"sources": [{"url": "https://example.com/feed"}, {"url": "https://example.com/page"}]}
        for result in (await client.post("/v1/sources", json=batch)).json()["results"]:
            assert result["source"].keys() == {"id", "revision"}
        again = await client.post("/v1/sources", json={"url": "https://example.com/feed"})
        assert again.json().keys() == {"id", "revision"}
        repeated = {"json": {"url": "https://example.com/page"}, "headers": {"Idempotency-Key": "1"}}
        assert [(await client.post("/v1/sources", **repeated)).json().keys() for _ in "12"] == [{"id", "revision"}] * 2
    async with await house.client("alerts:write", "stream:read") as client:
        made = (await client.post(f"/v1/alerts/{alert['id']}/destinations", json=HOOK)).json()
        assert made.keys() == {"id", "revision", "secret"}, "nobody else is ever told it"
        assert_problem(await client.post(f"/v1/destinations/{made['id']}/rotate-secret"), 403, "forbidden")
