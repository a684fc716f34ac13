"""All entries in one table, in the order in which the tags are introduced."""

from __future__ import annotations

from api.openapi.operation import Operation
from api.openapi.texts import (
    admin,
    alerts,
    bins,
    destinations,
    events,
    practice,
    service,
    sources,
    streams,
    templates,
    watching,
)

OPERATIONS: dict[str, Operation] = {
    **sources.OPERATIONS,
    **watching.OPERATIONS,
    **streams.OPERATIONS,
    **events.OPERATIONS,
    **alerts.OPERATIONS,
    **destinations.OPERATIONS,
    **templates.OPERATIONS,
    **bins.OPERATIONS,
    **practice.OPERATIONS,
    **admin.OPERATIONS,
    **service.OPERATIONS,
}
