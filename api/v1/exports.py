"""The export: a window of the past as one file, for a spreadsheet or another program."""

from __future__ import annotations

from api.operations import exports
from api.route import Answer, Call, Route
from api.schemas.queries import ExportQuery
from api.streams.export import MEDIA
from storage.records.event import Event


async def export(call: Call) -> Answer:
    """Write a window of the log, oldest first."""
    assert call.key is not None
    opened = await exports.export(call, call.query, call.key)
    return Answer(b"", media=opened.media, headers=dict(opened.headers), stream=opened.file)


ROUTES = (
    Route(
        method="GET",
        path="/v1/events/export",
        scope="stream:read",
        run=export,
        says="Write a window of the past, oldest first, into one file: JSON, NDJSON or CSV.",
        answers={200: list[Event]},
        query=ExportQuery,
        also=(MEDIA["ndjson"], "text/csv"),
        headers=(
            *("Content-Disposition", "Sanderling-Window-From"),
            *("Sanderling-Retention-Clamped", "Sanderling-Export-End"),
        ),
    ),
)
