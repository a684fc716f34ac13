"""OpenAPI 3.1, made from the routes and the types that validate their requests, with the requests to destinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from actors.destination_kinds.webhook import MEDIA, to_cloudevent
from api.nouns.deliveries import Digest
from api.openapi.nouns import NOUNS, operations
from api.openapi.operation import operation_of, problem_answers
from api.openapi.schemas import bodies_of, components, named_in
from api.openapi.texts import example_of, examples, page_of, sections
from api.problems import Problem
from api.route import PUBLIC, SCOPES, Route
from storage.records.event import Event


def document(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the description of all routes. Raises KeyError for a route without a text."""
    kinds: list[Any] = [Problem, *KINDS_SENT, *(kind for route in routes for kind in bodies_of(route))]
    schemas, parts = components(kinds)
    known = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    for name in named_in([known[id(kind)] for route in routes for kind in route.body], parts):
        # Generators treat fields with a default as required, so a request's defaults move into its descriptions.
        parts[name] |= {"properties": {n: _worded(one) for n, one in parts[name].get("properties", {}).items()}}
    pages = [page_of(noun.name) for noun in NOUNS]
    title, text = sections("introduction")[:2]
    summary, _, introduction = text.partition("\n\n")
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation_of(route, operations()[route.label], known)
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": "1",
            "summary": summary,
            "description": f"{introduction}\n",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
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


def _worded(property: dict[str, Any]) -> dict[str, Any]:
    if property.get("default") is None:
        return {name: value for name, value in property.items() if name != "default"}
    said = f"{property['description']}. " if "description" in property else ""
    kept = {name: value for name, value in property.items() if name not in ("default", "description")}
    return {"description": f"{said}Default: {json.encode(property['default']).decode()}", **kept}


def _schemes() -> dict[str, Any]:
    scopes = ", ".join(f"`{scope}`" for scope in sorted(SCOPES - {PUBLIC}))
    bearer = examples("security")["bearer"]
    says = bearer["description"].replace("{scopes}", scopes)
    return examples("security") | {"bearer": bearer | {"description": says}}


KINDS_SENT: tuple[type[Struct], ...] = (Event, Digest)
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def webhooks(known: Mapping[int, Any]) -> dict[str, Any]:
    return {
        "event": {"post": _post("receiveEvent", "Receive an event.", Event, known)},
        "digest": {"post": _post("receiveDigest", "Receive a digest.", Digest, known)},
    }


def _post(name: str, says: str, kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    media = {"schema": known[id(kind)], "examples": {"example": {"value": example_of(kind)}}}
    return {
        "operationId": name,
        "tags": ["Deliveries"],
        "summary": says,
        "description": sections("deliveries")[2][name],
        "parameters": [
            {"name": header, "in": "header", "required": True, **examples("parameters")[header]} for header in _HEADERS
        ],
        "requestBody": {"required": True, "content": {"application/json": media, MEDIA: _enveloped(kind, known)}},
        "security": [],
        "responses": examples("webhooks"),
    }


def _enveloped(kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    body, schema = example_of(kind), examples("envelope")
    return {
        "schema": schema | {"properties": schema["properties"] | {"data": known[id(kind)]}},
        "examples": {"example": {"value": json.decode(to_cloudevent(body["id"], json.encode(body)))}},
    }
