"""Alerts in files: sources and destinations by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from actors.messages.declaring import patch_of
from actors.messages.requests import Tag
from api.fields.alerts import NOT_BY_HAND, AlertRecord, FilterQuery, NewAlert
from extras.apply.kinds.kind import Ids, Kind, Names, ServiceRecord, Values
from extras.apply.kinds.sources import SOURCES, tags_of
from storage.records.alert import MOST_SOURCES, MOST_TAGS

ALERTS, PRIVATE = "alerts", "private_sources"
SourceName = Annotated[
    str,
    Meta(min_length=1, max_length=2048, description="The name of a source in these files, else the URL of another one"),
]
DestinationName = Annotated[str, Meta(min_length=1, max_length=100, description="A destination in these files")]


@patch_of(
    NewAlert,
    without=("filter_query", "source_ids", "private_source_ids", *NOT_BY_HAND),
    order="query name language match sources tags private_sources channel notices notice_after once_per_story enabled",
)
class AlertTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A standing query. What is left out is as of a new alert; `name` is then the name of the table."""

    query: FilterQuery
    sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)] | UnsetType = UNSET
    private_sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    once_per_story: bool | UnsetType = UNSET
    destinations: Annotated[tuple[DestinationName, ...], Meta(max_length=20)] | UnsetType = UNSET


_WIRE = {"query": "filter_query"}
OF_SOURCES: Mapping[str, tuple[str, str]] = {
    "sources": ("source_ids", SOURCES),
    PRIVATE: ("private_source_ids", SOURCES),
}
"""The API's name of a field of names, and their kind."""


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    values["tags"], values["notices"] = tags_of(values["tags"]), tuple(sorted(set(values["notices"])))
    for field in OF_SOURCES:
        values[field] = tuple(sorted(set(values[field])))
    return values


_DECLARED = {one.name: one.default for one in fields(NewAlert) if one.name in AlertTable.__struct_fields__}
DEFAULTS: Values = spelt(_DECLARED | dict.fromkeys(OF_SOURCES, ()))


def names_of(record: Any, of: Mapping[str, tuple[str, str]], names: Names) -> dict[str, Any]:
    return {
        field: tuple(names.name_of(kind, id) for id in getattr(record, called)) for field, (called, kind) in of.items()
    }


def ids_of(values: Values, of: Mapping[str, tuple[str, str]], ids: Ids) -> dict[str, Any]:
    body = {_WIRE.get(name, name): value for name, value in values.items() if name not in of}
    return body | {
        called: [ids(kind, name) for name in values[field]] for field, (called, kind) in of.items() if field in values
    }


def _there(record: Any, names: Names) -> ServiceRecord:
    values = {name: getattr(record, name) for name in DEFAULTS if name not in OF_SOURCES}
    values |= {"name": record.name, "query": record.filter_query}
    return ServiceRecord(record, spelt(values | names_of(record, OF_SOURCES, names)))


KIND = Kind(
    id=ALERTS,
    noun="alert",
    table=AlertTable,
    path="/v1/alerts",
    record=AlertRecord,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda _name, values: tuple(values[name] for name in ("query", "language", "match", "sources", "tags")),
    alike=lambda _name, values: values["name"],
    body=lambda values, _secrets, ids: ids_of(values, OF_SOURCES, ids),
    called=lambda values: values["name"],
    file="alerts.toml",
    named="name",
    making={"default_destinations": False},  # the files name the destinations
    refers={field: kind for field, (_, kind) in OF_SOURCES.items()},
)
