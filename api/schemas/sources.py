"""Wire shapes of sources, and of tags and their defaults.

Fields marked "twin" repeat a nested field flat, because published clients of similar services read them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from actors.messages.requests import NewSource
from actors.selection import SourceSort
from api.problems import Problem
from storage.records.identity import Managed
from storage.records.source import Follow, Inheritable, Render
from storage.records.states import SOURCES, SourceState
from storage.records.tiers import SourceType

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Revision = Annotated[str, Meta(description="What its ETag says, for If-Match")]
UpdatedBy = Annotated[
    str, Meta(description="Who set something of it last: a key's name, the dashboard, this machine; else the service")
]
NowState = Annotated[
    SourceState, Meta(description=" ".join(f"`{name}`: {state.says}" for name, state in SOURCES.items()))
]
"""A source's current state."""


class SourceBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Up to 20 URLs to watch."""

    sources: Annotated[tuple[NewSource, ...], Meta(min_length=1, max_length=20)]


class Detected(Struct, frozen=True):
    """What a URL was found to be; `evidence` is a sentence that a person can check.

    `pending`: it has yet to answer, and the rest is a guess. `forced`: its owner said what it is, and it looked like
    something else. `final_url`: where the look was led; if it is not the source's own address, what its query calls a
    token, a key or the like is hidden.
    """

    type: SourceType
    confidence: Literal["high", "medium", "low"]
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    pending: bool = False
    forced: bool = False


class SourceHealth(Struct, frozen=True):
    """How a source is doing. Before the first success `last_success_at` is the time of creation."""

    score: float
    flag: Literal["ok", "degraded", "rotten"]
    reason: str
    last_success_at: Time
    rank: int
    last_checked_at: Time | None


class Breaker(Struct, frozen=True):
    """The circuit breaker: open means that the source is left alone until `retry_at`."""

    state: Literal["closed", "open", "half-open"]
    retry_at: Time | None


class EffectiveSettings(Struct, frozen=True, kw_only=True):
    """The settings that hold for a source: its own, and what it inherits of its tags."""

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: tuple[str, ...]


class SourceRecord(Struct, frozen=True, kw_only=True):
    """A watched source. `title` is its owner's name for it, `found_title` what it calls itself. `noise_count`: how many
    keys of blocks its owner's feedback has made noise. `state`: how it is now; `health` is its score over days.
    `rendered`: what is known of it is a page as a browser showed it, so each of its looks costs 100 plain ones.
    `headers_from`: the source with whose headers it is looked at, if not with its own. `private`: it is checked with
    headers, or in an opened network, so publications leave it out until somebody includes it by name.
    `schedule`, `hours`, `bar`, `selector` and `ignore` are its own; `effective` says what holds for it, and `inherited`
    which of that comes from which of its tags (see PUT /v1/tags/{tag}); none of what `own_only` names.
    """

    id: str
    url: str
    title: str
    found_title: str
    type: SourceType
    detected_type: SourceType
    detection: Detected
    enabled: bool
    tags: tuple[str, ...]
    selector: str | None
    ignore: tuple[str, ...]
    filter: str | None
    subprotocols: tuple[str, ...]
    has_hello: bool
    replies: tuple[str, ...]
    has_headers: bool
    headers_for: tuple[str, ...]
    headers_from: str | None
    render: Render
    wait_for: str | None
    screenshots: bool
    rendered: bool
    schedule: str | None
    hours: str | None
    bar: float | None
    follow: Follow
    follow_hosts: tuple[str, ...]
    own_only: tuple[Inheritable, ...]
    noise_count: int
    state: NowState
    created_at: Time
    updated_at: Time
    last_fetch_at: Time | None
    last_success_at: Time | None
    next_fetch_at: Time | None
    last_event_at: Time | None
    health: SourceHealth
    breaker: Breaker
    health_score: float
    health_flag: Literal["ok", "degraded", "rotten"]
    health_reason: str
    health_rank: int
    detection_confidence: Literal["high", "medium", "low"]
    detection_evidence: str
    discovered_feed_url: str | None
    mode: Literal["poll", "push"]
    effective: EffectiveSettings
    inherited: dict[str, tuple[str, ...]]
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None
    supported: bool = True
    follow_one_hop: bool = False
    private: bool = False


class PushStatus(Struct, frozen=True):
    """What a push source's connections have brought since the service started. `connected_since` null: none stands.

    Each of the `frames` counts once more: as admitted, a duplicate, filtered (nobody wants it) or unreadable.
    """

    connected_since: Time | None
    subprotocol: str | None
    connections: int
    frames: int
    admitted: int
    duplicates: int
    filtered: int
    unreadable: int


class HeldEvents(Struct, frozen=True, kw_only=True):
    """What the log holds of a source: events, and about how many bytes they take."""

    events: int
    bytes: int


class SourceStatus(Struct, frozen=True, kw_only=True):
    """What the watching does at this moment; `last_error` in words. `enabled`, `health_flag`: twins."""

    id: str
    state: Literal["active", "disabled"]
    enabled: bool
    health_flag: Literal["ok", "degraded", "rotten"]
    last_fetch_at: Time | None
    last_success_at: Time | None
    last_event_at: Time | None
    next_fetch_at: Time | None
    overdue: bool
    interval_s: float
    looks: int
    unchanged: int
    events: int
    last_status: int | None
    last_error: str | None
    breaker: Breaker
    consecutive_failures: int
    held: HeldEvents
    queue_position: int = 0
    push: PushStatus | None = None


class CheckAnswer(Struct, frozen=True):
    """When the look that was asked for is due."""

    id: str
    next_fetch_at: Time


class BatchResult(Struct, frozen=True):
    """What became of one URL of a batch."""

    url: str
    status: Literal["created", "attached_existing", "failed", "timeout"]
    detected_type: SourceType | None = None
    source: SourceRecord | None = None
    error: Problem | None = None


class BatchAnswer(Struct, frozen=True):
    """The results of a batch, in the order of the request."""

    results: tuple[BatchResult, ...]


Limit = Annotated[int, Meta(ge=1, le=1000, description="Most items of a page", examples=[100])]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="From the `Link` of the page before; opaque",
        extra_json_schema={"format": "cursor"},
    ),
]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a list to return."""

    limit: Limit = 100
    cursor: Cursor | None = None


InState = Annotated[SourceState, Meta(description="Only those that are in this state now", examples=["failing"])]


Sort = Annotated[
    SourceSort,
    Meta(
        description="Worst health first; by name, last change, next look, or age with the newest first; with a minus "
        "the other way round. `-added` is the order that nothing moves in while it is read page by page",
        examples=["-added"],
    ),
]


class SourcesQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """The sources to return: those that match every parameter."""

    state: InState | None = None
    sort: Sort = "worst"
    q: Annotated[
        str,
        Meta(
            max_length=200, examples=["harbour"], description="Words that its URL, its name or one of its tags contain"
        ),
    ] = ""


class TagDefaultsRecord(Struct, frozen=True, kw_only=True):
    """What the sources of a tag inherit; null and [] say nothing of a setting. `destinations`: of each of these a new
    alert over the tag gets a copy.
    """

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: tuple[str, ...]
    destinations: tuple[str, ...]
    updated_at: Time
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None


class TagRecord(Struct, frozen=True, kw_only=True):
    """A tag. `sources`: how many have it; `sources_below`: how many have it or one below it, as `news/se` is of `news`.
    `defaults` null: it has none.
    """

    tag: str
    sources: int
    sources_below: int
    defaults: TagDefaultsRecord | None
