"""The export: a window of the past as one file, for a spreadsheet or another program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from api.operations.context import OperationContext
from api.operations.past import EARLIEST, event_filter_for, window_of
from api.schemas.queries import ExportQuery
from api.streams.export import MEDIA, Export
from api.streams.holder import Holder
from storage.records.identity import Seq, id_of, millis_of
from storage.records.tiers import WATCHED, Kind
from storage.records.times import rfc3339

_KINDS = (*WATCHED, Kind.NOTICE)
"""The default kinds without sources or tags: everything but practice."""


class OpenExport(NamedTuple):
    """An export that has read its first page, with the answer's media type and headers."""

    file: Export
    media: str
    headers: Mapping[str, str]


async def export(call: OperationContext, query: ExportQuery, holder: Holder) -> OpenExport:
    """Open a window of the log, oldest first. Raises Refusal (400, 429, 503), StorageError."""
    chosen = bool(query.source or query.tag)
    window, event_filter = window_of(query), await event_filter_for(call, query, () if chosen else _KINDS)
    call.streams.exports.check_room(holder)
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
    return OpenExport(file, MEDIA[query.format], headers)
