"""Alerts in files: sources and destinations by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.requests import Tag
from api.fields.alerts import SOURCES_OWN, Channel, FilterQuery, LanguageCode, Match, Name, NoticeAfter, Notices
from extras.apply.kinds.kind import Ids, Kind, Names, There, Values
from extras.apply.kinds.sources import SOURCES, tags_of
from storage.records.alert import MOST_SOURCES, MOST_TAGS, Matching
from storage.records.identity import Managed

ALERTS, PRIVATE = "alerts", "private_sources"
SourceName = Annotated[
    str,
    Meta(min_length=1, max_length=2048, description="The name of a source in these files, else the URL of another one"),
]
DestinationName = Annotated[str, Meta(min_length=1, max_length=100, description="A destination in these files")]


class AlertTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A standing query. What is left out is as of a new alert; `name` is then the name of the table."""

    query: FilterQuery
    name: Name | UnsetType = UNSET
    language: LanguageCode | UnsetType = UNSET
    match: Match | UnsetType = UNSET
    sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)] | UnsetType = UNSET
    private_sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    channel: Channel | UnsetType = UNSET
    notices: Notices | UnsetType = UNSET
    notice_after: NoticeAfter | UnsetType = UNSET
    once_per_story: bool | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    destinations: Annotated[tuple[DestinationName, ...], Meta(max_length=20)] | UnsetType = UNSET


class AlertSeen(Struct):
    """The fields read from an alert's record."""

    id: str
    name: str
    filter_query: str
    language: str
    match: Matching
    source_ids: tuple[str, ...]
    tags: tuple[str, ...]
    channel: str | None
    enabled: bool
    notices: tuple[str, ...]
    notice_after: int
    once_per_story: bool | None
    created_at: str
    updated_at: str
    revision: str
    updated_by: str = ""
    private_source_ids: tuple[str, ...] = ()
    managed: Managed | None = None


DEFAULTS: Values = {
    "language": "en",
    "match": "change",
    "sources": (),
    PRIVATE: (),
    "tags": (),
    "channel": None,
    "notices": tuple(sorted(SOURCES_OWN)),
    "notice_after": 3600,
    "once_per_story": None,
    "enabled": True,
}
_WIRE = {"query": "filter_query"}
OF_SOURCES: Mapping[str, tuple[str, str]] = {
    "sources": ("source_ids", SOURCES),
    PRIVATE: ("private_source_ids", SOURCES),
}
"""The API's name of a field of names, and their kind."""


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    """Normalize an alert's values for comparison."""
    values["tags"], values["notices"] = tags_of(values["tags"]), tuple(sorted(set(values["notices"])))
    for field in OF_SOURCES:
        values[field] = tuple(sorted(set(values[field])))
    return values


def names_of(record: Any, of: Mapping[str, tuple[str, str]], names: Names) -> dict[str, Any]:
    """Return the names for a record's ids."""
    return {
        field: tuple(names.name_of(kind, id) for id in getattr(record, called)) for field, (called, kind) in of.items()
    }


def ids_of(values: Values, of: Mapping[str, tuple[str, str]], ids: Ids) -> dict[str, Any]:
    """Return the request's body, with ids in place of names."""
    body = {_WIRE.get(name, name): value for name, value in values.items() if name not in of}
    named = {
        called: [ids(kind, name) for name in values[field]] for field, (called, kind) in of.items() if field in values
    }
    return body | named


def _there(record: AlertSeen, names: Names) -> There:
    values = {name: getattr(record, name) for name in DEFAULTS if name not in OF_SOURCES}
    values |= {"name": record.name, "query": record.filter_query}
    return There(record, spelt(values | names_of(record, OF_SOURCES, names)))


def _body(values: Values, _secrets: Mapping[str, str | None], ids: Ids) -> dict[str, Any]:
    return ids_of(values, OF_SOURCES, ids)


def _content(_name: str, values: Values) -> object:
    return tuple(values[field] for field in ("query", "language", "match", "sources", "tags"))


KIND = Kind(
    id=ALERTS,
    noun="alert",
    table=AlertTable,
    path="/v1/alerts",
    record=AlertSeen,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=_content,
    alike=lambda _name, values: values["name"],
    body=_body,
    make=lambda _values, _ids: "/v1/alerts",
    called=lambda values: values["name"],
    file="alerts.toml",
    named="name",
    making={"default_destinations": False},  # the files name the destinations
    refers={field: kind for field, (_, kind) in OF_SOURCES.items()},
)
