"""The parameters of a route: in its path, query and headers."""

from __future__ import annotations

import re
from typing import Any

from msgspec import inspect

from api.openapi.event_words import UUID7
from api.openapi.schemas import components
from api.route import Route

_SOURCE, _EVENT = "019db0a4-5c00-7000-8000-000000000001", "019db0a4-6a10-7000-8000-0000000000a7"
_TAG = '"5b0e6a3c9f214d775b0e6a3c"'
_TAGS = {"type": "string", "format": "entity-tags"}
_NAME = "0a1f6c2e-5d0b-4a55-9c7e-2f6f3f1d9b11"
_UUID = {"type": "string", "format": "uuid"}
_DOCUMENT = ("The document.", {"type": "string", "enum": ["page", "feed"]}, "page")
_ROUTE_VALUES: dict[str, tuple[str, dict[str, Any], str]] = {
    "/v1/sources/{id}": ("The source's `id`.", _UUID, _SOURCE),
    "/v1/alerts/{id}": ("The alert's `id`.", _UUID, "019db0a4-7d20-7000-8000-0000000000b1"),
    "/v1/destinations/{id}": ("The destination's `id`.", _UUID, "019db0a4-8e30-7000-8000-0000000000c1"),
    "/v1/webhook-bins/{id}": ("The bin's `id`.", _UUID, "019db0a4-a050-7000-8000-0000000000e1"),
    "/v1/publications/{id}": ("The publication's `id`.", _UUID, "019db0a4-a060-7000-8000-0000000000f1"),
    "/v1/events/{id}": ("The event's `id`.", _UUID | {"pattern": UUID7}, _EVENT),
    "/v1/practice/{what}": _DOCUMENT,
    "/practice/{what}": _DOCUMENT,
    "/v1/streams/{channel}": (
        "`push`, `feed`, `html`, `alerts` (the service's own notices), `heartbeats`, the name of a template, or the "
        "`channel` of an alert.",
        {"type": "string", "minLength": 1},
        "feed",
    ),
    "/v1/templates/{template_id}": (
        "The template's `slug`.",
        {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$"},
        "gtm-competitor-watch",
    ),
    "/v1/admin/tree/{path}": (
        "The part's `path` in the tree; its slashes may stand as they are.",
        {"type": "string", "pattern": "^[a-z]+(/[0-9a-f-]{36})?$"},
        f"sources/{_SOURCE}",
    ),
    "/v1/tags/{tag}": (
        "The tag; a bare word is a label. Its slashes may stand as they are.",
        {"type": "string", "minLength": 1, "maxLength": 100},
        "label:prices",
    ),
    "/v1/admin/streams/{number}": (
        "The stream's `number` at this node.",
        {"type": "string", "pattern": "^[0-9]{1,15}$"},
        "7",
    ),
    "/v1/admin/keys/{id}": ("The id of the key.", {"type": "string"}, _SOURCE),
    "/schemas/{name}": ("The name of a type, such as `stream-event` or `problem`.", {"type": "string"}, "problem"),
    "/schemas/{name}/{version}": ("The version of the schema.", {"type": "string", "enum": ["1.json"]}, "1.json"),
    "/problems/{slug}": ("The last part of a problem's `type`.", {"type": "string"}, "invalid-request"),
}
"""Path up to a parameter: its description, its schema, an example."""


def parameters_of(route: Route) -> list[dict[str, Any]]:
    """Return all parameters of a route. Raises KeyError for an undescribed path parameter."""
    return [*_in_path(route), *_in_query(route), *_in_headers(route)]


def _in_path(route: Route) -> list[dict[str, Any]]:
    found = []
    for match in re.finditer(r"{(\w+)}", route.path):
        says, schema, example = _ROUTE_VALUES[route.path[: match.end()]]
        found.append(
            {
                "name": match[1],
                "in": "path",
                "required": True,
                "description": says,
                "schema": schema,
                "example": example,
            }
        )
    return found


def _in_query(route: Route) -> list[dict[str, Any]]:
    info = inspect.type_info(route.query)
    assert isinstance(info, inspect.StructType)
    properties = components([route.query])[1][route.query.__name__]["properties"]
    return [_query(field.encode_name, properties[field.encode_name]) for field in info.fields]


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a query parameter, which may be absent but never null."""
    if "anyOf" in schema:
        (schema,) = (part for part in schema["anyOf"] if part != {"type": "null"})
    schema = dict(schema)
    parameter = {"name": name, "in": "query", "description": schema.pop("description", "")}
    if examples := schema.pop("examples", None):
        parameter["example"] = examples[0]
    return parameter | {"schema": schema}


def _in_headers(route: Route) -> list[dict[str, Any]]:
    found = []
    if "Sanderling-Replay-From" in route.headers:  # resumable answers name their start
        says = "The id of the last event that was seen, to go on after it; an empty one is none. Wins over `since`."
        schema = {"type": "string", "pattern": f"^({UUID7[1:-1]})?$"}
        found.append(_header("Last-Event-ID", says, schema, _EVENT))
    if 304 in route.answers:
        says = "An `ETag` that the client has: 304 while nobody has set anything else. `*`: any."
        found.append(_header("If-None-Match", says, _TAGS, _TAG))
    if route.method == "PUT" and "precondition-failed" in route.refuses:
        says = "With `*`, 412 where something is set already."
        found.append(_header("If-None-Match", says, {"type": "string", "enum": ["*"]}, "*"))
    if "precondition-failed" in route.refuses:
        says = "The `ETag` of what is to be changed: 412 once somebody else has changed it. `*`, like no header: any."
        found.append(_header("If-Match", says, _TAGS, _TAG))
    if route.repeatable:
        says = "A name for this call, such as a UUID: sent again with it within 24 hours, it gets the same answer."
        found.append(_header("Idempotency-Key", says, {"type": "string", "pattern": "^[!-~]{1,255}$"}, _NAME))
    if route.path == "/mcp":
        says = "The session, as the answer to `initialize` named it."
        named = _header("Mcp-Session-Id", says, {"type": "string", "pattern": "^[!-~]{1,255}$"}, _NAME)
        found.append(named if route.method == "POST" else named | {"required": True})
    return found


def _header(name: str, says: str, schema: dict[str, Any], example: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": says, "schema": schema, "example": example}
