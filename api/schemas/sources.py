"""Wire shapes of version 1. Requests refuse unknown fields; answers are written by the functions of their noun's file.

Fields marked "twin" repeat what a nested object says, flat, because published clients of services of this kind read
them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from api.problems import Problem
from storage.records.event import SourceType

Url = Annotated[
    str,
    Meta(min_length=1, max_length=2048, description="http, https, ws or wss", extra_json_schema={"format": "uri"}),
]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]
Tags = Annotated[
    tuple[Tag, ...],
    Meta(
        max_length=50,
        description="Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`",
    ),
]
Selector = Annotated[str, Meta(min_length=1, max_length=1000, description="A CSS selector of what to watch in a page")]
Ignore = Annotated[tuple[Selector, ...], Meta(max_length=50, description="CSS selectors of what not to watch")]
Schedule = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,6}[smhd]$(?!\n)",
        description="A fixed interval such as 10m, instead of the adaptive one",
        extra={"form": "a whole number and one of s, m, h and d, such as 10m, 2h or 1d"},
    ),
]
PushFilter = Annotated[
    str,
    Meta(
        max_length=4096,
        extra_json_schema={"format": "alert-query"},
        description="A query that a push source's frames must match to become events, beside those that match an "
        "alert; an empty one admits every frame",
    ),
]
Bar = Annotated[
    float,
    Meta(
        ge=0.2,
        le=0.9,
        description="The score from which a page's difference is told; a lower one tells more; null is 0.5",
    ),
]
Subprotocol = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$(?!\n)",
        description="A WebSocket subprotocol, a token of RFC 9110",
        extra={"form": "a token of RFC 9110: letters without accents, digits and the signs !#$%&'*+-.^_`|~"},
    ),
]
Subprotocols = Annotated[
    tuple[Subprotocol, ...],
    Meta(max_length=16, description="What a push source's handshake offers, best first"),
]
Hello = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="What is sent to a push source after each handshake, such as a subscription; {last_id} becomes the "
        "id of the frame that was admitted last. Never shown again",
    ),
]
Title = Annotated[str, Meta(max_length=200, description="Your own name for it, of one line", examples=["Day tickets"])]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class NewSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A URL to watch. `type` overrides detection. `backfill`: how many of a feed's newest entries to emit at once.

    `verify`: with `later`, a URL that can't be reached now is added, too, and found out when it answers.
    """

    url: Url
    type: SourceType | None = None
    tags: Tags = ()
    selector: Selector | None = None
    ignore: Ignore = ()
    schedule: Schedule | None = None
    backfill: Annotated[int, Meta(ge=0, le=50)] = 0
    filter: PushFilter | None = None
    bar: Bar | None = None
    subprotocols: Subprotocols = ()
    hello: Hello | None = None
    title: Title = ""
    verify: Literal["now", "later"] = "now"


class SourceBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Up to 20 URLs to watch."""

    sources: Annotated[tuple[NewSource, ...], Meta(min_length=1, max_length=20)]


class SourcePatch(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; null empties `selector`, `schedule`, `filter`, `bar` and `hello`. The URL is fixed."""

    type: SourceType | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    selector: Selector | UnsetType | None = UNSET
    ignore: Ignore | UnsetType = UNSET
    filter: PushFilter | UnsetType | None = UNSET
    subprotocols: Subprotocols | UnsetType = UNSET
    hello: Hello | UnsetType | None = UNSET
    schedule: Schedule | UnsetType | None = UNSET
    bar: Bar | UnsetType | None = UNSET
    title: Title | UnsetType = UNSET


class Detected(Struct, frozen=True):
    """What a URL was found to be; `evidence` is a sentence that a person can check.

    `pending`: it has yet to answer, and the rest is a guess.
    """

    type: SourceType
    confidence: Literal["high", "medium", "low"]
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    pending: bool = False


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


class SourceRecord(Struct, frozen=True, kw_only=True):
    """A watched source. `title` is its owner's name for it, `found_title` what it calls itself. `noise_count`: how many
    keys of blocks its owner's feedback has made noise."""

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
    schedule: str | None
    bar: float | None
    noise_count: int
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
    supported: bool = True
    follow_one_hop: bool = False


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
    """How much of a list, and from where."""

    limit: Limit = 100
    cursor: Cursor | None = None
