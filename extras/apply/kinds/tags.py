"""Defaults of tags in files, identified by the tag itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from actors.messages.declaring import patch_of
from actors.messages.requests import TagSettings
from api.fields.sources import TagDefaultsRecord
from extras.apply.kinds.alerts import DestinationName
from extras.apply.kinds.destinations import DESTINATIONS
from extras.apply.kinds.kind import Ids, Kind, Names, ServiceRecord, Values
from storage.records.identity import interval_text, seconds_of
from storage.records.source import OWN_NAMESPACES, tag_of

TAGS = "tags"
_LONGEST = 100  # maximum characters of a tag in a file


@patch_of(TagSettings, without=("managed",))
class TagTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the sources with a tag have where they say nothing of their own. `destinations`: of each of these an alert
    that is made by hand over the tag gets a copy.
    """

    destinations: Annotated[tuple[DestinationName, ...], Meta(max_length=20)] | UnsetType = UNSET


class TagSeen(Struct):
    """The fields read from a tag's record. It counts only if it has defaults, whose fields it shows."""

    tag: str
    defaults: TagDefaultsRecord | None

    @property
    def id(self) -> str:
        return self.tag

    def __getattr__(self, name: str) -> Any:
        return getattr(self.defaults, "updated_at" if name == "created_at" else name)


DEFAULTS: Values = {field.name: field.default for field in fields(TagSettings) if field.name != "managed"}


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    values["tag"] = tag_of(values["tag"].strip())
    values["ignore"] = tuple(dict.fromkeys(values["ignore"]))  # keep the order: it matters to `part_of`
    values["destinations"] = tuple(sorted(set(values["destinations"])))
    if values["schedule"] is not None:
        values["schedule"] = interval_text(seconds_of(values["schedule"]))
    return values


def flaw_of_name(name: str) -> str:
    """Return why a tag cannot have defaults; "" if it can.

    >>> flaw_of_name("prices"), flaw_of_name("topic:ai/eu"), flaw_of_name("kind:html")
    ('', '', "the namespace kind is the service's own: take another, or none")
    """
    space, _, word = tag_of(name.strip()).partition(":")
    if not (space and word and name.isprintable()) or len(name) > _LONGEST:
        return f"a tag is a word, or <namespace>:<value>, of at most {_LONGEST} characters"
    return f"the namespace {space} is the service's own: take another, or none" if space in OWN_NAMESPACES else ""


def name_of(values: Values) -> str:
    """Return a tag's name in files.

    >>> name_of({"tag": "label:prices"}), name_of({"tag": "label:a:b"})
    ('prices', 'label:a:b')
    """
    tag = str(values["tag"])
    short = tag.removeprefix("label:")
    return short if tag_of(short) == tag and short == short.strip() else tag


def _there(record: Any, names: Names) -> ServiceRecord:
    values = {name: getattr(record, name) for name in DEFAULTS}
    values["destinations"] = tuple(names.name_of(DESTINATIONS, id) for id in record.destinations)
    return ServiceRecord(record, spelt(values | {"tag": record.tag}))


def _body(values: Values, _secrets: Mapping[str, str | None], ids: Ids) -> dict[str, Any]:
    told = [ids(DESTINATIONS, name) for name in values["destinations"]]
    return {name: values[name] for name in DEFAULTS} | {"destinations": told}


def _flaw(values: Values) -> str:
    sets = any(values[name] not in (None, ()) for name in DEFAULTS)
    return "" if sets else "sets nothing: set something, or take it out"


KIND: Kind = Kind(
    id=TAGS,
    noun="tag",
    table=TagTable,
    path="/v1/tags",
    record=TagSeen,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda _name, values: values["tag"],
    alike=lambda _name, values: values["tag"],
    body=_body,
    make=lambda values, _ids: KIND.at(values["tag"]),
    called=name_of,
    file="tags.toml",
    named="tag",
    refers={"destinations": DESTINATIONS},
    fixed=("tag",),
    unique=True,
    twins="is the same tag as {}: a bare word is a label",
    whole=True,
    itself=True,
    counts=lambda record: record.defaults is not None,
    flaw_of_name=flaw_of_name,
    flaw=_flaw,
)
