"""The routes that serve the descriptions and the schemas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from msgspec import json

from actors.errors import NotFound
from api.etags import fitting
from api.openapi.schemas import VERSION, published, schema_document
from api.openapi.webhooks import KINDS_SENT
from api.route import PUBLIC, Answer, Call, Route

MINUTES = {"Cache-Control": "public, max-age=300"}
HOUR = {"Cache-Control": "public, max-age=3600"}


def description(document: Callable[[], Any]) -> Route:
    """Return the route of the OpenAPI document, made on the first request."""

    @cache
    def body() -> bytes:
        return json.encode(document())

    async def serve(call: Call) -> Answer:
        found, headers = fitting(body(), call.headers)
        return Answer(found, headers=MINUTES | headers)

    return Route(
        method="GET",
        path="/openapi.json",
        scope=PUBLIC,
        run=serve,
        says="Read this description.",
        answers={200: dict[str, Any]},
        headers=("Cache-Control",),
    )


def schemas(routes: Sequence[Route]) -> Route:
    """Return the route of the JSON Schemas of requests and answers."""
    kinds = published(routes, KINDS_SENT)

    async def serve(call: Call) -> Answer:
        kind = kinds.get(call.path["name"])
        if kind is None or call.path["version"] != VERSION:
            raise NotFound(f"There is no such schema; there are {', '.join(kinds)}.")
        url = f"{call.context.settings.public_url()}/schemas/{call.path['name']}/{VERSION}"
        return Answer(schema_document(kind, url), media="application/schema+json", headers=HOUR)

    return Route(
        method="GET",
        path="/schemas/{name}/{version}",
        scope=PUBLIC,
        run=serve,
        says="Read a JSON Schema.",
        answers={200: dict[str, Any]},
        media="application/schema+json",
        refuses=("not-found",),
        headers=("Cache-Control",),
    )
