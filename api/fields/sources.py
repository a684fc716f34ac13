"""Wire shapes of sources, and of tags and their defaults.

Fields marked "twin" repeat a nested field flat, because published clients of similar services read them.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages import requests
from actors.messages.declaring import Declared, Revision, Time, UpdatedBy, record_of, shown_whole
from actors.messages.requests import SECRETS, Ignore, NewSource, Selector
from actors.messages.views import PushView, SourceSort
from api.fields.queries import ListQuery
from api.problems import Problem
from storage.records import source as stored
from storage.records.source import SOURCES, Detection, Inheritable, Source, SourceRuntime, SourceStateName, TagDefaults
from storage.records.tiers import SourceType

NowState = Annotated[
    SourceStateName, Meta(description=" ".join(f"`{name}`: {state.says}" for name, state in SOURCES.items()))
]


class SourceBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Up to 20 URLs to watch."""

    sources: Annotated[tuple[NewSource, ...], Meta(min_length=1, max_length=20)]


@record_of(stored.Detection, "type confidence evidence final_url content_type feed_url pending forced")
class Detected(Declared, frozen=True):
    """The detected type of a URL; `evidence` is a sentence that a person can verify."""

    pending: bool = False
    forced: bool = False


@record_of(stored.Health, "score flag reason last_success_at rank last_checked_at")
class SourceHealth(Declared, frozen=True):
    """A source's health. Before the first success `last_success_at` is the time of creation."""

    last_success_at: Time
    rank: int
    last_checked_at: Time | None


@record_of(stored.BreakerState, "state retry_at")
class Breaker(Declared, frozen=True):
    """The circuit breaker: `open` means no checks until `retry_at`."""


@record_of(Source, " ".join(get_args(Inheritable)))
class EffectiveSettings(Declared, frozen=True, kw_only=True):
    """A source's settings in force: its own, and those inherited from its tags."""


_SET = (name for name in NewSource.__struct_fields__ if name not in (*SECRETS, "backfill"))


@record_of(
    Source,
    "id url title found_title type detected_type detection enabled tags selector ignore filter subprotocols has_hello "
    "replies has_headers headers_for headers_from render wait_for screenshots rendered schedule hours bar follow "
    "follow_hosts own_only noise_count state created_at updated_at last_fetch_at last_success_at next_fetch_at "
    "last_event_at health breaker health_score health_flag health_reason health_rank detection_confidence "
    "detection_evidence discovered_feed_url mode effective inherited revision updated_by managed supported "
    f"follow_one_hop private {' '.join(_SET)}",
)
class SourceRecord(Declared, frozen=True, kw_only=True):
    """A watched source."""

    detected_type: SourceType
    detection: Detected
    has_hello: bool
    has_headers: bool
    headers_from: str | None
    rendered: bool
    noise_count: int
    state: NowState
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
    supported: bool = True
    follow_one_hop: bool = False
    private: bool = False


@record_of(PushView, "connected_since subprotocol connections frames admitted duplicates filtered unreadable")
class PushStatus(Declared, frozen=True):
    """Counters of a push source since the service started."""


class HeldEvents(Struct, frozen=True, kw_only=True):
    """The number of a source's events in the log, and their approximate size in bytes."""

    events: int
    bytes: int


@record_of(
    SourceRuntime,
    "id state enabled health_flag last_fetch_at last_success_at last_event_at next_fetch_at overdue interval_s looks "
    "unchanged events last_status last_error breaker consecutive_failures held queue_position push",
)
class SourceStatus(Declared, frozen=True, kw_only=True):
    """The state of the watching now; `last_error` is a sentence. `enabled`, `health_flag`: twins."""

    id: str
    state: Literal["active", "disabled"]
    enabled: bool
    health_flag: Literal["ok", "degraded", "rotten"]
    last_fetch_at: Time | None
    next_fetch_at: Time | None
    overdue: bool
    interval_s: float
    breaker: Breaker
    consecutive_failures: int
    held: HeldEvents
    queue_position: int = 0
    push: PushStatus | None = None


class PreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Another part of the page to preview. Omitted fields have the source's values; null is the whole page."""

    selector: Selector | UnsetType | None = UNSET
    ignore: Ignore | UnsetType = UNSET


class CheckAnswer(Struct, frozen=True):
    """The time of the requested check."""

    id: str
    next_fetch_at: Time


class BatchResult(Struct, frozen=True):
    """The result for one URL of a batch."""

    url: str
    status: Literal["created", "attached_existing", "failed", "timeout"]
    detected_type: SourceType | None = None
    source: SourceRecord | None = None
    error: Problem | None = None


class BatchAnswer(Struct, frozen=True):
    """The results of a batch, in the order of the request."""

    results: tuple[BatchResult, ...]


class SourcesQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """The sources to return: those that match every parameter."""

    state: SourceStateName | None = None
    sort: SourceSort = "worst"
    q: Annotated[str, Meta(max_length=200)] = ""


@record_of(TagDefaults, f"{' '.join(get_args(Inheritable))} destinations updated_at revision updated_by managed")
class TagDefaultsRecord(Struct, frozen=True, kw_only=True):
    """The settings that the sources of a tag inherit; null and [] set nothing."""

    revision: Revision
    updated_by: UpdatedBy


class TagRecord(Struct, frozen=True, kw_only=True):
    """A tag."""

    tag: str
    sources: int
    sources_below: int
    defaults: TagDefaultsRecord | None


@shown_whole(requests.DraftEvent)
class DraftEvent(Declared, frozen=True):
    """An event as a check would emit it, `content` cut to 500 characters."""


@shown_whole(requests.FeedPreview)
class FeedPreview(Declared, frozen=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them."""

    newest: tuple[DraftEvent, ...]


@record_of(requests.PagePreview, "title author published_at content blocks watched left_out matched ignored partial")
class PagePreview(Declared, frozen=True):
    """A page: its first 40 blocks, and the numbers of watched and left-out blocks."""

    listed: int = 0
    items: tuple[requests.ListedItem, ...] = ()
    values: tuple[requests.FoundValue, ...] = ()


@shown_whole(requests.PushPreview)
class PushPreview(Declared, frozen=True):
    """The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then."""

    frames: tuple[DraftEvent, ...]


@shown_whole(requests.PacePreview)
class PacePreview(Declared, frozen=True):
    """The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC."""


@shown_whole(requests.Preview)
class Preview(Declared, frozen=True):
    """The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`."""

    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None


@record_of(
    Detection,
    "url type confidence evidence final_url content_type feed_url supported discovered_feed_url source_id preview",
)
class DetectAnswer(Declared, frozen=True):
    """The answer to a detection."""

    url: str
    supported: bool
    discovered_feed_url: str | None
    source_id: str | None
    preview: Preview
