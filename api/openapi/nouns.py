"""The nouns of the API, one row each. Nothing else lists the nouns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from actors.extras import always_on
from api.nouns import (
    admin,
    alert_previews,
    alerts,
    deliveries,
    destinations,
    events,
    previews,
    service,
    sources,
    tags,
    templates,
    values,
    versions,
    why,
)
from api.nouns import keys as secrets
from api.nouns import streams as stream
from api.openapi.texts import Operation, page_of
from api.route import Route


class Noun(NamedTuple):
    """The name of a noun's files in `words/`, and its routes. Webhooks have none."""

    name: str
    routes: Sequence[Route] = ()


def of_extras(noun: str) -> tuple[Route, ...]:
    return tuple(route for extra in always_on() for route in extra.routes().get(noun, ()))


_WATCHING = (*previews.ROUTES, *of_extras("watching"), *why.ROUTES, *values.ROUTES, *versions.ROUTES)
NOUNS: Final = (
    Noun("sources", sources.ROUTES),
    Noun("watching", _WATCHING),
    Noun("tags", tags.ROUTES),
    Noun("streams", stream.ROUTES),
    Noun("events", events.ROUTES),
    Noun("alerts", (*alerts.ROUTES, *alert_previews.ROUTES)),
    Noun("destinations", (*destinations.ROUTES, *deliveries.ROUTES)),
    Noun("deliveries"),
    Noun("templates", templates.ROUTES),
    Noun("bins", of_extras("bins")),
    Noun("publications", of_extras("publications")),
    Noun("people", of_extras("people")),
    Noun("secrets", secrets.ROUTES),
    Noun("apps", of_extras("apps")),
    Noun("agents", of_extras("agents")),
    Noun("practice", of_extras("practice")),
    Noun("admin", (*admin.ROUTES, *service.METRICS)),
    Noun("service", service.ROUTES),
)
"""In the order of their tags in the description."""
ROUTES: Final = tuple(route for noun in NOUNS for route in noun.routes)


@cache
def operations() -> dict[str, Operation]:
    return {label: words for noun in NOUNS for label, words in page_of(noun.name).operations.items()}
