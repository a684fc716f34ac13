"""Wire shapes of the previews of alerts and messages."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.notification.dialects import DialectName
from api.fields.alerts import FilterQuery, KindName, LanguageCode, Match, PrivateSources, SourceIds, Tags
from api.schemas.sources import Time

MOST_EVENTS = 2_000
Mark = Annotated[tuple[int, int], Meta(description="Start and end in code points of the whole text, the end excluded")]


class AlertPreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A query as in an alert, and the range of the search.

    `last`: the number of newest events to search. `limit`: the number of matches to show.
    """

    filter_query: FilterQuery
    language: LanguageCode = "en"
    source_ids: SourceIds = ()
    last: Annotated[int, Meta(ge=1, le=MOST_EVENTS)] = MOST_EVENTS
    limit: Annotated[int, Meta(ge=0, le=100)] = 20
    match: Match = "change"
    tags: Tags = ()
    private_source_ids: PrivateSources = ()


class PreviewTerm(Struct, frozen=True):
    """A word, prefix or phrase of the query as interpreted, and the number of events that contain it."""

    text: str
    events: int


class PreviewDay(Struct, frozen=True):
    """A day (UTC): how many of its events were searched, and how many match."""

    day: Annotated[str, Meta(extra_json_schema={"format": "date"})]
    looked_at: int
    matches: int


class ContentExcerpt(Struct, frozen=True):
    """A piece of the content from the code point `start` on. Marks count in the whole content, like `start`."""

    start: int
    text: str
    marks: tuple[Mark, ...]


class DiffExcerpt(Struct, frozen=True):
    """A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.

    `start` and the marks count in that text.
    """

    part: Literal["added", "removed", "before", "after"]
    index: int
    start: int
    text: str
    marks: tuple[Mark, ...]


class Highlights(Struct, frozen=True):
    """The places of the terms in Unicode code points; no text is HTML. `diff`: those in added and removed texts."""

    title: tuple[Mark, ...]
    content: tuple[ContentExcerpt, ...]
    diff: tuple[DiffExcerpt, ...] = ()


class PreviewMatch(Struct, frozen=True, kw_only=True):
    """A matching event. `matched`: the terms of the query that it contains."""

    id: str
    source_id: str
    title: str
    url: str
    emitted_at: Time
    matched: tuple[str, ...]
    highlights: Highlights


class AlertPreview(Struct, frozen=True, kw_only=True):
    """The past matches of a query.

    `query`: as interpreted. `complete`: the search covered `last` events, or the whole log, in time. `looked_from`: the
    time of the oldest event searched. `per_day`: expected matches; null if the search covered too little.
    """

    query: str
    language: str
    warnings: tuple[str, ...]
    looked_at: int
    complete: bool
    looked_from: Time | None
    matches_found: int
    per_day: float | None
    days: tuple[PreviewDay, ...]
    terms: tuple[PreviewTerm, ...]
    matches: tuple[PreviewMatch, ...]


Template = Annotated[str, Meta(max_length=4096)]
MessageOf = Literal["event", "digest", "sample"]


class MessagePreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Templates as in the `options` of a destination; "" is the default title or text.

    `alert_id`: the alert with the matches to show; null takes the newest events of the log. `language`: of the
    service's own words, as in a destination's options; "" is the service's language.
    """

    kind: KindName
    message: Template = ""
    message_title: Template = ""
    alert_id: Annotated[str, Meta(max_length=36)] | None = None
    language: Annotated[str, Meta(max_length=8)] = ""


class ShownMessage(Struct, frozen=True):
    """The message with the service's markup. `failure`: the reason why the template was not used for this event."""

    of: Annotated[MessageOf, Meta(description="The newest event, a digest of the newest, or a sample if there is none")]
    title: str
    text: str
    failure: str | UnsetType = UNSET


class MessagePreview(Struct, frozen=True):
    """The messages of an event and of a digest."""

    dialect: DialectName
    messages: list[ShownMessage]
