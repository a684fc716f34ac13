"""The check trail: the results of a source's last checks, to explain why something was reported or not."""

from __future__ import annotations

from collections.abc import Sequence

from actors.messages.views import SourceView
from api.operations import sources
from api.operations.reasons import note_of
from api.operations.why import notes_of
from api.pagination import next_page, place
from api.route import Answer, Call, Route
from api.schemas import why as wire
from storage.records import trail
from storage.records.note import Note
from storage.records.times import rfc3339
from storage.records.trail import Row


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


def _trail(view: SourceView, rows: Sequence[Row], notes: Sequence[Note]) -> wire.LookTrail:
    """Return the trail with its notes. rows: newest first."""
    known = view.hot.validators
    return wire.LookTrail(
        id=view.source.id,
        looks=tuple(_row(row) for row in rows),
        notes=tuple(note_of(one) for one in reversed(notes)),
        validators=wire.LastValidators(etag=known.etag, last_modified=known.last_modified, body_hash=known.body_hash),
    )


async def looks(call: Call) -> Answer:
    """Return a page of a source's last checks, with the notes of the same period."""
    query: wire.LooksQuery = call.query
    before = place(call, tuple[int, int])
    view = await sources.view(call, call.path["id"])
    rows = [row for row in trail.read(view.hot.trail)[::-1] if before is None or (row.first_at, row.last_at) < before]
    page, end = rows[: query.limit], None if before is None else before[0]
    start = page[-1].first_at if len(rows) > len(page) else None
    notes = [
        one
        for one in await notes_of(call.context.storage.sources, view.source.id)
        if (start is None or one.at >= start) and (end is None or one.at < end)
    ]
    headers = next_page(call, None if start is None else (start, page[-1].last_at))
    return Answer(_trail(view, page, notes), headers=headers)


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/looks",
        scope="sources:read",
        run=looks,
        says="Read what became of the last 200 looks, and why.",
        answers={200: wire.LookTrail},
        query=wire.LooksQuery,
        refuses=("not-found",),
        headers=("Link",),
    ),
)
