"""Wire shapes of alerts, destinations and deliveries."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.messages.requests import ManagedBy
from actors.notices import AlertType
from api.schemas.sources import ListQuery, Revision, Time, UpdatedBy
from storage.records.alert import MOST_SOURCES, MOST_TAGS, Matching
from storage.records.destination import WEEKDAYS, DeliveryMode, Format, Result, Weekday
from storage.records.event import Event
from storage.records.identity import Managed

Name = Annotated[str, Meta(min_length=1, max_length=200)]
FilterQuery = Annotated[
    str,
    Meta(
        description='Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches '
        "everything",
        extra_json_schema={"format": "alert-query", "maxLength": 4096},  # the parser reports the position
    ),
]
Match = Annotated[
    Matching,
    Meta(
        description="What of a page's event the query is held against: title, what came and what went (`change`), "
        "what came (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter"
    ),
]
LanguageCode = Annotated[str, Meta(max_length=20, description="ISO 639-1, or simple for no stemming")]
SourceId = Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema={"format": "uuid"})]
SourceIds = Annotated[
    tuple[SourceId, ...],
    Meta(max_length=MOST_SOURCES, description="Events of these sources; with neither these nor `tags`, of all"),
]
PrivateSources = Annotated[
    tuple[SourceId, ...],
    Meta(
        max_length=MOST_SOURCES,
        description="Private sources that are in it, too. A source is `private` if it is checked with headers, its own "
        "or borrowed ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves "
        "it out, and so does an alert that was made before the source was private",
    ),
]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[
    tuple[Tag, ...],
    Meta(
        max_length=MOST_TAGS,
        description="Events with any of these tags, also of sources that are added later; beside `source_ids`",
    ),
]
Channel = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)",
        description="The name under which GET /v1/streams/{channel} carries the matches; alerts may share one",
        extra={"form": "at most 63 of a-z, 0-9, - and _, with a letter or a digit first"},
    ),
]
Notices = Annotated[
    tuple[AlertType, ...], Meta(max_length=20, description="The service's own notices that it asks for")
]
NoticeAfter = Annotated[int, Meta(ge=0, le=7 * 86400, description="Seconds after which a trouble is told")]
OncePerStory = Annotated[
    bool | None,
    Meta(
        description="Of events that tell the same (`story`), only the first it matches goes to its destinations; "
        "null: where it is over several sources"
    ),
]
SOURCES_OWN: tuple[AlertType, ...] = (
    "source_quiet",
    "source_recovered",
    "source_failing",
    "source_reset",
    "source_moved",
)


class NewAlert(Struct, frozen=True, forbid_unknown_fields=True):
    """A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: it gets a copy of each destination
    that its tags have as defaults.
    """

    filter_query: FilterQuery
    language: LanguageCode = "en"
    source_ids: SourceIds = ()
    tags: Tags = ()
    name: Name | None = None
    channel: Channel | None = None
    enabled: bool = True
    notices: Notices = SOURCES_OWN
    notice_after: NoticeAfter = 3600
    anomaly_enabled: bool = False
    match: Match = "change"
    once_per_story: OncePerStory = None
    default_destinations: bool = True
    managed: ManagedBy = None
    private_source_ids: PrivateSources = ()


class AlertPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; null takes the `channel` and `managed` away."""

    filter_query: FilterQuery | UnsetType = UNSET
    language: LanguageCode | UnsetType = UNSET
    source_ids: SourceIds | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    channel: Channel | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    notices: Notices | UnsetType = UNSET
    notice_after: NoticeAfter | UnsetType = UNSET
    anomaly_enabled: bool | UnsetType = UNSET
    match: Match | UnsetType = UNSET
    once_per_story: OncePerStory | UnsetType = UNSET
    managed: ManagedBy | UnsetType = UNSET
    private_source_ids: PrivateSources | UnsetType = UNSET


class AlertRecord(Struct, frozen=True, kw_only=True):
    """An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: what it was made of,
    as `<template id>/<key>`. `match` is `page` for alerts from before there was a choice. `alert_id`: the id, by the
    name that other records give it.
    """

    id: str
    name: str
    filter_query: str
    language: str
    match: Matching
    source_ids: tuple[str, ...]
    private_source_ids: tuple[str, ...]
    tags: tuple[str, ...]
    channel: str | None
    enabled: bool
    notices: tuple[str, ...]
    notice_after: int
    once_per_story: bool | None
    created_at: Time
    updated_at: Time
    last_match_at: Time | None
    match_count: int
    delivery_mode: DeliveryMode
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None
    anomaly_enabled: bool = False
    template: str | None = None
    alert_id: str | None = None


HookUrl = Annotated[
    str, Meta(min_length=1, max_length=2048, description="Public https", extra_json_schema={"format": "uri"})
]
Hour = Annotated[int, Meta(ge=0, le=23, description="The hour at which a daily digest's window ends")]
Zone = Annotated[str, Meta(min_length=1, max_length=64, description="IANA time zone")]


ClockTime = Annotated[
    str,
    Meta(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$(?!\n)",
        description="HH:MM",
        extra={"form": "a time of day as HH:MM, from 00:00 to 23:59"},
    ),
]
Weekdays = Annotated[
    tuple[Weekday, ...],
    Meta(min_length=1, max_length=7, description="The days on which it begins; without this, all of them"),
]


class QuietHours(Struct, frozen=True, forbid_unknown_fields=True):
    """When instant deliveries wait: from a time of the named days to the next `to`, over midnight if it is earlier."""

    start: ClockTime = field(name="from")
    end: ClockTime = field(name="to")
    timezone: Zone = "UTC"
    weekdays: Weekdays = WEEKDAYS


BodyFormat = Annotated[
    Format,
    Meta(description="The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2)"),
]


KindName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9-]{0,31}$(?!\n)",
        description="A kind of GET /v1/destination-kinds; a webhook without this",
        examples=["webhook", "slack"],
        extra={"form": "small letters, digits and hyphens"},
    ),
]
OptionValue = Annotated[str, Meta(max_length=4096)]
Options = Annotated[
    dict[str, OptionValue | None],
    Meta(
        max_length=20,
        description="What the kind asks for, by name; private values are sealed and never shown again",
        examples=[{}],
    ),
]


AtOnce = Annotated[
    int, Meta(ge=0, le=500, description="More events than this that wait at once become one digest; 0: none do")
]


OwnSecret = Annotated[
    str,
    Meta(
        pattern=r"^whsec_[A-Za-z0-9+/]{32,88}={0,2}$(?!\n)",
        extra={"form": "whsec_ and base64 of 24 to 64 random bytes"},
        description="A signing secret of your own, `whsec_` and base64 of 24 to 64 random bytes; the one before it "
        "signs for 24 hours more. Never shown again",
    ),
]


class NewDestination(Struct, frozen=True, forbid_unknown_fields=True):
    """Where an alert's matches are delivered. `label`: else the URL's host and the alert's name. `url` may be left out
    for a kind that has one address for everybody.
    """

    url: HookUrl | UnsetType = UNSET
    kind: KindName = "webhook"
    options: Options = {}
    delivery_mode: DeliveryMode = "instant"
    label: Name | None = None
    digest_hour: Hour = 8
    digest_timezone: Zone = "UTC"
    enabled: bool = True
    quiet_hours: QuietHours | None = None
    format: BodyFormat = "event"
    most_at_once: AtOnce | UnsetType = UNSET
    secret: OwnSecret | UnsetType = UNSET
    managed: ManagedBy = None


class DestinationPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; null takes the `quiet_hours` and `managed` away, and declines the replay that `replay_from`
    offers. `options` that are not named stay; null takes one away.
    `enabled: true` also brings one back that was disabled for its failures.
    """

    url: HookUrl | UnsetType = UNSET
    options: Options | UnsetType = UNSET
    delivery_mode: DeliveryMode | UnsetType = UNSET
    label: Name | UnsetType = UNSET
    digest_hour: Hour | UnsetType = UNSET
    digest_timezone: Zone | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    quiet_hours: QuietHours | UnsetType | None = UNSET
    format: BodyFormat | UnsetType = UNSET
    most_at_once: AtOnce | UnsetType = UNSET
    secret: OwnSecret | UnsetType = UNSET
    managed: ManagedBy | UnsetType = UNSET
    replay_from: UnsetType | None = UNSET


class DestinationRecord(Struct, frozen=True, kw_only=True):
    """A destination. `enabled`: what somebody wished; `state` is `disabled` also when it was given up (410, five days
    of failures), and `PATCH {"enabled": true}` brings it back. `url`: what may be seen of its address, where that
    lets somebody in. `options`: what its kind asked for; `private` names the values that are sealed. `failure_rate`:
    of its newest 100 attempts; `error_rate` is its twin. `duplicate_rate`: the share of its deliveries that had, or
    may have, arrived before. `replay_from`: after this there may be matches that it was never given; replay takes it
    as `since`. `needs_secret`: nobody knows its secret, as it came here without it (with an import, say), and it is
    paused until a new one is made.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    options: dict[str, str]
    private: list[str]
    delivery_mode: DeliveryMode
    label: str
    digest_hour: int
    digest_timezone: str
    quiet_hours: QuietHours | None
    enabled: bool
    state: Literal["active", "failing", "disabled"]
    created_at: Time
    updated_at: Time
    last_delivery_at: Time | None
    failure_rate: float
    error_rate: float
    duplicate_rate: float
    replay_from: str | None
    format: BodyFormat
    most_at_once: int
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None
    needs_secret: bool = False
    needs_agreement: bool = False
    in_use_by_alert_count: int = 1


class TestAnswer(Struct, frozen=True):
    """What became of a test delivery."""

    result: Literal["sent", "retry", "terminal"]
    status_code: int | None
    latency_ms: int
    detail: str


class DestinationWithSecret(DestinationRecord, frozen=True, kw_only=True):
    """A destination and its newest signing secret, which is shown this once; absent for a kind that signs nothing.
    `invited`: how the question went, where who is told has to agree first.
    """

    secret: str | UnsetType = UNSET
    invited: TestAnswer | UnsetType = UNSET


class AddressWanted(Struct, frozen=True, kw_only=True):
    """The address that a kind asks for. `private`: it lets somebody in, so only its host is shown. `default`: what
    `url` is when it is left out.
    """

    label: str
    help: str
    example: str
    private: bool
    default: str


class OptionWanted(Struct, frozen=True, kw_only=True):
    """One of the `options` of a kind. `many`: several values with commas between. `matches`: a regular expression of
    the whole value.
    """

    name: str
    label: str
    help: str
    example: str
    private: bool
    required: bool
    many: bool
    lines: bool
    matches: str
    default: str


class DestinationKindRecord(Struct, frozen=True, kw_only=True):
    """A kind of destination, and what it asks for. `where`: how to get that. `signed`: its deliveries have a secret."""

    kind: str
    label: str
    family: Literal["program", "chat", "phone", "on-call", "mail"]
    where: str
    documentation: str
    address: AddressWanted
    options: list[OptionWanted]
    signed: bool


class DeliveryRecord(Struct, frozen=True):
    """One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of what the
    receiver said, control characters escaped.
    """

    webhook_id: str
    attempt: int
    result: Literal["sent", "retry", "given_up"]
    at: Time
    status_code: int | None
    latency_ms: int
    error: str | None
    next_attempt_at: Time | None
    response_excerpt: str


class Digest(Struct, frozen=True, kw_only=True):
    """The events of a window of time, in the order of the log; at most 500, more come in another digest."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: DeliveryMode
    window_start: Time
    window_end: Time
    count: int
    events: tuple[Event, ...]


Position = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="An RFC 3339 time or an event's id",
        extra_json_schema={"format": "position"},
    ),
]


class ReplayRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What to deliver again: the matches after `since` and up to `until`, or events by their ids. Of an event's id,
    `since` does not include the event itself, `until` does.
    """

    since: Position | None = None
    until: Position | None = None
    ids: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(min_length=1, max_length=100)] | None = None


class ReplayAnswer(Struct, frozen=True):
    """How many deliveries wait anew: those that wait already are not counted. `next_since`: where to go on when there
    was more than one request may take.
    """

    queued: int
    next_since: str | None


class DeliveriesQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """A page of attempts, perhaps with one result only: `result=given_up` lists the deliveries that were given up."""

    result: Annotated[Result, Meta(description="Only attempts that ended so", examples=["given_up"])] | None = None
