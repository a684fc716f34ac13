"""Publications in files. The service chooses their addresses."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from actors.messages.declaring import patch_of
from api.fields.publications import NewPublication, PublicationRecord, Title
from extras.apply.kinds.alerts import ALERTS, OF_SOURCES, SourceName, ids_of, names_of
from extras.apply.kinds.kind import Kind, Names, ServiceRecord, Values
from storage.records.alert import MOST_SOURCES

PUBLICATIONS = "publications"
AlertName = Annotated[str, Meta(min_length=1, max_length=200, description="The name of an alert in these files")]


@patch_of(
    NewPublication,
    without=("source_ids", "alert_ids", "private_source_ids", "managed"),
    order="title sources tags channel alerts private_sources ends_on",
)
class PublicationTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events that whoever has the address may read: those that meet all that is named."""

    title: Title
    sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET
    alerts: Annotated[tuple[AlertName, ...], Meta(max_length=50)] | UnsetType = UNSET
    private_sources: Annotated[tuple[SourceName, ...], Meta(max_length=MOST_SOURCES)] | UnsetType = UNSET


_PLAIN = [one for one in fields(NewPublication) if one.name in PublicationTable.__struct_fields__]
_IDS = {**OF_SOURCES, "alerts": ("alert_ids", ALERTS)}
DEFAULTS: Values = {one.name: one.default for one in _PLAIN if one.name != "title"} | dict.fromkeys(_IDS, ())


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    values["title"] = " ".join(values["title"].split())
    for name in (*_IDS, "tags"):
        values[name] = tuple(sorted(set(values[name])))
    return values


def _there(record: Any, names: Names) -> ServiceRecord:
    values = {one.name: getattr(record, one.name) for one in _PLAIN}
    return ServiceRecord(record, spelt(values | names_of(record, _IDS, names)))


KIND = Kind(
    id=PUBLICATIONS,
    noun="publication",
    table=PublicationTable,
    path="/v1/publications",
    record=PublicationRecord,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda _name, values: tuple(values[name] for name in DEFAULTS),
    alike=lambda _name, values: values["title"],
    body=lambda values, _secrets, ids: ids_of(values, _IDS, ids),
    called=lambda values: values["title"],
    file="publications.toml",
    refers={field: of for field, (_, of) in _IDS.items()},
)
