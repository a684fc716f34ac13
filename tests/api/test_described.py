"""The service's description of itself, as served: the documents and the schemas."""

from __future__ import annotations

import json
import re
from typing import Any

import openapi_spec_validator
import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct
from msgspec.structs import fields

from actors.delivery import schedule
from api.nouns.deliveries import Digest
from api.openapi.document import KINDS_SENT, ROUTES, published
from storage.records import event
from tests.api.house import House
from tests.api.walk import all_routes

SCHEMAS = published(ROUTES, KINDS_SENT)


async def test_the_description_is_valid_and_names_every_route(house: House) -> None:
    async with house.stranger() as client:
        answer = await client.get("/openapi.json")
    openapi_spec_validator.validate(answer.json())
    described = {(method.upper(), path) for path, methods in answer.json()["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in all_routes()}
    assert answer.json()["servers"][0]["url"] == "http://sanderling.test"
    assert answer.headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize("scope", ["sources:read", "stream:read"])
async def test_the_description_says_which_scope_a_route_needs(house: House, scope: str) -> None:
    async with house.stranger() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    path = {"sources:read": "/v1/sources", "stream:read": "/v1/events"}[scope]
    assert f"Scope: `{scope}`." in paths[path]["get"]["description"]
    assert paths[path]["get"]["security"] == [{"bearer": [scope]}, {"header": [scope]}]
    assert paths["/healthz"]["get"]["security"] == []
    channel = paths["/v1/streams/{channel}"]["get"]["security"]
    assert {"bearer": ["stream:read:{channel}"]} in channel and {"bearer": ["stream:read"]} in channel


async def test_every_schema_url_serves_a_valid_schema(house: House) -> None:
    assert {"stream-event", "problem", "source", "alert", "destination", "delivery", "digest"} <= set(SCHEMAS)
    async with house.stranger() as client:
        for name in SCHEMAS:
            answer = await client.get(f"/schemas/{name}/1.json")
            assert answer.headers["content-type"] == "application/schema+json"
            schema = answer.json()
            Draft202012Validator.check_schema(schema)
            assert schema["$id"] == f"http://sanderling.test/schemas/{name}/1.json"
            used = set(re.findall(r'"#/\$defs/(\w+)"', answer.text))
            assert used == set(schema.get("$defs", ())), "it stands alone, with nothing in it that nobody asks for"
        assert (await client.get("/schemas/nothing/1.json")).status_code == 404
        assert (await client.get("/schemas/problem/2.json")).status_code == 404


async def test_the_schema_of_events_has_the_version_of_each_field(house: House) -> None:
    async with house.stranger() as client:
        schema = (await client.get("/schemas/stream-event/1.json")).json()
        assert schema["x-version"] == "1.5"
        assert schema["properties"]["summary"]["maxLength"] == event.MOST_SUMMARY
        assert schema["properties"]["changes"]["maxItems"] == event.MOST_CHANGES
        value, context = schema["$defs"]["Value"]["properties"], schema["$defs"]["Context"]["properties"]
        assert value["text"]["maxLength"] == event.MOST_VALUE_TEXT and value["scale"]["maximum"] == event.MOST_SCALE
        assert value["number"]["maximum"] == event.LARGEST and context["row"]["maxLength"] == event.MOST_CONTEXT
        assert not {"summary", "diff", "delta", "unread", "heartbeat", "story"} & set(schema["required"]), (
            "earlier ones have none"
        )
        assert "x-version" not in (await client.get("/schemas/problem/1.json")).json()


async def test_the_schemas_at_their_urls_are_those_of_the_description(house: House) -> None:
    async with house.stranger() as client:
        components = (await client.get("/openapi.json")).json()["components"]["schemas"]
        for name in SCHEMAS:
            text = (await client.get(f"/schemas/{name}/1.json")).text.replace("#/$defs/", "#/components/schemas/")
            served = json.loads(text)
            for part, schema in {SCHEMAS[name].__name__: served, **served.get("$defs", {})}.items():
                assert _plain(schema) == _plain(components[part]), (name, part)


def _plain(schema: Any) -> Any:
    """Return a schema without the parts that only one of the two documents has: examples, addresses and defaults."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    said = re.sub(r"(^|\. )Default: .*", "", str(schema.get("description", "")))
    kept = {name: _plain(value) for name, value in schema.items() if name not in BESIDE}
    return kept | ({"description": said} if isinstance(schema.get("description"), str) and said else {})


BESIDE = {"$schema", "$id", "$defs", "examples", "default", "description"}
"""`description` may also be a property, so it is compared separately."""


def test_two_types_of_one_name_are_refused() -> None:
    class Digest(Struct):
        """Another one."""

    with pytest.raises(ValueError, match="rename"):
        published(ROUTES, (*KINDS_SENT, Digest))


def test_the_digest_that_is_described_is_the_one_that_is_sent() -> None:
    assert [field.encode_name for field in fields(Digest)] == [field.encode_name for field in fields(schedule.Digest)]
