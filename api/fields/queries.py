"""Wire shapes of the parameters of lists, streams, history and export; `api/openapi/words/` describes them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Declared, part_of
from storage.records.tiers import SourceType


def _text(most: int, format: str | None = None, *, least: int = 1) -> Meta:
    return Meta(min_length=least or None, max_length=most, extra_json_schema={"format": format} if format else None)


_FIFTY = Meta(max_length=50)
Limit = Annotated[int, Meta(ge=1, le=1000)]
Cursor = Annotated[str, _text(500, "cursor")]
From = Annotated[str, _text(500, "position", least=0)]
To = Annotated[str, _text(100, "position", least=0)]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a list to return."""

    limit: Limit = 100
    cursor: Cursor | None = None


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Filters of a stream. Values of one parameter are alternatives; all parameters must match."""

    source: Annotated[tuple[Annotated[str, _text(500, "source-or-prefix")], ...], _FIFTY] = ()
    source_type: Annotated[tuple[SourceType, ...], _FIFTY] = ()
    tag: Annotated[tuple[Annotated[str, _text(500)], ...], _FIFTY] = ()
    keyword: Annotated[tuple[Annotated[str, _text(500, "alert-term")], ...], _FIFTY] = ()
    heartbeats: bool = False
    since: Annotated[str, _text(100, "place", least=0)] | None = None


class EventsQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A period of the log."""

    start: From | None = None
    to: To | None = None
    source: Annotated[tuple[Annotated[str, _text(4000, "source-list")], ...], _FIFTY] = ()
    source_type: Annotated[tuple[Annotated[str, _text(4000, "tier-list")], ...], _FIFTY] = ()
    tag: Annotated[tuple[Annotated[str, _text(4000, "tag-list")], ...], _FIFTY] = ()
    keyword: Annotated[tuple[Annotated[str, _text(4000, "term-list")], ...], _FIFTY] = ()
    heartbeats: bool = False
    private: bool = True
    cursor: Cursor | None = None
    order: Literal["asc", "desc"] = "asc"
    limit: Limit = 500


@part_of(EventsQuery, ("start", "to", "source", "source_type", "tag", "keyword", "heartbeats", "private"))
class ExportQuery(Declared, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A period of the log in one file, oldest first."""

    start: To | None = None
    format: Literal["json", "ndjson", "csv"] = "json"
