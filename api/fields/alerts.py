"""Wire shapes of alerts, destinations and deliveries."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.messages.requests import ManagedBy
from actors.notices import AlertType
from api.fields.declaring import option, patch_of, record_of
from api.schemas.sources import ListQuery, Revision, Time, UpdatedBy
from storage.records.alert import MOST_SOURCES, MOST_TAGS, Alert, Matching
from storage.records.destination import WEEKDAYS, DeliveryMode, Destination, Format, Result, Weekday
from storage.records.event import Event

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
        description="The texts of a page's event that the query searches: title, added and removed texts (`change`), "
        "added texts (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`"
    ),
]
LanguageCode = Annotated[str, Meta(max_length=20, description="ISO 639-1, or simple for no stemming")]
SourceId = Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema={"format": "uuid"})]
SourceIds = Annotated[
    tuple[SourceId, ...],
    Meta(max_length=MOST_SOURCES, description="Events of these sources; with neither these nor `tags`, of all sources"),
]
PrivateSources = Annotated[
    tuple[SourceId, ...],
    Meta(
        max_length=MOST_SOURCES,
        description="Private sources to include. A source is `private` if it is checked with headers, its own or "
        "borrowed ones, or in an opened network. A publication omits it unless it is named here or in `source_ids`; "
        "so does an alert from before it became private",
    ),
]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[
    tuple[Tag, ...],
    Meta(
        max_length=MOST_TAGS,
        description="Events with any of these tags, also of later sources; in addition to `source_ids`",
    ),
]
Channel = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)",
        description="GET /v1/streams/{channel} carries the matches; alerts may share a channel",
        extra={"form": "at most 63 of a-z, 0-9, - and _, with a letter or a digit first"},
    ),
]
Notices = Annotated[
    tuple[AlertType, ...], Meta(max_length=20, description="The notices of the service that it also sends")
]
NoticeAfter = Annotated[int, Meta(ge=0, le=7 * 86400, description="Seconds that a problem lasts before its notice")]
OncePerStory = Annotated[
    bool | None,
    Meta(
        description="Of events with the same news (`story`), only the first match goes to the destinations; null: "
        "yes for alerts over several sources"
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
    """A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: copy the destinations of its tags'
    defaults.
    """

    filter_query: FilterQuery
    language: Annotated[LanguageCode, option("The query's language: a code such as en or sv, or simple.")] = "en"
    source_ids: SourceIds = ()
    tags: Tags = ()
    name: Annotated[Name, option("Its name; a new alert's is its query otherwise.")] | None = None
    channel: Annotated[Channel, option("Publish the matches as a stream of this name; '' stops that.")] | None = None
    enabled: bool = True
    notices: Notices = SOURCES_OWN
    notice_after: NoticeAfter = 3600
    anomaly_enabled: bool = False
    match: Annotated[
        Match,
        option("Which text of a page to match: both sides of a change, added or removed text only, or the whole page."),
    ] = "change"
    once_per_story: Annotated[
        OncePerStory,
        option(
            "If several sources report the same story: only the first, or all. A new alert over several: the first.",
            "--once-per-story/--every-event",
        ),
    ] = None
    default_destinations: bool = True
    managed: ManagedBy = None
    private_source_ids: PrivateSources = ()


NOT_BY_HAND: Final = ("anomaly_enabled", "default_destinations", "managed")
"""Fields that forms and configuration files do not have."""


@patch_of(NewAlert, Alert, without=("default_destinations",))
class AlertPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields to change; null removes the `channel` and `managed`."""


@record_of(
    Alert,
    "id name filter_query language match source_ids private_source_ids tags channel enabled notices notice_after "
    "once_per_story created_at updated_at last_match_at match_count delivery_mode revision updated_by managed "
    "anomaly_enabled template",
)
class AlertRecord(Struct, frozen=True, kw_only=True):
    """An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: its origin as
    `<template id>/<key>`. `match` is `page` for alerts older than the choice. `alert_id`: the `id`, under the name that
    other records use.
    """

    delivery_mode: DeliveryMode
    revision: Revision
    updated_by: UpdatedBy
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
    Meta(min_length=1, max_length=7, description="The days on which it begins; all by default"),
]


class QuietHours(Struct, frozen=True, forbid_unknown_fields=True):
    """The hours when instant deliveries wait: from a time of the named days to the next `to`, maybe over midnight."""

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
        description="A kind of GET /v1/destination-kinds; webhook by default",
        examples=["webhook", "slack"],
        extra={"form": "small letters, digits and hyphens"},
    ),
]
OptionValue = Annotated[str, Meta(max_length=4096)]
Options = Annotated[
    dict[str, OptionValue | None],
    Meta(
        max_length=20,
        description="The fields of the kind, by name; private values are sealed and never shown again",
        examples=[{}],
    ),
]


AtOnce = Annotated[
    int, Meta(ge=0, le=500, description="If more events than this wait, they become one digest; 0: never")
]


OwnSecret = Annotated[
    str,
    Meta(
        pattern=r"^whsec_[A-Za-z0-9+/]{32,88}={0,2}$(?!\n)",
        extra={"form": "whsec_ and base64 of 24 to 64 random bytes"},
        description="Your own signing secret: `whsec_` and base64 of 24 to 64 random bytes. The previous secret also "
        "signs for 24 hours. Never shown again",
    ),
]


class NewDestination(Struct, frozen=True, forbid_unknown_fields=True):
    """The address for an alert's matches. `label`: by default the URL's host and the alert's name. `url` is optional
    for a kind with a fixed address.
    """

    url: HookUrl | UnsetType = UNSET
    kind: KindName = "webhook"
    options: Options = {}
    delivery_mode: Annotated[
        DeliveryMode, option("Each match at once, or the matches of a period together.", "--mode")
    ] = "instant"
    label: Name | None = None
    digest_hour: Hour = 8
    digest_timezone: Zone = "UTC"
    enabled: bool = True
    quiet_hours: QuietHours | None = None
    format: Annotated[BodyFormat, option("The event itself, or in an envelope of CloudEvents 1.0.2.")] = "event"
    most_at_once: AtOnce | UnsetType = UNSET
    secret: OwnSecret | UnsetType = UNSET
    managed: ManagedBy = None


@patch_of(NewDestination, Destination, without=("kind",))
class DestinationPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields to change; null removes `quiet_hours` and `managed`, and declines the replay that `replay_from`
    offers. Omitted `options` stay; null removes one. `enabled: true` also restores a destination that was disabled for
    its failures.
    """

    replay_from: UnsetType | None = UNSET


@record_of(
    Destination,
    "id alert_id kind url options private delivery_mode label digest_hour digest_timezone quiet_hours enabled "
    "state created_at updated_at last_delivery_at failure_rate error_rate duplicate_rate replay_from format "
    "most_at_once revision updated_by managed",
)
class DestinationRecord(Struct, frozen=True, kw_only=True):
    """A destination. `enabled`: the user's choice; `state` is `disabled` also if the service gave up (410, five days of
    failures), and `PATCH {"enabled": true}` restores it. `url`: only its host if the address is a credential.
    `options`: the fields of its kind; `private` names the sealed ones. `failure_rate`: the share of its newest 100
    attempts; `error_rate` is its twin. `duplicate_rate`: the share of deliveries that arrived, or may have arrived,
    before. `replay_from`: it may have missed matches after this; send it as `since` of a replay. `needs_secret`: its
    secret is missing, for example after an import, and it is paused until you create a new one.
    """

    options: dict[str, str]
    private: list[str]
    quiet_hours: QuietHours | None
    failure_rate: float
    error_rate: float
    duplicate_rate: float
    replay_from: str | None
    format: BodyFormat
    revision: Revision
    updated_by: UpdatedBy
    needs_secret: bool = False
    needs_agreement: bool = False
    in_use_by_alert_count: int = 1


class TestAnswer(Struct, frozen=True):
    """The result of a test delivery."""

    result: Literal["sent", "retry", "terminal"]
    status_code: int | None
    latency_ms: int
    detail: str


class DestinationWithSecret(DestinationRecord, frozen=True, kw_only=True):
    """A destination and its newest signing secret, shown only here; absent for a kind without signatures. `invited`:
    the result of the invitation, if the recipient must agree first.
    """

    secret: str | UnsetType = UNSET
    invited: TestAnswer | UnsetType = UNSET


class AddressWanted(Struct, frozen=True, kw_only=True):
    """The address field of a kind. `private`: the address is a credential, so only its host is shown. `default`: the
    default of `url`.
    """

    label: str
    help: str
    example: str
    private: bool
    default: str


class OptionWanted(Struct, frozen=True, kw_only=True):
    """One of the `options` of a kind. `many`: several values, separated by commas. `matches`: a regular expression for
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
    """A kind of destination and its fields. `where`: how to get their values. `signed`: its deliveries are signed."""

    kind: str
    label: str
    family: Literal["program", "chat", "phone", "on-call", "mail"]
    where: str
    documentation: str
    address: AddressWanted
    options: list[OptionWanted]
    signed: bool


class DeliveryRecord(Struct, frozen=True):
    """One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of the
    answer, control characters escaped.
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
    """The events of a period, in the order of the log; at most 500, the rest in another digest."""

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
    """The events to deliver again: the matches after `since` and up to `until`, or events by their ids. An event's id
    as `since` excludes the event itself, as `until` includes it.
    """

    since: Position | None = None
    until: Position | None = None
    ids: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(min_length=1, max_length=100)] | None = None


class ReplayAnswer(Struct, frozen=True):
    """The number of newly queued deliveries, without those already waiting. `next_since`: the `since` of the next
    request if more events remain.
    """

    queued: int
    next_since: str | None


class DeliveriesQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """A page of attempts, optionally with one result: `result=given_up` lists the deliveries that were given up."""

    result: Annotated[Result, Meta(description="Only attempts with this result", examples=["given_up"])] | None = None
