"""The application's routes, and how to call each of them; a new route needs no entry here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx

from api.app import Api, make_app
from api.route import PUBLIC, SCOPES, Route
from storage.records.access import SCOPES_OF
from tests.api.house import make_house
from tests.support.build import a_source_id

BODIES: dict[str, Any] = {"/v1/sources": {"url": "https://new.test/"}, "/v1/sources/detect": {"url": "https://a.test/"}}
CHANNEL = "html"


def the_app() -> Api:
    return make_app(make_house().context)


def all_routes() -> list[Route]:
    return list(the_app().routes.values())


def path_of(route: Route, value: str = "x") -> str:
    """Fill in the path's parameters: with a record of the house if there is one, else with `value`."""
    path = route.path.replace("/v1/sources/{id}", f"/v1/sources/{a_source_id(1)}").replace("{channel}", CHANNEL)
    path = path.replace("{slug}", "conflict").replace("{name}/{version}", "problem/1.json")
    path = path.replace("{template_id}", "swedish-public-sector").replace("{what}", "page")
    path = path.replace("{path}", f"sources/{a_source_id(1)}")
    return path.replace("{id}", value)


def method_of(route: Route) -> str:
    """Return the method, HEAD for a stream: it has the same head and no endless body."""
    return "HEAD" if route.media == "text/event-stream" else route.method


async def call(client: httpx.AsyncClient, route: Route, **more: Any) -> httpx.Response:
    return await client.request(
        method_of(route), path_of(route), json=BODIES.get(route.path, {} if route.body else None), **more
    )


def scope_sets() -> dict[str, Sequence[str]]:
    """Return the scope sets that the walk tries, by name."""
    names = sorted(SCOPES - {PUBLIC})
    near_misses = (
        "stream:rea",
        "stream:read:",
        "STREAM:READ",
        "*",
        "public",
        "sources",
        ":",
        f"stream:read:{CHANNEL}:x",
    )
    return {
        "none": ("",),
        "all": names,
        **{name: (name,) for name in names},
        **{f"all but {name}": [other for other in names if other != name] for name in names},
        "the channel": (f"stream:read:{CHANNEL}",),
        "another channel": ("stream:read:feed",),
        "near misses": near_misses,
        "with more behind": [f"{name}:x" for name in names],
    }


GIVES = {"POST /v1/invitations": SCOPES_OF["reader"]}
"""Calls that give a role need its scopes. The walk's bodies give the smallest role."""


def own_scopes(route: Route) -> Sequence[str]:
    return tuple({*route.scopes, *GIVES.get(route.label, ())})


def may(route: Route, scopes: Sequence[str]) -> bool:
    """Decide access independently of the code: every declared scope, or the channel's own."""
    needed = {route.scope, *route.beside}
    if route.narrower and route.narrower.replace("{channel}", CHANNEL) in scopes:
        needed.discard(route.scope)
    return needed <= set(scopes)


def assert_problem(answer: httpx.Response, status: int, slug: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "x-request-id" in answer.headers and "ratelimit-limit" in answer.headers
    if answer.request.method == "HEAD":
        return
    problem = answer.json()
    assert problem["type"] == f"http://sanderling.test/problems/{slug}"
    assert problem["$schema"] == "http://sanderling.test/schemas/problem/1.json"
    assert problem["status"] == status and problem["title"] and problem["detail"]


CLOSED = [route for route in all_routes() if route.scope != PUBLIC]
OPEN = [route for route in all_routes() if route.scope == PUBLIC]
STREAMS = [route for route in CLOSED if route.media == "text/event-stream"]
