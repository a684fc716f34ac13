"""OpenAPI 3.1, made from the routes and the types that validate their requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import json

from api.openapi.answers import answers_of, one_of, problem_answers
from api.openapi.headers import HEADERS
from api.openapi.nouns import NOUNS, OPERATIONS
from api.openapi.operation import Operation
from api.openapi.parameters import parameters_of
from api.openapi.schemas import COMPONENTS, bodies_of, components
from api.openapi.texts.introduction import INTRODUCTION, SUMMARY
from api.openapi.webhooks import KINDS_SENT, webhooks
from api.problems import Problem
from api.route import JSON, PUBLIC, SCOPES, Route

INFO: Final = {
    "title": "Sanderling",
    "version": "1",
    "summary": SUMMARY,
    "description": INTRODUCTION,
    "license": {"name": "MIT", "identifier": "MIT"},
}


def document(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the description of all routes. Raises KeyError for a route without a text."""
    kinds: list[Any] = [Problem, *KINDS_SENT, *(kind for route in routes for kind in bodies_of(route))]
    schemas, parts = components(kinds)
    known = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    for name in _named([known[id(kind)] for route in routes for kind in route.body], parts):
        parts[name] = _asked(parts[name])
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, OPERATIONS[route.label], known)
    description = {
        "openapi": "3.1.0",
        "info": INFO,
        "servers": [{"url": base_url, "description": "This service."}],
        "tags": [{"name": noun.tag, "description": noun.says} for noun in NOUNS],
        "paths": paths,
        "webhooks": webhooks(known),
        "components": {
            "schemas": parts,
            "responses": problem_answers(routes, base_url),
            "headers": HEADERS,
            "securitySchemes": _schemes(),
        },
    }
    plain: dict[str, Any] = json.decode(json.encode(description))  # tuples become lists, as in JSON
    return plain


def _named(schemas: Sequence[Any], parts: Mapping[str, Any]) -> set[str]:
    """Return the names of all parts that the schemas refer to."""
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = str(one.get("$ref", "")).removeprefix(COMPONENTS.format(name=""))
            if name in parts and name not in found:
                found.add(name)
                waiting.append(parts[name])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _asked(part: dict[str, Any]) -> dict[str, Any]:
    """Move the defaults of a request's schema into descriptions: generators treat fields with a default as required."""
    return part | {"properties": {name: _worded(one) for name, one in part.get("properties", {}).items()}}


def _worded(property: dict[str, Any]) -> dict[str, Any]:
    if property.get("default") is None:
        return {name: value for name, value in property.items() if name != "default"}
    said = f"{property['description']}. " if "description" in property else ""
    kept = {name: value for name, value in property.items() if name not in ("default", "description")}
    return {"description": f"{said}Default: {json.encode(property['default']).decode()}", **kept}


def _operation(route: Route, said: Operation, known: Mapping[int, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": said.name,
        "tags": [said.tag],
        "summary": route.says,
        "description": f"{said.explains}\n\n{_needs(route)}",
        "parameters": parameters_of(route),
        "responses": answers_of(route, said, known),
        "security": _security(route),
    }
    if route.body:
        examples = {title: {"summary": title, "value": body} for title, body in said.asks.items()}
        media = {"schema": one_of(route.body, known), "examples": examples}
        operation["requestBody"] = {"required": True, "content": {JSON: media}}
    return operation


def _needs(route: Route) -> str:
    if route.scope == PUBLIC:
        return "No key."
    needs = " and ".join(f"`{scope}`" for scope in route.scopes)
    cut = f" Without `{route.unread}`, records are cut down to `id` and `revision`." if _is_cut(route) else ""
    return f"Scope: {needs}{f', or `{route.narrower}`' if route.narrower else ''}.{cut}"


def _is_cut(route: Route) -> bool:
    """Whether the answer has records that are cut for keys without a further scope."""
    types = [one for found in route.answers.values() for one in (found if isinstance(found, tuple) else (found,))]
    return bool(route.unread) and any("revision" in getattr(one, "__struct_fields__", ()) for one in types)


def _security(route: Route) -> list[dict[str, list[str]]]:
    if route.scope == PUBLIC:
        return []
    wanted = [list(route.scopes), *([[route.narrower, *route.beside]] if route.narrower else [])]
    return [{scheme: scopes} for scopes in wanted for scheme in ("bearer", "header")]


def _schemes() -> dict[str, Any]:
    listed = ", ".join(f"`{scope}`" for scope in sorted(SCOPES - {PUBLIC}))
    says = f"A key (`svc_` and 43 characters). It may do what its scopes say: {listed}, or `stream:read:<channel>`."
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": says},
        "header": {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "The same key in a header of its own.",
        },
    }
