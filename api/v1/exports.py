"""The export: a window of the past as one file, for a spreadsheet or another program."""

from __future__ import annotations

from api.operations.past import EARLIEST, event_filter_for, window_of
from api.route import Answer, Call, Route
from api.schemas.queries import ExportQuery
from api.streams.export import MEDIA, Export
from storage.records.event import Event
from storage.records.identity import Seq, id_of, millis_of
from storage.records.tiers import WATCHED, Kind
from storage.records.times import rfc3339

_KINDS = (*WATCHED, Kind.NOTICE)
"""What is exported when neither sources nor tags are chosen: everything but practice."""


async def export(call: Call) -> Answer:
    """Write a window of the log, oldest first."""
    query: ExportQuery = call.query
    chosen = bool(query.source or query.tag)
    window, event_filter, key = (
        window_of(query),
        await event_filter_for(call, query, () if chosen else _KINDS),
        call.key,
    )
    assert key is not None
    call.streams.exports.check_room(key)
    log = call.context.storage.log
    end = Seq((await log.bounds()).newest)
    file = Export(log, event_filter, query.format, after=window.after, before=min(window.before, Seq(end + 1)))
    await file.begin()
    began = query.start not in (None, EARLIEST)
    clamped = began and file.first > window.after
    begins = file.first + 1 if began else (await log.bounds()).oldest
    now = rfc3339(call.context.world.now())
    stamp = "".join(sign for sign in now[:19] if sign.isalnum())
    headers = {
        "Content-Disposition": f'attachment; filename="sanderling-events-{stamp}Z.{query.format}"',
        "Sanderling-Window-From": rfc3339(millis_of(Seq(begins))),
        "Sanderling-Retention-Clamped": "true" if clamped else "false",
        "Sanderling-Export-End": id_of(end, 0),
        "X-Accel-Buffering": "no",
    }
    return Answer(b"", media=MEDIA[query.format], headers=headers, stream=file)


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
