"""The look trail: what became of the last looks at a source, for whoever asks why something was told, or was not."""

from __future__ import annotations

from actors.messages import SourceView
from api.route import Answer, Call, Route
from api.v1 import schemas as wire
from api.v1.sources import view_of
from storage.records.times import rfc3339
from storage.records.trail import Row, read


def _row(row: Row) -> wire.Looks:
    return wire.Looks(
        first_at=rfc3339(row.first_at),
        last_at=rfc3339(row.last_at),
        looks=row.looks,
        status=row.status,
        bytes=row.size,
        ms=row.ms,
        verdict=row.verdict.name.lower(),
    )


def trail_of(view: SourceView) -> wire.LookTrail:
    """Return what became of the last looks at a source, newest first."""
    return wire.LookTrail(id=view.source.id, looks=tuple(_row(row) for row in reversed(read(view.hot.trail))))


async def looks(call: Call) -> Answer:
    """Return what became of the last looks at one source."""
    return Answer(trail_of(await view_of(call)))


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/looks",
        scope="sources:read",
        run=looks,
        says="Read what became of the last 200 looks.",
        answers={200: wire.LookTrail},
    ),
)
