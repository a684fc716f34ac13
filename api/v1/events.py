"""History: windows of the log, page by page or as one file, and single events.

A page concatenates stored bodies. Only filters decode events, and an event verifies here as it does on a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from actors.messages.declaring import Time
from api.operations import events, versions
from api.pagination import next_link
from api.route import Answer, Call, Route
from api.schemas.queries import EventsQuery, ExportQuery
from api.schemas.versions import ScreenshotQuery
from api.streams.export import MEDIA
from storage.records.event import Event, Stored
from storage.records.identity import Millis, rfc3339
from storage.records.picture import Side


class EventsPage(Struct, frozen=True):
    """A page of history. `window_from`: where the window really began, later than asked when retention clamped it."""

    events: tuple[Event, ...]
    next_cursor: str | None
    window_from: Time
    retention_clamped: bool


async def history(call: Call) -> Answer:
    page = await events.history(call, call.query, call.target)
    base_url = call.context.settings.public_url()
    headers = {} if page.cursor is None else {"Link": next_link(base_url, call.target, page.cursor)}
    return Answer(_page(*page), headers=headers)


def _page(events: Sequence[Stored], cursor: str | None, begins: Millis, clamped: bool) -> bytes:
    """Return the answer around bodies that are JSON already. Cursors and times need no escaping."""
    return b'{"events":[%b],"next_cursor":%b,"window_from":"%b","retention_clamped":%b}' % (
        b",".join(event.body for event in events),
        b"null" if cursor is None else b'"%b"' % cursor.encode(),
        rfc3339(begins).encode(),
        b"true" if clamped else b"false",
    )


async def one(call: Call) -> Answer:
    """Return one event, exactly as it was signed."""
    return Answer((await events.named(call, call.path["id"])).body)


async def screenshot(call: Call) -> Answer:
    """Return the picture of the page before or after an event."""
    side: Side = call.query.side
    found = await versions.picture(call, call.path["id"], side)
    return Answer(found.body, media=found.media, headers=versions.headers_of(found, f"{call.path['id']}-{side}"))


def _route(path: str, run: Any, says: str, answer: Any, **more: Any) -> Route:
    return Route(
        method="GET",
        path=f"/v1/events{path}",
        scope="stream:read",
        run=run,
        says=says,
        answers={200: answer},
        **more,
    )


async def export(call: Call) -> Answer:
    """Write a window of the log, oldest first."""
    assert call.key is not None
    opened = await events.export(call, call.query, call.key)
    return Answer(b"", media=opened.media, headers=dict(opened.headers), stream=opened.file)


ROUTES = (
    _route(
        "",
        history,
        "Read the events of a period, page by page.",
        EventsPage,
        query=EventsQuery,
        refuses=("cursor-expired",),
        headers=("Link",),
    ),
    _route("/{id}", one, "Read one event.", Event, refuses=("not-found",)),
    _route(
        "/{id}/screenshot",
        screenshot,
        "Read a screenshot of the rendered page, before the event or after it.",
        str,
        query=ScreenshotQuery,
        media="image/webp",
        also=("image/png", "image/jpeg"),
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/events/export",
        scope="stream:read",
        run=export,
        says="Export the events of a period into one file: JSON, NDJSON or CSV.",
        answers={200: list[Event]},
        query=ExportQuery,
        also=(MEDIA["ndjson"], "text/csv"),
        headers=(
            *("Content-Disposition", "Sanderling-Window-From"),
            *("Sanderling-Retention-Clamped", "Sanderling-Export-End"),
        ),
    ),
)
