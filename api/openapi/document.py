"""OpenAPI 3.1, made from the routes and the types that validate their requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import json

from api.openapi.nouns import NOUNS, operations
from api.openapi.operation import operation_of, problem_answers
from api.openapi.schemas import bodies_of, components, named_in
from api.openapi.texts import examples, page_of, sections
from api.openapi.webhooks import KINDS_SENT, webhooks
from api.problems import Problem
from api.route import PUBLIC, SCOPES, Route


def document(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the description of all routes. Raises KeyError for a route without a text."""
    kinds: list[Any] = [Problem, *KINDS_SENT, *(kind for route in routes for kind in bodies_of(route))]
    schemas, parts = components(kinds)
    known = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    for name in named_in([known[id(kind)] for route in routes for kind in route.body], parts):
        parts[name] = _asked(parts[name])
    pages = [page_of(noun.name) for noun in NOUNS]
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation_of(route, operations()[route.label], known)
    description = {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [{"url": base_url, "description": "This service."}],
        "tags": [{"name": page.tag, "description": page.description} for page in pages],
        "paths": paths,
        "webhooks": webhooks(known),
        "components": {
            "schemas": parts,
            "responses": problem_answers(routes, base_url),
            "headers": examples("headers"),
            "securitySchemes": _schemes(),
        },
    }
    plain: dict[str, Any] = json.decode(json.encode(description))  # tuples become lists, as in JSON
    return plain


def _info() -> dict[str, Any]:
    title, text = sections("introduction")[:2]
    summary, _, introduction = text.partition("\n\n")
    return {
        "title": title,
        "version": "1",
        "summary": summary,
        "description": f"{introduction}\n",
        "license": {"name": "MIT", "identifier": "MIT"},
    }


def _asked(part: dict[str, Any]) -> dict[str, Any]:
    """Move the defaults of a request's schema into descriptions: generators treat fields with a default as required."""
    return part | {"properties": {name: _worded(one) for name, one in part.get("properties", {}).items()}}


def _worded(property: dict[str, Any]) -> dict[str, Any]:
    if property.get("default") is None:
        return {name: value for name, value in property.items() if name != "default"}
    said = f"{property['description']}. " if "description" in property else ""
    kept = {name: value for name, value in property.items() if name not in ("default", "description")}
    return {"description": f"{said}Default: {json.encode(property['default']).decode()}", **kept}


def _schemes() -> dict[str, Any]:
    listed = ", ".join(f"`{scope}`" for scope in sorted(SCOPES - {PUBLIC}))
    says = f"A key (`svc_` and 43 characters). It may do what its scopes say: {listed}, or `stream:read:<channel>`."
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": says},
        "header": {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "The same key in a separate header.",
        },
    }
