"""Each route has a description and examples, and follows the rules that clients and generators rely on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from api.openapi.document import ROUTES, described, document
from api.openapi.document import operations as words
from api.route import JSON, SCOPES
from api.validation import read_body, read_query

BASE_URL = "http://sanderling.test"
EVERY = described(ROUTES, BASE_URL)
HOW = "give it a heading in api/openapi/words/<noun>.md, and its path parameters an entry in <noun>.json"


def test_every_route_has_its_words_and_nothing_else_has() -> None:
    assert [route.label for route in EVERY if route.label not in words()] == [], HOW
    assert set(words()) - {route.label for route in EVERY} == set(), "words about no route"


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return document(EVERY, BASE_URL)


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation
    for name, hook in description["webhooks"].items():
        yield f"webhook {name}", hook["post"]


def check(description: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """Raise unless a value matches a schema of the description."""
    registry: Registry[Any] = Registry().with_resource("urn:api", DRAFT202012.create_resource(description))
    pointed = json.loads(json.dumps(schema).replace('"#/', '"urn:api#/'))
    Draft202012Validator(pointed, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


def resolved(description: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    return description["components"]["responses"][answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer


def test_it_is_valid_openapi(description: dict[str, Any]) -> None:
    assert [*OpenAPIV31SpecValidator(description).iter_errors()] == []


def test_the_examples_of_bodies_are_accepted_as_they_are(subtests: pytest.Subtests) -> None:
    for route in [route for route in EVERY if route.body]:
        with subtests.test(route.label):
            asks = words()[route.label].requests
            assert asks, f"{route.label}: show at least one body (requests)"
            for body in asks.values():
                read_body(json.dumps(body).encode(), JSON, route.body)
            assert len({json.dumps(body) for body in asks.values()}) == len(asks)


def test_the_example_answers_match_their_schemas(description: dict[str, Any]) -> None:
    for label, operation in operations(description):
        for status, given in operation["responses"].items():
            answer = resolved(description, given)
            for media, content in answer.get("content", {}).items():
                assert content["examples"], f"{label} {status} {media}: no example"
                for example in content["examples"].values():
                    check(description, content["schema"], example["value"])
        for content in operation.get("requestBody", {}).get("content", {}).values():
            for example in content["examples"].values():
                check(description, content["schema"], example["value"])


def test_the_examples_of_types_are_of_these_types(description: dict[str, Any]) -> None:
    schemas = [schema for schema in description["components"]["schemas"].values() if "examples" in schema]
    assert schemas, "no type shows an example"
    for schema in schemas:
        for example in schema["examples"]:
            check(description, schema, example)


def test_parameters_have_words_and_examples_that_are_accepted(description: dict[str, Any]) -> None:
    for label, operation in operations(description):
        for parameter in operation["parameters"]:
            where = f"{label}: {parameter['name']}"
            assert parameter["description"], where
            if "default" not in parameter["schema"] or parameter["schema"]["default"] in (None, []):
                assert "example" in parameter or parameter["name"] == "cursor", f"{where} has no example"
            if "example" in parameter:
                check(description, parameter["schema"], parameter["example"])


def test_the_examples_of_parameters_are_read_by_the_route(
    description: dict[str, Any], subtests: pytest.Subtests
) -> None:
    for route in EVERY:
        with subtests.test(route.label):
            parameters = description["paths"][route.path][route.method.lower()]["parameters"]
            query = [
                f"{parameter['name']}={value if not isinstance(value, bool) else str(value).lower()}"
                for parameter in parameters
                if parameter["in"] == "query" and "example" in parameter
                for value in (
                    parameter["example"] if isinstance(parameter["example"], list) else [parameter["example"]]
                )
            ]
            read = read_query("&".join(query).replace(" ", "%20").encode(), route.query)
            assert isinstance(read, route.query)


def test_operations_have_names_that_generators_can_use(description: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(description)]
    assert [name for name in names if not re.fullmatch("[a-z][A-Za-z]+", name)] == []
    assert len(set(names)) == len(names)


def test_operations_have_words(description: dict[str, Any]) -> None:
    for label, operation in operations(description):
        assert re.fullmatch(r"[A-Z].{5,110}\.", operation["summary"]), label
        assert operation["description"].rstrip(".*"), label
        assert len(operation["tags"]) == 1, label
        for status, answer in operation["responses"].items():
            assert resolved(description, answer)["description"], f"{label} {status}"


def test_every_tag_is_introduced_and_used(description: dict[str, Any]) -> None:
    introduced = {tag["name"] for tag in description["tags"] if tag["description"]}
    assert {operation["tags"][0] for _, operation in operations(description)} == introduced


def test_problems_are_declared_and_are_problem_documents(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            failures = {status: answer for status, answer in operation["responses"].items() if status >= "4"}
            assert {"400", "401", "429", "500", "503"} <= set(failures), f"{method} {path}"
            assert ("404" in failures) or "{" not in path, f"{method} {path}: nothing is not found?"
            for answer in failures.values():
                assert set(resolved(description, answer)["content"]) == {"application/problem+json"}


def test_every_component_is_used_and_every_reference_resolves(description: dict[str, Any]) -> None:
    text = json.dumps(description)
    for kind in ("schemas", "responses", "headers"):
        used = set(re.findall(rf'"#/components/{kind}/([^"]+)"', text))
        assert used - set(description["components"][kind]) == set()
        assert set(description["components"][kind]) - used == set()


def test_links_lead_to_operations_and_their_parameters(description: dict[str, Any]) -> None:
    by_name = {operation["operationId"]: operation for _, operation in operations(description)}
    for label, operation in operations(description):
        for answer in operation["responses"].values():
            for link in answer.get("links", {}).values():
                parameters = {parameter["name"] for parameter in by_name[link["operationId"]]["parameters"]}
                assert set(link["parameters"]) <= parameters, label


def test_paths_are_written_alike_and_their_parameters_are_declared(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        assert re.fullmatch(r"(/([a-z0-9.-]+|\{[a-z_]+\}))+", path), path
        for operation in methods.values():
            declared = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"]
            assert declared == re.findall(r"{(\w+)}", path), path


def test_security_names_scopes_that_exist(description: dict[str, Any]) -> None:
    for label, operation in operations(description):
        for requirement in operation["security"]:
            for scopes in requirement.values():
                assert scopes and all(scope in SCOPES or scope.startswith("stream:read:") for scope in scopes), label


def test_requests_are_bounded_and_closed(description: dict[str, Any]) -> None:
    """Every text, list and number in a request has a limit, and no body accepts unknown fields."""
    schemas = description["components"]["schemas"]

    def unbounded(schema: dict[str, Any], where: str) -> Iterator[str]:
        if "$ref" in schema:
            yield from unbounded(schemas[schema["$ref"].rpartition("/")[2]], where)
        if isinstance(schema.get("type"), list):
            for kind in schema["type"]:
                yield from unbounded(schema | {"type": kind}, where)
            return
        for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from unbounded(part, where)
        kind = schema.get("type")
        limits = {"string": ("maxLength", "enum"), "integer": ("maximum",), "number": ("maximum",)}.get(kind, ())
        if limits and not any(limit in schema for limit in limits) and "$" not in str(schema.get("pattern", ""))[-1:]:
            yield where
        if kind == "array":
            if "maxItems" not in schema:
                yield where
            yield from unbounded(schema["items"], f"{where}[]")
        if kind == "object":
            more = schema.get("additionalProperties")
            if isinstance(more, dict) and "maxProperties" in schema:  # a map
                yield from unbounded(more, f"{where}.*")
            elif more is not False:
                yield f"{where} takes more fields"
            for name, value in schema.get("properties", {}).items():
                yield from unbounded(value, f"{where}.{name}")

    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                if parameter["in"] == "query":
                    assert list(unbounded(parameter["schema"], f"{method} {path} {parameter['name']}")) == []
            for content in operation.get("requestBody", {}).get("content", {}).values():
                assert list(unbounded(content["schema"], f"{method} {path}")) == []


def test_types_are_explained(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    assert [name for name, schema in schemas.items() if len(schema.get("description", "")) < 10] == []


def test_only_streams_that_can_be_resumed_know_the_id_of_the_last_event() -> None:
    knowing = {
        path
        for path, methods in document(EVERY, BASE_URL)["paths"].items()
        for parameter in methods.get("get", {}).get("parameters", ())
        if parameter.get("name") == "Last-Event-ID"
    }
    assert knowing == {"/mcp", "/v1/stream", "/v1/streams/{channel}"}
