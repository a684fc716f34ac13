"""Wire shapes of the parameters of lists, streams, history and export."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Declared, part_of
from storage.records.tiers import SourceType

Limit = Annotated[int, Meta(ge=1, le=1000, description="Most items of a page", examples=[100])]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="From the `Link` of the previous page; opaque",
        extra_json_schema={"format": "cursor"},
    ),
]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a list to return."""

    limit: Limit = 100
    cursor: Cursor | None = None


Value = Annotated[str, Meta(min_length=1, max_length=500)]
_SOURCE = {"format": "source-or-prefix"}
Sources = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema=_SOURCE)], ...],
    Meta(
        max_length=50,
        description="Only events of these sources, by id; `.*` at the end makes it a prefix of ids",
        examples=[["019db0a4-5c00-7000-8000-000000000001"]],
    ),
]
SourceTypes = Annotated[
    tuple[SourceType, ...], Meta(max_length=50, description="Only events of these tiers", examples=[["feed"]])
]
EventTags = Annotated[
    tuple[Value, ...],
    Meta(
        max_length=50,
        description="Only events with one of these tags; a bare word is a label",
        examples=[["topic:prices"]],
    ),
]
Keywords = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema={"format": "alert-term"})], ...],
    Meta(
        max_length=50,
        description="Only events whose title or content has one of these, each read as a term of an alert's query, in "
        "the languages of the alerts and English",
        examples=[["price"]],
    ),
]


WithPrivate = Annotated[
    bool,
    Meta(description="False leaves out the events of private sources, unless `source` names them", examples=[False]),
]
Heartbeats = Annotated[
    bool,
    Meta(
        description="Include heartbeats (`heartbeat_event`), regardless of the other filters; by default omitted",
        examples=[True],
    ),
]


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Filters of a stream. Values of one parameter are alternatives; all parameters must match."""

    source: Sources = ()
    source_type: SourceTypes = ()
    tag: EventTags = ()
    keyword: Keywords = ()
    heartbeats: Heartbeats = False
    since: (
        Annotated[
            str,
            Meta(
                max_length=100,
                description="UUIDv7 of an event: replay the events after it; `earliest`: replay the whole log",
                examples=["019db0a4-6a10-7000-8000-0000000000a7"],
                extra_json_schema={"format": "place"},
            ),
        ]
        | None
    ) = None


_POSITION = {"format": "position"}
_LISTED = "; a comma separates values, at most 50 of them"
Pieces = Annotated[str, Meta(min_length=1, max_length=4000, extra_json_schema={"format": "tag-list"})]
ListedSources = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=4000, extra_json_schema={"format": "source-list"})], ...],
    Meta(
        max_length=50,
        description=f"Only events of these sources, by id; `.*` at the end makes it a prefix of ids{_LISTED}",
        examples=[["019db0a4-5c00-7000-8000-000000000001"]],
    ),
]
ListedTypes = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=4000, extra_json_schema={"format": "tier-list"})], ...],
    Meta(max_length=50, description=f"Only events of these tiers{_LISTED}", examples=[["feed,html"]]),
]
ListedTags = Annotated[
    tuple[Pieces, ...],
    Meta(
        max_length=50,
        description=f"Only events with one of these tags; a bare word is a label{_LISTED}",
        examples=[["topic:prices"]],
    ),
]
ListedKeywords = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=4000, extra_json_schema={"format": "term-list"})], ...],
    Meta(
        max_length=50,
        description=f"Only events whose title or content has one of these, as on a stream{_LISTED}",
        examples=[["price,ticket"]],
    ),
]
From = Annotated[
    str,
    Meta(
        max_length=500,
        description="RFC 3339 time, included; an event's id or a `next_cursor`, excluded; or `earliest`",
        examples=["2026-04-21T00:00:00Z"],
        extra_json_schema=_POSITION,
    ),
]
To = Annotated[
    str,
    Meta(
        max_length=100,
        description="RFC 3339 time or an event's id, not included",
        examples=["2026-04-22T00:00:00Z"],
        extra_json_schema=_POSITION,
    ),
]


class EventsQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A period of the log."""

    start: From | None = None
    to: To | None = None
    source: ListedSources = ()
    source_type: ListedTypes = ()
    tag: ListedTags = ()
    keyword: ListedKeywords = ()
    heartbeats: Heartbeats = False
    private: WithPrivate = True
    cursor: Cursor | None = None
    order: Annotated[Literal["asc", "desc"], Meta(description="Oldest or newest first", examples=["desc"])] = "asc"
    limit: Limit = 500


@part_of(EventsQuery, ("start", "to", "source", "source_type", "tag", "keyword", "heartbeats", "private"))
class ExportQuery(Declared, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A period of the log in one file, oldest first."""

    start: (
        Annotated[
            str,
            Meta(
                max_length=100,
                description="RFC 3339 time, included; an event's id, excluded; or `earliest`",
                examples=["2026-04-21T00:00:00Z"],
                extra_json_schema=_POSITION,
            ),
        ]
        | None
    ) = None
    format: Annotated[Literal["json", "ndjson", "csv"], Meta(description="The form of the file", examples=["csv"])] = (
        "json"
    )
