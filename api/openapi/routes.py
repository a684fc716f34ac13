"""The routes that describe the API: OpenAPI and the JSON Schemas, with the pages of extras."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from msgspec import json

from actors.errors import NotFound
from api.etags import HOUR, cached_document, describing
from api.nouns.service import METRICS
from api.openapi.document import KINDS_SENT, ROUTES, VERSION, document, of_extras, published, schema_document
from api.route import Answer, Call, Route


def of_service(base_url: str, *, metrics: bool) -> tuple[Route, ...]:
    """Return the routes of a service, with or without its metrics."""
    return described([route for route in ROUTES if metrics or route not in METRICS], base_url)


def described(routes: Sequence[Route], base_url: str) -> tuple[Route, ...]:
    """Return the routes plus those that describe them all."""

    @cache
    def made() -> bytes:
        return json.encode(document(every, base_url))

    openapi = cached_document("/openapi.json", lambda call: made(), "Read this description.")
    every = (*routes, _schemas(routes), openapi, *of_extras("reference"))
    return every


def _schemas(routes: Sequence[Route]) -> Route:
    kinds, media = published(routes, KINDS_SENT), "application/schema+json"

    async def serve(call: Call) -> Answer:
        kind = kinds.get(call.path["name"])
        if kind is None or call.path["version"] != VERSION:
            raise NotFound(f"There is no such schema; there are {', '.join(kinds)}.")
        url = f"{call.context.settings.public_url()}/schemas/{call.path['name']}/{VERSION}"
        return Answer(schema_document(kind, url), media=media, headers=HOUR)

    return describing("/schemas/{name}/{version}", serve, "Read a JSON Schema.", media)
