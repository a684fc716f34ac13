"""Publications in files. The service chooses their addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.requests import Tag
from extras.apply.kinds.alerts import ALERTS, OF_SOURCES, PRIVATE, SourceName, ids_of, names_of
from extras.apply.kinds.kind import Ids, Kind, Names, There, Values
from storage.records.alert import MOST_SOURCES
from storage.records.identity import Managed

PUBLICATIONS = "publications"
Title = Annotated[str, Meta(min_length=1, max_length=200, description="What readers call it")]
ChannelName = Annotated[
    str, Meta(min_length=1, max_length=200, description="What GET /v1/streams/{channel} carries; not beside alert_ids")
]
AlertName = Annotated[str, Meta(min_length=1, max_length=200, description="The name of an alert in these files")]


class PublicationTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events that whoever has the address may read: those that meet all that is named."""

    title: Title
    sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    tags: Annotated[tuple[Tag, ...], Meta(max_length=50)] | UnsetType = UNSET
    channel: ChannelName | UnsetType = UNSET
    alerts: Annotated[tuple[AlertName, ...], Meta(max_length=50)] | UnsetType = UNSET
    private_sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET


class PublicationSeen(Struct):
    """The fields read from a publication's record."""

    id: str
    title: str
    source_ids: tuple[str, ...]
    tags: tuple[str, ...]
    channel: str | None
    alert_ids: tuple[str, ...]
    created_at: str
    updated_at: str
    revision: str
    updated_by: str = ""
    private_source_ids: tuple[str, ...] = ()
    managed: Managed | None = None


DEFAULTS: Values = {"sources": (), "tags": (), "channel": None, "alerts": (), PRIVATE: ()}
_IDS = {**OF_SOURCES, "alerts": ("alert_ids", ALERTS)}


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    """Normalize a publication's values for comparison."""
    values["title"] = " ".join(values["title"].split())
    for name in (*_IDS, "tags"):
        values[name] = tuple(sorted(set(values[name])))
    return values


def _there(record: PublicationSeen, names: Names) -> There:
    values: dict[str, Any] = {"title": record.title, "tags": record.tags, "channel": record.channel}
    return There(record, spelt(values | names_of(record, _IDS, names)))


def _body(values: Values, _secrets: Mapping[str, str | None], ids: Ids) -> dict[str, Any]:
    return ids_of(values, _IDS, ids)


KIND = Kind(
    id=PUBLICATIONS,
    noun="publication",
    table=PublicationTable,
    path="/v1/publications",
    record=PublicationSeen,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda _name, values: tuple(values[name] for name in DEFAULTS),
    alike=lambda _name, values: values["title"],
    body=_body,
    make=lambda _values, _ids: "/v1/publications",
    called=lambda values: values["title"],
    file="publications.toml",
    refers={field: of for field, (_, of) in _IDS.items()},
)
