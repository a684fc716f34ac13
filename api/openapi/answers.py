"""The answers of a route: its successes and its problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from api.openapi.examples import example_of
from api.openapi.headers import ALWAYS
from api.openapi.operation import Operation, Several
from api.openapi.schemas import COMPONENTS, alternatives
from api.problems import KINDS, MEDIA, Refusal
from api.route import Route

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


def slugs_of(route: Route) -> list[str]:
    """Return a route's problems, in the order of the table of all."""
    slugs = {*EVERYWHERE, *route.refuses}
    if route.scope != "public":
        slugs |= {*WITH_SCOPE}
    if route.body:
        slugs |= {*WITH_BODY}
    if route.repeatable:
        slugs |= {*REPEATABLE}
    return [slug for slug in KINDS if slug in slugs]


def answers_of(route: Route, said: Operation, known: Mapping[int, Any]) -> dict[str, Any]:
    """Return the responses object of an operation. known: the schema of each type, by the type's identity."""
    found = {str(status): _answer(route, said, status, known) for status in route.answers}
    by_status: dict[int, list[str]] = {}
    for slug in slugs_of(route):
        by_status.setdefault(KINDS[slug].status, []).append(slug)
    for status, slugs in sorted(by_status.items()):
        found[str(status)] = {"$ref": f"#/components/responses/{'-or-'.join(slugs)}"}
    return found


def problem_answers(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the shared answers that `answers_of` refers to."""
    found = {}
    for route in routes:
        by_status: dict[int, list[str]] = {}
        for slug in slugs_of(route):
            by_status.setdefault(KINDS[slug].status, []).append(slug)
        for slugs in by_status.values():
            found["-or-".join(slugs)] = _problem(slugs, base_url)
    return dict(sorted(found.items()))


def header_references(names: Sequence[str]) -> dict[str, Any]:
    """Return a headers object that refers to the shared ones."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _problem(slugs: Sequence[str], base_url: str) -> dict[str, Any]:
    examples = {
        slug: {
            "summary": KINDS[slug].title,
            "value": Refusal(slug, KINDS[slug].example or KINDS[slug].says).document(base_url, "/v1/sources"),
        }
        for slug in slugs
    }
    content = {"schema": {"$ref": COMPONENTS.format(name="Problem")}, "examples": examples}
    more = tuple(dict.fromkeys(_BY_PROBLEM[slug] for slug in slugs if slug in _BY_PROBLEM))
    return {
        "description": " Or: ".join(f"{KINDS[slug].title}. {KINDS[slug].says}" for slug in slugs),
        "headers": header_references((*ALWAYS[:1], *more)),
        "content": {MEDIA: content},
    }


def _answer(route: Route, said: Operation, status: int, known: Mapping[int, Any]) -> dict[str, Any]:
    kind = route.answers[status]
    answer: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "headers": header_references((*ALWAYS, *route.headers, *_REPLAYED * route.repeatable)),
    }
    if kind is not None:
        shown = said.shows.get(status, example_of(kind))
        examples = shown if isinstance(shown, Several) else {"example": shown}
        media = {"examples": {name: {"value": value} for name, value in examples.items() if value is not None}}
        if route.media.endswith("json"):
            media["schema"] = one_of(alternatives(kind), known)
            answer["content"] = {route.media: media} | {also: _text(said.others[also]) for also in route.also}
        else:
            answer["content"] = _texts(route, said, status)
    if said.leads and kind is not None:
        answer["links"] = {
            name: {"operationId": name, "parameters": {"id": f"$response.body#{pointer}"}}
            for name, pointer in said.leads.items()
        }
    return answer


def _texts(route: Route, said: Operation, status: int) -> dict[str, Any]:
    """Return the content of an answer that is not JSON, with examples by media type."""
    shown = said.shows.get(status, {})
    medias = (route.media, *route.also)
    return {media: _text(shown[media]) for media in medias}


def _text(example: str) -> dict[str, Any]:
    return {"schema": {"type": "string"}, "examples": {"example": {"value": example}}}


def one_of(kinds: Sequence[Any], known: Mapping[int, Any]) -> Any:
    """Return a schema that one of several types satisfies."""
    schemas = [known[id(kind)] for kind in kinds]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
