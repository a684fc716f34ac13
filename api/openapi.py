"""OpenAPI 3.1, made from the routes and the types that validate their requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from msgspec import inspect, json

from api.problems import KINDS, MEDIA, Problem
from api.route import JSON, PUBLIC, Answer, Call, Route

_REF = "#/components/schemas/{name}"
_STREAM_HEADERS = (
    ("Last-Event-ID", "The id of the last event that was seen; wins over `since`."),
    ("Accept", "`application/x-ndjson` for NDJSON instead of Server-Sent Events."),
)


def document(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the description of all routes."""
    kinds: list[Any] = [Problem]
    for route in routes:
        kinds += route.body
        if route.media.endswith("json"):
            kinds += [kind for answer in route.answers.values() for kind in _alternatives(answer)]
    schemas, components = json.schema_components(kinds, ref_template=_REF)
    known = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, known)
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": "Sanderling",
            "version": "1",
            "description": "Turns any URL into a live, resumable, signed stream of new-content events.",
        },
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }
    plain: dict[str, Any] = json.decode(json.encode(description))  # tuples become lists, as JSON has them
    return plain


def route(description: dict[str, Any]) -> Route:
    """Return the route that serves a description."""
    body = json.encode(description)

    async def serve(call: Call) -> Answer:
        return Answer(body, headers={"Cache-Control": "public, max-age=300"})

    says = "Read this description."
    return Route(method="GET", path="/openapi.json", scope=PUBLIC, run=serve, says=says, answers={200: dict[str, Any]})


def _alternatives(answer: Any) -> tuple[Any, ...]:
    if answer is None:
        return ()
    return answer if isinstance(answer, tuple) else (answer,)


def _one_of(kinds: Sequence[Any], known: dict[int, Any]) -> Any:
    schemas = [known[id(kind)] for kind in kinds]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _operation(route: Route, known: dict[int, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}{re.sub('[^a-z]+', '_', route.path)}",
        "summary": route.says,
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        "responses": _responses(route, known),
    }
    if route.scope == PUBLIC:
        operation["security"] = []
    else:
        needed = " and ".join(f"`{scope}`" for scope in route.scopes)
        operation["description"] = f"Scope: {needed}" + (f" or `{route.narrower}`." if route.narrower else ".")
        operation["security"] = [{"bearer": []}, {"header": []}]
    if route.body:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": _one_of(route.body, known)}}}
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", route.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    info = inspect.type_info(route.query)
    assert isinstance(info, inspect.StructType)
    schema = json.schema_components([route.query], ref_template=_REF)[1][route.query.__name__]
    return [
        {"name": field.encode_name, "in": "query", "schema": schema["properties"][field.encode_name]}
        for field in info.fields
    ]


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    if route.media != "text/event-stream":
        return []
    return [
        {"name": name, "in": "header", "description": says, "schema": {"type": "string"}}
        for name, says in _STREAM_HEADERS[:1]  # OpenAPI says that a parameter named Accept is ignored
    ]


def _responses(route: Route, known: dict[int, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, answer in route.answers.items():
        responses[str(status)] = {"description": HTTPStatus(status).phrase}
        if answer is not None:
            is_json = route.media.endswith("json")
            schema = _one_of(_alternatives(answer), known) if is_json else {"type": "string"}
            responses[str(status)]["content"] = {route.media: {"schema": schema}}
    for status in _problem_statuses(route):
        titles = " / ".join(kind.title for kind in KINDS.values() if kind.status == status)
        content = {MEDIA: {"schema": {"$ref": _REF.format(name="Problem")}}}
        responses[str(status)] = {"description": titles, "content": content}
    return responses


def _problem_statuses(route: Route) -> list[int]:
    statuses = {400, 429, 500, 503}
    if route.scope != PUBLIC:
        statuses |= {401, 403}
    if "{" in route.path:
        statuses.add(404)
    if route.body:
        statuses |= {408, 413, 415, 422}
    if route.path.endswith(("/check", "/enable", "/disable", "/test", "/replay")):
        statuses.add(409)
    if route.path.startswith(("/v1/stream", "/v1/events")):
        statuses.add(410)
    return sorted(statuses)
