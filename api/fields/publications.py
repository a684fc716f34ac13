"""Publications: their fields, requests and answers."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from actors.messages.declaring import Revision, UpdatedBy, option, patch_of, record_of
from actors.messages.requests import ManagedBy
from api.fields import WORDS
from api.fields.alerts import PrivateSources, SourceId
from storage.records.alert import MOST_SOURCES
from storage.records.publication import Publication

Title = Annotated[str, Meta(min_length=1, max_length=200, description="Its title for readers")]
Sources = Annotated[tuple[SourceId, ...], Meta(max_length=MOST_SOURCES, description="Events of any of these sources")]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=50, description="Events with any of these tags")]
AlertId = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
_LAST_DAY: Any = {
    "description": "Its last day in UTC. Afterwards its addresses answer 410",
    "extra_json_schema": {"format": "date"},
}
_DAY = {"form": "a day, such as 2026-12-31"}
_SAYS = option("Its last day in UTC, such as 2026-12-31. Afterwards its addresses answer 410.")
EndsOn = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)", extra=_DAY, **_LAST_DAY), _SAYS]


class NewPublication(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events to publish: those that meet all given conditions. Without conditions, all events of sources."""

    title: Title
    source_ids: Sources = ()
    tags: Tags = ()
    channel: Annotated[str, Meta(min_length=1, max_length=200, description=WORDS["published_channel"])] | None = None
    alert_ids: Annotated[tuple[AlertId, ...], Meta(max_length=50, description="Matches of any of these alerts")] = ()
    private_source_ids: PrivateSources = ()
    ends_on: EndsOn | None = None
    managed: ManagedBy = None


@patch_of(NewPublication, Publication)
class PublicationPatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields to change; omitted ones stay."""


class FeedAddresses(Struct, frozen=True, kw_only=True):
    """The feed addresses, one for each format. Anyone with an address can read it."""

    atom: str
    rss: str
    json: str


@record_of(
    Publication,
    "id title source_ids tags channel alert_ids private_source_ids ends_on url feeds created_at updated_at revision "
    "updated_by managed",
)
class PublicationRecord(Struct, frozen=True, kw_only=True):
    """A publication. Anyone with `url` can read it as a page; `feeds` are for feed readers."""

    url: str | None
    feeds: FeedAddresses | None
    revision: Revision
    updated_by: UpdatedBy
