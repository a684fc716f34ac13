"""Every route enforces its described limits; generated from the description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.openapi.document import document
from api.route import Route
from tests.api.house import House
from tests.api.walk import all_routes, path_of
from tests.docs.test_api_described import BASE_URL, EVERY

DESCRIPTION = document(EVERY, BASE_URL)
ROUTES = all_routes()


def operation_of(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = DESCRIPTION["paths"][route.path][route.method.lower()]
    return operation


def over(schema: dict[str, Any]) -> Iterator[str]:
    """Yield values of a parameter just beyond each of its limits."""
    if "enum" in schema:
        yield from ("neither", "null")
    if schema.get("type") in ("integer", "number"):
        yield from ("x", "1.5", "", "null")
        yield from (str(schema[limit] + step) for limit, step in (("minimum", -1), ("maximum", 1)) if limit in schema)
    if schema.get("type") == "boolean":
        yield "maybe"
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield ""


async def refused(client: httpx.AsyncClient, route: Route, **more: Any) -> str:
    """Return the location of the error in a refused request."""
    method = "HEAD" if route.media == "text/event-stream" and "params" not in more else route.method
    answer = await client.request(method, path_of(route), **more)
    assert answer.status_code == 400, f"{more} {answer.status_code} {answer.text}"
    return str(answer.json()["errors"][0]["location"])


async def test_a_parameter_that_is_not_described_is_refused_by_name(
    client: httpx.AsyncClient, subtests: pytest.Subtests
) -> None:
    for route in ROUTES:
        with subtests.test(route.label):
            assert await refused(client, route, params={"nothing": "1"}) == "query.nothing"


async def test_a_parameter_keeps_to_its_limits(client: httpx.AsyncClient, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        if route.method == "GET":
            with subtests.test(route.label):
                await keeps_to_its_limits(client, route)


async def keeps_to_its_limits(client: httpx.AsyncClient, route: Route) -> None:
    for parameter in operation_of(route)["parameters"]:
        if parameter["in"] != "query":
            continue
        name, schema = parameter["name"], parameter["schema"]
        listed = schema.get("type") == "array"
        for value in over(schema["items"] if listed else schema):
            where = await refused(client, route, params={name: value})
            assert where.startswith(f"query.{name}"), (name, value[:20])
        if listed:
            many = {name: [str(number) for number in range(schema["maxItems"] + 1)]}
            assert (await refused(client, route, params=many)).startswith(f"query.{name}")
        else:
            assert await refused(client, route, params={name: ["1", "1"]}) == f"query.{name}"


async def test_a_body_of_another_shape_is_refused(client: httpx.AsyncClient, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        if route.body:
            with subtests.test(route.label):
                await refuses_another_shape(client, route)


async def refuses_another_shape(client: httpx.AsyncClient, route: Route) -> None:
    (content,) = operation_of(route)["requestBody"]["content"].values()
    for example in content["examples"].values():
        whole = example["value"]
        schema = content["schema"]
        shape = DESCRIPTION["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
        maps = {name for name, one in shape.get("properties", {}).items() if "maxProperties" in one}
        assert await refused(client, route, json={**whole, "nothing": 1}) == "body.nothing"
        for name in whole:
            other: Any = 1 if name in maps else {"nothing": 1}
            where = await refused(client, route, json={**whole, name: other})
            assert where.startswith(f"body.{name}"), name
    for sent in (b"[]", b'"text"', b"1", b"null"):
        more = {"content": sent, "headers": {"Content-Type": "application/json"}}
        assert await refused(client, route, **more) == "body"


async def test_head_is_get_without_its_body(client: httpx.AsyncClient, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        if route.method == "GET":
            with subtests.test(route.label):
                await has_the_head_of_its_get(client, route)


async def has_the_head_of_its_get(client: httpx.AsyncClient, route: Route) -> None:
    if route.path == "/mcp":
        begun = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})
        client.headers["Mcp-Session-Id"] = begun.headers["Mcp-Session-Id"]
    head = await client.head(path_of(route))
    assert head.content == b""
    if route.media == "text/event-stream":
        assert head.status_code == 200 and "content-length" not in head.headers
        return
    get = await client.get(path_of(route))
    varying = ["x-request-id", "ratelimit-remaining", "ratelimit-reset"]
    varying += ["content-length"] * (route.path == "/metrics")  # current figures
    varying += ["content-disposition"] * route.path.endswith("/export")  # the file name has the current second
    shown = [{n: v for n, v in answer.headers.items() if n not in varying} for answer in (head, get)]
    assert (head.status_code, shown[0]) == (get.status_code, shown[1])


async def test_slashes_are_not_merged_and_an_unknown_path_is_a_problem_document(house: House) -> None:
    key = await house.key()
    encoded = ("/v1%2Fsources", "/v1%2fadmin/tree/log", "/v1/admin/tree%2Flog")
    for path in ("//v1/sources", "//", "//v1//sources", "/v1//sources", *encoded):
        stream = await house.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode())
        answer = await stream.receive_some(2_000)
        assert answer.startswith(b"HTTP/1.1 404 ") and b"application/problem+json" in answer, path
