"""Wire shapes of publications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.declaring import Revision, Time, UpdatedBy
from actors.messages.requests import ManagedBy
from api.fields.alerts import PrivateSources, SourceId
from storage.records.alert import MOST_SOURCES
from storage.records.identity import Managed
from storage.records.publication import Publication

Change = Callable[[Publication], Publication]
Title = Annotated[str, Meta(min_length=1, max_length=200, description="Its title for readers")]
Sources = Annotated[tuple[SourceId, ...], Meta(max_length=MOST_SOURCES, description="Events of any of these sources")]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=50, description="Events with any of these tags")]
AlertId = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
AlertIds = Annotated[tuple[AlertId, ...], Meta(max_length=50, description="Matches of any of these alerts")]
ChannelName = Annotated[
    str,
    Meta(
        min_length=1, max_length=200, description="The events of GET /v1/streams/{channel}; not together with alert_ids"
    ),
]


class NewPublication(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events to publish: those that meet all given conditions. Without conditions, all events of sources."""

    title: Title
    source_ids: Sources = ()
    tags: Tags = ()
    channel: ChannelName | None = None
    alert_ids: AlertIds = ()
    private_source_ids: PrivateSources = ()
    managed: ManagedBy = None


class PublicationPatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields to change; omitted ones stay."""

    title: Title | UnsetType = UNSET
    source_ids: Sources | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    channel: ChannelName | UnsetType | None = UNSET
    alert_ids: AlertIds | UnsetType = UNSET
    private_source_ids: PrivateSources | UnsetType = UNSET
    managed: ManagedBy | UnsetType = UNSET


class FeedAddresses(Struct, frozen=True, kw_only=True):
    """The feed addresses, one for each format. Anyone with an address can read it."""

    atom: str
    rss: str
    json: str


class PublicationRecord(Struct, frozen=True, kw_only=True):
    """A publication. Anyone with `url` can read it as a page; `feeds` are for feed readers.

    Both are null if this instance cannot decrypt the address because its master key was lost. The address still works
    for existing readers, and you can create a new one.
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
