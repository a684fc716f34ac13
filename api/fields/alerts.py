"""Alerts: their fields, requests and answers."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from actors.messages.declaring import Revision, UpdatedBy, option, patch_of, record_of
from actors.messages.requests import ManagedBy
from actors.notices import AlertType
from api.fields import WORDS
from storage.records.alert import MOST_SOURCES, MOST_TAGS, NOTICES_OF_SOURCES, Alert, Matching
from storage.records.destination import DeliveryMode

Name = Annotated[str, Meta(min_length=1, max_length=200)]
_QUERY = {"format": "alert-query", "maxLength": 4096}  # the parser reports the position
FilterQuery = Annotated[str, Meta(description=WORDS["filter_query"], extra_json_schema=_QUERY)]
Match = Annotated[Matching, Meta(description=WORDS["match"])]
LanguageCode = Annotated[str, Meta(max_length=20, description="ISO 639-1, or simple for no stemming")]
SourceId = Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema={"format": "uuid"})]
SourceIds = Annotated[tuple[SourceId, ...], Meta(max_length=MOST_SOURCES, description=WORDS["source_ids"])]
PrivateSources = Annotated[tuple[SourceId, ...], Meta(max_length=MOST_SOURCES, description=WORDS["private_source_ids"])]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS, description=WORDS["tags"])]
_NAME = {"form": "at most 63 of a-z, 0-9, - and _, with a letter or a digit first"}
Channel = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)", description=WORDS["channel"], extra=_NAME)]
Notices = Annotated[tuple[AlertType, ...], Meta(max_length=20, description=WORDS["notices"])]
NoticeAfter = Annotated[int, Meta(ge=0, le=7 * 86400, description="Seconds that a problem lasts before its notice")]
OncePerStory = Annotated[bool | None, Meta(description=WORDS["once_per_story"])]

_MATCH = "Which text of a page to match: both sides of a change, added or removed text only, or the whole page."
_ONCE = "If several sources report the same story: only the first, or all. A new alert over several: the first."


class NewAlert(Struct, frozen=True, forbid_unknown_fields=True):
    """A standing query."""

    filter_query: FilterQuery
    language: Annotated[LanguageCode, option("The query's language: a code such as en or sv, or simple.")] = "en"
    source_ids: SourceIds = ()
    tags: Tags = ()
    name: Annotated[Name, option("Its name; by default a new alert's name is its query.")] | None = None
    channel: Annotated[Channel, option("Publish the matches as a stream of this name; '' stops that.")] | None = None
    enabled: bool = True
    notices: Notices = NOTICES_OF_SOURCES
    notice_after: NoticeAfter = 3600
    anomaly_enabled: bool = False
    match: Annotated[Match, option(_MATCH)] = "change"
    once_per_story: Annotated[OncePerStory, option(_ONCE, "--once-per-story/--every-event")] = None
    default_destinations: bool = True
    managed: ManagedBy = None
    private_source_ids: PrivateSources = ()
    destination_ids: Annotated[tuple[SourceId, ...], Meta(max_length=10, description="Destinations to copy")] = ()


NOT_BY_HAND: Final = ("anomaly_enabled", "default_destinations", "destination_ids", "managed")
"""Fields that forms and configuration files do not have."""


@patch_of(NewAlert, Alert, without=("default_destinations", "destination_ids"))
class AlertPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields to change; null removes the `channel` and `managed`."""


class TrueNow(Struct, frozen=True):
    """A current value that meets a new alert's query already: the alert matches once the value changes again."""

    source_id: str
    source: str
    label: str
    text: str


@record_of(
    Alert,
    "id name filter_query language match source_ids private_source_ids tags channel enabled notices notice_after "
    "once_per_story created_at updated_at last_match_at match_count delivery_mode revision updated_by managed "
    "anomaly_enabled template",
)
class AlertRecord(Struct, frozen=True, kw_only=True):
    """An alert. `delivery_mode` is a twin: that of its first destination, or instant."""

    delivery_mode: DeliveryMode
    revision: Revision
    updated_by: UpdatedBy
    anomaly_enabled: bool = False
    template: str | None = None
    alert_id: str | None = None
    destination_count: int = 0
    true_now: tuple[TrueNow, ...] = ()
