"""The routes that describe the API: OpenAPI, the JSON Schemas, and the pages for people.

Documents and the reference are made on the first request for each and kept as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import json

from actors.errors import NotFound
from api.docs.page import problem_page, reference
from api.etags import fitting
from api.openapi.document import KINDS_SENT, document
from api.openapi.schemas import VERSION, published, schema_document
from api.problems import KINDS
from api.route import JSON, PUBLIC, Answer, Call, Route

STYLE = "/docs/style.css"
HTML = "text/html; charset=utf-8"
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_MINUTES = {"Cache-Control": "public, max-age=300"}
_HOUR = {"Cache-Control": "public, max-age=3600"}
_PAGE_HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}


def described(routes: Sequence[Route], base_url: str) -> tuple[Route, ...]:
    style = files("api.docs").joinpath("style.css")

    def made() -> dict[str, Any]:
        return document(every, base_url)

    every = (
        *routes,
        _schemas(routes),
        _kept("/openapi.json", lambda: json.encode(made()), "Read this description."),
        _route("/problems/{slug}", _problem, "Read what a problem type means.", "text/html"),
        _kept("/docs", lambda: reference(made(), STYLE), "Read the reference.", HTML, _MINUTES | _PAGE_HEADERS),
        _kept(STYLE, style.read_bytes, "Read the stylesheet.", "text/css; charset=utf-8", _HOUR),
    )
    return every


def _kept(
    path: str, make: Callable[[], bytes], says: str, media: str = JSON, headers: Mapping[str, str] = _MINUTES
) -> Route:
    body = cache(make)

    async def serve(call: Call) -> Answer:
        found, more = fitting(body(), call.headers)
        return Answer(found, media=media, headers={**headers, **more})

    return _route(path, serve, says, media.partition(";")[0])


async def _problem(call: Call) -> Answer:
    slug = call.path["slug"]
    if slug not in KINDS:
        raise NotFound(f"There is no such problem type; there are {', '.join(KINDS)}.")
    page = problem_page(slug, call.context.settings.public_url(), STYLE)
    return Answer(page, media=HTML, headers=_HOUR | _PAGE_HEADERS)


def _schemas(routes: Sequence[Route]) -> Route:
    kinds = published(routes, KINDS_SENT)
    media = "application/schema+json"

    async def serve(call: Call) -> Answer:
        kind = kinds.get(call.path["name"])
        if kind is None or call.path["version"] != VERSION:
            raise NotFound(f"There is no such schema; there are {', '.join(kinds)}.")
        url = f"{call.context.settings.public_url()}/schemas/{call.path['name']}/{VERSION}"
        return Answer(schema_document(kind, url), media=media, headers=_HOUR)

    return _route("/schemas/{name}/{version}", serve, "Read a JSON Schema.", media)


def _route(path: str, run: Any, says: str, media: str, **more: Any) -> Route:
    return Route(
        method="GET",
        path=path,
        scope=PUBLIC,
        run=run,
        says=says,
        answers={200: dict[str, Any] if media.endswith("json") else str},
        media=media,
        headers=("Cache-Control",),
        **more,
    )
