"""The nouns of the API, one row each: routes and their texts. Nothing else lists the nouns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from actors.extras import always_on
from api import wellknown
from api.openapi.operation import Operation
from api.openapi.texts import (
    admin as about_admin,
)
from api.openapi.texts import (
    agents as about_agents,
)
from api.openapi.texts import (
    alerts as about_alerts,
)
from api.openapi.texts import (
    bins as about_bins,
)
from api.openapi.texts import (
    destinations as about_destinations,
)
from api.openapi.texts import (
    events as about_events,
)
from api.openapi.texts import (
    practice as about_practice,
)
from api.openapi.texts import (
    publications as about_publications,
)
from api.openapi.texts import (
    secrets as about_secrets,
)
from api.openapi.texts import (
    service as about_service,
)
from api.openapi.texts import (
    sources as about_sources,
)
from api.openapi.texts import (
    streams as about_streams,
)
from api.openapi.texts import (
    tags as about_tags,
)
from api.openapi.texts import (
    templates as about_templates,
)
from api.openapi.texts import (
    watching as about_watching,
)
from api.route import Route
from api.v1 import (
    admin,
    alerts,
    bins,
    destinations,
    events,
    metrics,
    practice,
    previews,
    publications,
    secrets,
    sources,
    stream,
    tags,
    templates,
    values,
    versions,
    why,
)


class Noun(NamedTuple):
    """A tag of the description with its routes and their texts. Webhooks have a tag and no route."""

    tag: str
    says: str
    routes: tuple[Route, ...] = ()
    operations: Mapping[str, Operation] = MappingProxyType({})


def _of_extras(noun: str) -> tuple[Route, ...]:
    return tuple(route for extra in always_on() for route in extra.routes().get(noun, ()))


NOUNS: Final = (
    Noun("Sources", "What is watched.", sources.ROUTES, about_sources.OPERATIONS),
    Noun(
        "Watching",
        "How it goes: health, looks, coverage, values, versions, previews, and why something was told or not.",
        (*previews.ROUTES, *why.ROUTES, *values.ROUTES, *versions.ROUTES),
        about_watching.OPERATIONS,
    ),
    Noun("Tags", "Words on sources, and what all sources with one inherit.", tags.ROUTES, about_tags.OPERATIONS),
    Noun(
        "Streams",
        "Events as they happen, and again from any point of the log.",
        stream.ROUTES,
        about_streams.OPERATIONS,
    ),
    Noun("Events", "The past.", events.ROUTES, about_events.OPERATIONS),
    Noun(
        "Alerts",
        "Standing queries over sources, in a language.",
        alerts.ROUTES,
        about_alerts.OPERATIONS,
    ),
    Noun(
        "Destinations",
        "Where an alert's matches go, and what became of each.",
        destinations.ROUTES,
        about_destinations.OPERATIONS,
    ),
    Noun("Deliveries", "What destinations get."),
    Noun(
        "Templates",
        "Groups of sources with suggested alerts, attached in one call.",
        templates.ROUTES,
        about_templates.OPERATIONS,
    ),
    Noun(
        "Webhook bins", "Addresses that keep what they are sent, to be looked at.", bins.ROUTES, about_bins.OPERATIONS
    ),
    Noun(
        "Publications",
        "Events as feeds and a page, for whoever has the address.",
        publications.ROUTES,
        about_publications.OPERATIONS,
    ),
    Noun(
        "Secrets",
        "What lets somebody in: compared, never told.",
        secrets.ROUTES,
        about_secrets.OPERATIONS,
    ),
    Noun(
        "Agents", "The service as tools, by the Model Context Protocol.", _of_extras("agents"), about_agents.OPERATIONS
    ),
    Noun(
        "Practice",
        "Sources of the service's own that change when you ask for it, to see an event come of it.",
        practice.ROUTES,
        about_practice.OPERATIONS,
    ),
    Noun(
        "Operating",
        "The tree of parts, figures, log, and acts on them: with the scope `admin`, or on the admin socket.",
        (*admin.ROUTES, *metrics.ROUTES),
        about_admin.OPERATIONS,
    ),
    Noun("Service", "Keys, schemas, health: without a key.", wellknown.ROUTES, about_service.OPERATIONS),
)
ROUTES: Final = tuple(route for noun in NOUNS for route in noun.routes)
OPERATIONS: Final = {label: words for noun in NOUNS for label, words in noun.operations.items()}
