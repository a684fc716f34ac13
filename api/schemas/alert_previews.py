"""Wire shapes of the previews of alerts and messages."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.notification.dialects import DialectName
from api.schemas.alerts import FilterQuery, KindName, LanguageCode, Match, PrivateSources, SourceIds, Tags
from api.schemas.sources import Time

MOST_EVENTS = 2_000
Mark = Annotated[tuple[int, int], Meta(description="From a code point to before another, counted in the whole text")]


class AlertPreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A query as an alert would have it, and how far to look.

    `last`: how many of the log's newest events are looked at. `limit`: how many matches are shown.
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
    """A word, prefix or phrase of the query, as it was understood, and in how many of the events it is."""

    text: str
    events: int


class PreviewDay(Struct, frozen=True):
    """A day (UTC): how many of its events were looked at, and how many of these match."""

    day: Annotated[str, Meta(extra_json_schema={"format": "date"})]
    looked_at: int
    matches: int


class ContentExcerpt(Struct, frozen=True):
    """A piece of the content, from the code point `start` on. Its marks are counted in the content, as `start` is."""

    start: int
    text: str
    marks: tuple[Mark, ...]


class DiffExcerpt(Struct, frozen=True):
    """A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.

    `start` and the marks are counted in that text.
    """

    part: Literal["added", "removed", "before", "after"]
    index: int
    start: int
    text: str
    marks: tuple[Mark, ...]


class Highlights(Struct, frozen=True):
    """Where the terms stand, in Unicode code points; no text here is HTML. `diff`: in what came and what went."""

    title: tuple[Mark, ...]
    content: tuple[ContentExcerpt, ...]
    diff: tuple[DiffExcerpt, ...] = ()


class PreviewMatch(Struct, frozen=True, kw_only=True):
    """An event that matches. `matched`: which terms of the query are in it."""

    id: str
    source_id: str
    title: str
    url: str
    emitted_at: Time
    matched: tuple[str, ...]
    highlights: Highlights


class AlertPreview(Struct, frozen=True, kw_only=True):
    """What an alert would have told.

    `query`: as it was understood. `complete`: `last` events, or all there are, were looked at in the time there is.
    `looked_from`: when the oldest of them was emitted. `per_day`: the matches to expect; null when too little was
    looked at to say.
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
    """Templates as the `options` of a destination would have them; "" stands for the usual title or text.

    `alert_id`: whose newest matches are told; null takes the newest events of all. `language`: of our own words, as a
    destination's option; "" stands for the service's.
    """

    kind: KindName
    message: Template = ""
    message_title: Template = ""
    alert_id: Annotated[str, Meta(max_length=36)] | None = None
    language: Annotated[str, Meta(max_length=8)] = ""


class ShownMessage(Struct, frozen=True):
    """What is sent, marked up as the service takes it. `failure`: why the template was not used for this event."""

    of: Annotated[MessageOf, Meta(description="The newest event, a digest of the newest, or a sample if there is none")]
    title: str
    text: str
    failure: str | UnsetType = UNSET


class MessagePreview(Struct, frozen=True):
    """The messages of an event and of a digest."""

    dialect: DialectName
    messages: list[ShownMessage]
