from __future__ import annotations

import re

import jsonschema
import msgspec
import openapi_spec_validator
import pytest
import trio
from jsonschema import Draft202012Validator

from api.problems import KINDS
from api.wellknown import SCHEMAS
from tests.api.house import House
from tests.api.test_access import all_routes


async def test_the_keys_are_public_and_cacheable(house: House) -> None:
    async with house.stranger() as client:
        answer = await client.get("/.well-known/jwks.json")
    assert answer.json() == {"keys": []}
    assert answer.headers["cache-control"] == "public, max-age=300"


async def test_healthz_says_when_the_writer_stands_still(house: House, autojump_clock: object) -> None:
    moved = trio.current_time()
    house.storage.writer_moved_at = lambda: moved  # type: ignore[method-assign]
    async with house.stranger() as client:
        await trio.sleep(29)
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        await trio.sleep(2)
        sick = await client.get("/healthz")
    assert (sick.status_code, sick.json()["errors"][0]["location"]) == (503, "writer")


async def test_readyz_names_the_part_that_fails(house: House) -> None:
    async with house.stranger() as client:
        house.readiness.update(recorder="", sources="")
        house.overdue = 3  # a busy host alone makes some: that is no reason to send traffic elsewhere
        ready = {"status": "ready", "parts": ["recorder", "sources"], "overdue": 3}
        assert (await client.get("/readyz")).json() == ready
        house.readiness["sources"] = "They are being loaded."
        answer = await client.get("/readyz")
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert answer.json()["errors"] == [{"location": "sources", "message": "They are being loaded.", "value": None}]


async def test_every_schema_url_serves_a_valid_schema(house: House) -> None:
    async with house.stranger() as client:
        for name in SCHEMAS:
            answer = await client.get(f"/schemas/{name}/1.json")
            schema = answer.json()
            Draft202012Validator.check_schema(schema)
            assert schema["$id"] == f"http://sanderling.test/schemas/{name}/1.json"
        assert (await client.get("/schemas/nothing/1.json")).status_code == 404
        assert (await client.get("/schemas/problem/2.json")).status_code == 404


async def test_answers_are_as_their_schemas_say(house: House) -> None:
    async with await house.client() as client:
        made = await client.post("/v1/sources", json={"url": "https://a.test/"})
        path = f"/v1/sources/{made.json()['id']}"
        answers = {
            "source": made.json(),
            "source-health": (await client.get(f"{path}/health")).json(),
            "source-status": (await client.get(f"{path}/status")).json(),
            "problem": (await client.get("/v1/nothing")).json(),
        }
        for name, answer in answers.items():
            jsonschema.validate(answer, (await client.get(f"/schemas/{name}/1.json")).json())


async def test_every_problem_type_resolves_to_its_page(house: House) -> None:
    async with house.stranger() as client:
        for slug, kind in KINDS.items():
            page = await client.get(f"/problems/{slug}")
            assert page.status_code == 200 and kind.title in page.text
            assert page.headers["content-security-policy"] == "default-src 'none'"
        assert (await client.get("/problems/nothing")).status_code == 404


async def test_the_description_is_valid_and_names_every_route(house: House) -> None:
    async with house.stranger() as client:
        description = (await client.get("/openapi.json")).json()
    openapi_spec_validator.validate(description)
    described = {(method.upper(), path) for path, methods in description["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in all_routes()} - {("GET", "/openapi.json")}
    names = [operation["operationId"] for methods in description["paths"].values() for operation in methods.values()]
    assert len(set(names)) == len(names)


def test_every_reference_of_the_description_resolves() -> None:
    from tests.api.test_access import the_app

    app = the_app()
    route = app.routes["GET /openapi.json"]
    assert route.scope == "public"
    from api.app import ROUTES
    from api.openapi import document

    description = document(ROUTES, "http://x")
    for name in re.findall(r'"#/components/schemas/([^"]+)"', msgspec.json.encode(description).decode()):
        assert name in description["components"]["schemas"]


@pytest.mark.parametrize("scope", ["sources:read", "stream:read"])
async def test_the_description_says_which_scope_a_route_needs(house: House, scope: str) -> None:
    async with house.stranger() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    path = {"sources:read": "/v1/sources", "stream:read": "/v1/events"}[scope]
    assert scope in paths[path]["get"]["description"]
    assert paths["/healthz"]["get"]["security"] == []
