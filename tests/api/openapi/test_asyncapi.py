"""The AsyncAPI document agrees with the OpenAPI document, and real messages match it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from api.openapi.asyncapi import asyncapi
from api.openapi.document import document
from api.streams.sse import event_frame
from api.v1.stream import ROUTES
from tests.api.house import House
from tests.api.walk import all_routes

BASE_URL = "https://sanderling.test"


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return document(all_routes(), BASE_URL)


@pytest.fixture(scope="module")
def sent(described: dict[str, Any]) -> dict[str, Any]:
    return dict(asyncapi(described))


def check(sent: dict[str, Any], message: str, payload: Any) -> None:
    """Validate a payload against a message of the document."""
    registry: Registry[Any] = Registry().with_resource("urn:api", DRAFT202012.create_resource(sent))
    schema = {"$ref": f"urn:api#/components/messages/{message}/payload"}
    Draft202012Validator(schema, registry=registry).validate(payload)


def test_every_stream_is_a_channel_and_every_filter_is_in_its_operation(sent: dict[str, Any]) -> None:
    addresses = {channel["address"]: name for name, channel in sent["channels"].items()}
    operations = {one["channel"]["$ref"].rpartition("/")[2]: one for one in sent["operations"].values()}
    for route in ROUTES:
        query = operations[addresses[route.path]]["bindings"]["http"]["query"]["properties"]
        assert set(query) == {field.encode_name for field in msgspec.structs.fields(route.query)}


def test_every_reference_leads_somewhere(sent: dict[str, Any]) -> None:
    found, waiting = 0, [sent]
    while waiting:
        one: Any = waiting.pop()
        if isinstance(one, dict):
            if isinstance(target := one.get("$ref"), str):
                found += 1
                at: Any = sent
                for part in target.removeprefix("#/").split("/"):
                    at = at[part]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    assert found > 20


def test_examples_are_as_their_messages_say(sent: dict[str, Any]) -> None:
    shown = [
        (name, one["payload"]) for name, m in sent["components"]["messages"].items() for one in m.get("examples", ())
    ]
    assert {name for name, _ in shown} == {"eventSse", "eventNdjson", "event", "digest", "cloudEvent", "cloudDigest"}
    for name, payload in shown:
        check(sent, name, payload)


def test_an_event_that_lacks_its_id_is_not(sent: dict[str, Any]) -> None:
    payload = dict(sent["components"]["messages"]["eventSse"]["examples"][0]["payload"])
    del payload["id"]
    with pytest.raises(Exception, match="'id' is a required property"):
        check(sent, "eventSse", payload)


def test_the_frame_of_the_example_is_the_one_that_is_sent(sent: dict[str, Any]) -> None:
    message = sent["components"]["messages"]["eventSse"]
    payload = message["examples"][0]["payload"]
    assert event_frame(msgspec.json.encode(payload)).decode() in message["x-frames"]


async def test_it_is_served_and_what_a_stream_sends_is_as_it_says(house: House) -> None:
    (stored,) = await house.publish("first")
    async with house.stranger() as stranger:
        answer = await stranger.get("/asyncapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["servers"]["service"] == {
        "host": "sanderling.test",
        "protocol": "http",
        "description": "This service.",
    }
    check(answer.json(), "eventSse", msgspec.json.decode(stored.body))
