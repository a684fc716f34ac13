"""Wire shapes of publications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.requests import ManagedBy
from api.schemas.alerts import PrivateSources, SourceId
from api.schemas.sources import Revision, Time, UpdatedBy
from storage.records.alert import MOST_SOURCES
from storage.records.identity import Managed
from storage.records.publication import Publication

Change = Callable[[Publication], Publication]
Title = Annotated[str, Meta(min_length=1, max_length=200, description="What readers call it")]
Sources = Annotated[tuple[SourceId, ...], Meta(max_length=MOST_SOURCES, description="Events of any of these sources")]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=50, description="Events with any of these tags")]
AlertId = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
AlertIds = Annotated[tuple[AlertId, ...], Meta(max_length=50, description="What any of these alerts matches")]
ChannelName = Annotated[
    str, Meta(min_length=1, max_length=200, description="What GET /v1/streams/{channel} carries; not beside alert_ids")
]


class NewPublication(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events to be published: those that meet all that is named. Naming nothing publishes all that sources tell."""

    title: Title
    source_ids: Sources = ()
    tags: Tags = ()
    channel: ChannelName | None = None
    alert_ids: AlertIds = ()
    private_source_ids: PrivateSources = ()
    managed: ManagedBy = None


class PublicationPatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to change of a publication; what is absent stays."""

    title: Title | UnsetType = UNSET
    source_ids: Sources | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    channel: ChannelName | UnsetType | None = UNSET
    alert_ids: AlertIds | UnsetType = UNSET
    private_source_ids: PrivateSources | UnsetType = UNSET
    managed: ManagedBy | UnsetType = UNSET


class FeedAddresses(Struct, frozen=True, kw_only=True):
    """Where the same events are, one address for each format. Who knows one may read."""

    atom: str
    rss: str
    json: str


class PublicationRecord(Struct, frozen=True, kw_only=True):
    """A publication. Who knows `url` may read it, as a page; `feeds` are the same for feed readers.

    Both are null where this instance does not know the address, since its master key was lost: readers who have it go
    on, and a new one can be made.
    """

    id: str
    title: str
    source_ids: tuple[str, ...]
    tags: tuple[str, ...]
    channel: str | None
    alert_ids: tuple[str, ...]
    private_source_ids: tuple[str, ...]
    url: str | None
    feeds: FeedAddresses | None
    created_at: Time
    updated_at: Time
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None
