"""One operation of the description: its parameters, its body, its answers and its problems."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from msgspec import inspect

from api.openapi.schemas import COMPONENTS, alternatives, components
from api.openapi.texts import Operation, example_of, examples
from api.problems import KINDS, MEDIA, Refusal
from api.route import JSON, PUBLIC, Route

ALWAYS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")
"""Headers of every route's answers."""
EVERYWHERE = (
    *("invalid-request", "unauthorized", "request-timeout", "target-too-long", "headers-too-large"),
    *("rate-limited", "internal", "unavailable"),
)
"""Problems of every route. Public routes too refuse an invalid key, since its sender expects to be identified."""
WITH_SCOPE = ("forbidden",)
REPEATABLE = ("conflict", "unprocessable")
"""Problems of routes with an Idempotency-Key: while the first call runs, and for a different call."""
WITH_BODY = ("body-too-large", "unsupported-media-type")
_REPLAYED = ("Idempotency-Replayed",)
_BY_PROBLEM = {"unauthorized": "WWW-Authenticate", "rate-limited": "Retry-After", "unavailable": "Retry-After"}


def operation_of(route: Route, words: Operation, known: Mapping[int, Any]) -> dict[str, Any]:
    """Return a route's operation. known: schemas by their types' ids. Raises KeyError for an undescribed parameter."""
    operation: dict[str, Any] = {
        "operationId": words.name,
        "tags": [words.tag],
        "summary": route.says,
        "description": f"{words.description}\n\n{_needs(route)}",
        "parameters": [
            *(
                {"name": match[1], "in": "path", "required": True, **examples("parameters")[route.path[: match.end()]]}
                for match in re.finditer(r"{(\w+)}", route.path)
            ),
            *_in_query(route),
            *_in_headers(route),
        ],
        "responses": {str(status): _answer(route, words, status, known) for status in route.answers}
        | {str(status): {"$ref": f"#/components/responses/{name}"} for status, name, _ in _problems(route)},
        "security": [],
    }
    if route.scope != PUBLIC:
        wanted = [list(route.scopes), *([[route.narrower, *route.beside]] if route.narrower else [])]
        operation["security"] = [{scheme: scopes} for scopes in wanted for scheme in ("bearer", "header")]
    if route.body:
        bodies = {title: {"summary": title, "value": body} for title, body in words.requests.items()}
        media = {"schema": one_of(route.body, known), "examples": bodies}
        operation["requestBody"] = {"required": True, "content": {JSON: media}}
    return operation


def _needs(route: Route) -> str:
    if route.scope == PUBLIC:
        return "No key."
    needs = " and ".join(f"`{scope}`" for scope in route.scopes)
    is_cut = route.unread and route.shows_record
    cut = f" Without `{route.unread}`, records are cut down to `id` and `revision`." if is_cut else ""
    return f"Scope: {needs}{f', or `{route.narrower}`' if route.narrower else ''}.{cut}"


# --- parameters -------------------------------------------------------------------------------------------------------


def _in_query(route: Route) -> list[dict[str, Any]]:
    info = inspect.type_info(route.query)
    assert isinstance(info, inspect.StructType)
    properties = components([route.query])[1][route.query.__name__]["properties"]
    texts = examples("queries")["*"] | examples("queries").get(route.query.__name__, {})
    names = (field.encode_name for field in info.fields)
    return [{"name": name, "in": "query", **texts[name], "schema": _present(properties[name])} for name in names]


def _present(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter, which may be absent but never null."""
    return next((part for part in schema.get("anyOf", ()) if part != {"type": "null"}), schema)


def _in_headers(route: Route) -> list[dict[str, Any]]:
    changes = "precondition-failed" in route.refuses
    taken = {
        "Last-Event-ID": "Sanderling-Replay-From" in route.headers,  # resumable answers name their start
        "If-None-Match": 304 in route.answers,
        "If-None-Match: *": changes and route.method == "PUT",
        "If-Match": changes,
        "Idempotency-Key": route.repeatable,
        "Mcp-Session-Id": route.path == "/mcp",
    }
    texts = examples("request-headers")
    found = [{"name": name.partition(":")[0], "in": "header", **texts[name]} for name in taken if taken[name]]
    if route.path == "/mcp" and route.method != "POST":
        found[-1]["required"] = True
    return found


# --- answers ----------------------------------------------------------------------------------------------------------


def _problems(route: Route) -> list[tuple[int, str, list[str]]]:
    slugs = {*EVERYWHERE, *route.problems, *(WITH_SCOPE if route.scope != PUBLIC else ())}
    slugs |= {*(WITH_BODY if route.body else ()), *(REPEATABLE if route.repeatable else ())}
    by_status: dict[int, list[str]] = {}
    for slug in (slug for slug in KINDS if slug in slugs):
        by_status.setdefault(KINDS[slug].status, []).append(slug)
    return [(status, "-or-".join(of), of) for status, of in sorted(by_status.items())]


def problem_answers(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    shared = {name: slugs for route in routes for _, name, slugs in _problems(route)}
    return {name: _problem(slugs, base_url) for name, slugs in sorted(shared.items())}


def _problem(slugs: Sequence[str], base_url: str) -> dict[str, Any]:
    shown = {slug: Refusal(slug, KINDS[slug].example or KINDS[slug].says) for slug in slugs}
    examples = {
        slug: {"summary": KINDS[slug].title, "value": one.document(base_url, "/v1/sources")}
        for slug, one in shown.items()
    }
    content = {"schema": {"$ref": COMPONENTS.format(name="Problem")}, "examples": examples}
    more = tuple(dict.fromkeys(_BY_PROBLEM[slug] for slug in slugs if slug in _BY_PROBLEM))
    return {
        "description": " Or: ".join(f"{KINDS[slug].title}. {KINDS[slug].says}" for slug in slugs),
        "headers": _headers((*ALWAYS[:1], *more)),
        "content": {MEDIA: content},
    }


def _answer(route: Route, words: Operation, status: int, known: Mapping[int, Any]) -> dict[str, Any]:
    kind = route.answers[status]
    answer: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "headers": _headers((*ALWAYS, *route.sends, *_REPLAYED * route.repeatable)),
    }
    if kind is None:
        return answer
    shown = words.answers.get(str(status), {})
    if route.media.endswith("json"):
        own = {title: value for title, value in shown.items() if title not in route.also}
        own = own or {"example": example_of(kind)}
        media = {"examples": {title: {"value": value} for title, value in own.items() if value is not None}}
        answer["content"] = {route.media: media | {"schema": one_of(alternatives(kind), known)}}
    else:
        answer["content"] = {route.media: _text(shown[route.media])}
    answer["content"] |= {also: _text(shown[also]) for also in route.also}
    if words.links:
        answer["links"] = {
            name: {"operationId": name, "parameters": {"id": f"$response.body#{pointer}"}}
            for pointer, names in words.links.items()
            for name in names
        }
    return answer


def _text(example: str | list[str]) -> dict[str, Any]:
    text = example if isinstance(example, str) else "\n".join(example)
    return {"schema": {"type": "string"}, "examples": {"example": {"value": text}}}


def one_of(kinds: Sequence[Any], known: Mapping[int, Any]) -> Any:
    schemas = [known[id(kind)] for kind in kinds]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _headers(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
