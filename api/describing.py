"""The routes that describe the API: OpenAPI, the docs page and the JSON Schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.docs import routes as docs
from api.openapi import routes as openapi
from api.openapi.document import document
from api.route import Route


def described(routes: Sequence[Route], base_url: str) -> tuple[Route, ...]:
    """Return the routes plus those that describe them all."""

    def made() -> dict[str, Any]:
        return document(every, base_url)

    every = (*routes, openapi.schemas(routes), openapi.description(made), *docs.routes(made))
    return every
