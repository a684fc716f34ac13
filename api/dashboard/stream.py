"""Stream: all events live, with the filters of the API, after the newest that are there already."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct

from api.dashboard.events import curl
from api.dashboard.forms import Draft
from api.dashboard.items import Item, items_of
from api.dashboard.screen import Page, Screen, Visit
from api.operations import events
from api.problems import Refusal
from api.schemas.queries import EventsQuery
from storage.records.tiers import SourceType

SHOWN = 50
_Text = Annotated[str, Meta(max_length=500)]


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What to show: the filters as they are typed, several separated by commas."""

    keyword: _Text = ""
    tag: _Text = ""
    source: _Text = ""
    source_type: Literal[""] | SourceType = ""
    cursor: str | None = None

    def filters(self) -> list[tuple[str, str]]:
        """Return the filters as parameters of the API."""
        typed = [("keyword", self.keyword), ("tag", self.tag), ("source", self.source)]
        pairs = [(name, one.strip()) for name, text in typed for one in text.split(",") if one.strip()]
        return [*pairs, *([("source_type", self.source_type)] if self.source_type else [])]


async def newest(visit: Visit, wanted: StreamQuery, limit: int = SHOWN) -> tuple[list[Item], str]:
    """Return a page of events, newest first, and the path to the next one. Raises Refusal (400, 410)."""
    filters = wanted.filters()

    def of(name: str) -> tuple[str, ...]:
        return tuple(value for key, value in filters if key == name)

    query = msgspec.convert(
        {
            "keyword": of("keyword"),
            "tag": of("tag"),
            "source": of("source"),
            "source_type": of("source_type"),
            "cursor": wanted.cursor,
            "order": "desc",
            "limit": limit,
        },
        EventsQuery,
    )
    page = await events.history(visit, query, visit.target)
    return items_of(stored.body for stored in page.events), visit.onward(page.cursor)


async def show(visit: Visit) -> Page:
    """Show the newest events, and go on from there; an older page stands still."""
    wanted: StreamQuery = visit.query
    since = await visit.streams.newest_id()
    items: list[Item] = []
    onward, status = "", 200
    try:
        items, onward = await newest(visit, wanted)
    except (Refusal, msgspec.ValidationError) as error:
        visit.draft, status = Draft(says=str(error)), 400
    asked = urlencode(wanted.filters())
    shows = {
        "items": items,
        "onward": onward,
        "wanted": wanted,
        "live": "" if status != 200 or wanted.cursor else f"/live?{asked}",
        "since": since,
        "curl": curl(visit, "/v1/stream" + (f"?{asked}" if asked else ""), "-N"),
        "published": _publication(wanted),
        "export": curl(visit, f"/v1/events/export?{asked}{'&' if asked else ''}format=csv", "-o events.csv"),
    }
    return Page("stream.html", "Stream", shows, status)


def _publication(wanted: StreamQuery) -> str:
    """Return the query of the form of a publication with these filters. It knows no words: an alert does."""
    filters = [pair for pair in wanted.filters() if pair[0] in ("tag", "source")]
    asked = urlencode([*filters, *([("channel", wanted.source_type)] if wanted.source_type else [])])
    return f"?{asked}" if asked else ""


SCREENS = (Screen(path="/stream", run=show, query=StreamQuery),)
