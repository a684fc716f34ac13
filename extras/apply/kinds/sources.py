"""Sources in files, identified by URL: the service watches each URL once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.messages.declaring import patch_of, record_of
from actors.messages.requests import SECRETS, NewSource, Url, as_typed
from actors.sources.lending import parse_places
from api.fields.sources import SourceRecord
from extras.apply.kinds.kind import Kind, Names, Reference, ServiceRecord, Values
from storage.records.identity import Managed, interval_text, seconds_of
from storage.records.source import OWN_NAMESPACES, tag_of
from storage.records.tiers import WITH_DIFF

SOURCES = "sources"


@patch_of(
    NewSource,
    without=("managed",),
    order="url type title tags selector ignore schedule hours filter bar subprotocols hello replies headers "
    "headers_for follow follow_hosts own_only render wait_for screenshots enabled backfill verify",
)
class SourceTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A URL that is watched. What is left out is as of a new source."""

    url: Url
    hello: Reference | UnsetType = UNSET
    headers: Reference | UnsetType = UNSET
    backfill: int | UnsetType = UNSET


_NEW = frozenset(("backfill", "verify"))
_NOT_COMPARED = {"url", "type", "render", "managed", *SECRETS, *_NEW}
DEFAULTS: Values = {field.name: field.default for field in fields(NewSource) if field.name not in _NOT_COMPARED}
_COMPARED = (*DEFAULTS, "url", "type", "render")


class DetectionSeen(Struct, frozen=True):
    """The fields read from a detection. forced: the owner chose the type."""

    forced: bool = False


@record_of(SourceRecord, f"id has_hello has_headers created_at updated_at revision {' '.join(_COMPARED)}")
class SourceSeen(Struct):
    """The fields read from a source's record: there may be many thousands."""

    detection: DetectionSeen = DetectionSeen()
    updated_by: str = ""
    managed: Managed | None = None


def url_of(text: str) -> str:
    """Normalize a URL; return an invalid one unchanged, for the service to refuse.

    >>> url_of("HTTPS://Example.org"), url_of("example.org"), url_of("not a url")
    ('https://example.org/', 'https://example.org/', 'not a url')
    """
    with suppress(UrlRefused, ValueError):
        return parse_url(as_typed(text)).text
    return text


def tags_of(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Normalize and sort tags as stored.

    >>> tags_of(("topic:ai", " shop", "label:shop"))
    ('label:shop', 'topic:ai')
    """
    return tuple(sorted({tag_of(tag.strip()) for tag in tags}))


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    if "url" in values:
        values["url"] = url_of(values["url"])
    values["tags"], values["ignore"] = tags_of(values["tags"]), tuple(sorted(values["ignore"]))
    values["own_only"] = tuple(sorted({*values["own_only"]}))
    values["title"] = " ".join(values["title"].split())
    with suppress(UrlRefused):  # the service reports the fault
        values["headers_for"] = parse_places(values["headers_for"])
    if values["follow_hosts"]:
        from actors.sources.following import parse_hosts  # with all of a feed's reading: slow to load, seldom needed

        with suppress(UrlRefused):
            values["follow_hosts"] = parse_hosts(values["follow_hosts"])
    if values["schedule"] is not None:
        values["schedule"] = interval_text(seconds_of(values["schedule"]))
    return values


def _there(record: Any, names: Names) -> ServiceRecord:
    """Return a record as values. The service normalizes them already, which matters for many thousands."""
    values = {name: getattr(record, name) for name in _COMPARED}
    values["tags"] = tuple(sorted(tag for tag in record.tags if tag.partition(":")[0] not in OWN_NAMESPACES))
    values["ignore"], values["own_only"] = tuple(sorted(record.ignore)), tuple(sorted({*record.own_only}))
    return ServiceRecord(record, values, frozenset(name for name in SECRETS if getattr(record, f"has_{name}")))


def _trimmed(record: Any, values: Values) -> frozenset[str]:
    """Return the fields that the service chose and would choose again."""
    chosen = set() if record.detection.forced else {"type"}
    return frozenset(chosen | ({"render"} if record.type not in WITH_DIFF or values["render"] == "auto" else set()))


KIND = Kind(
    id=SOURCES,
    noun="source",
    table=SourceTable,
    path="/v1/sources",
    record=SourceSeen,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda _name, values: values["url"],
    alike=lambda _name, values: values["url"],
    body=lambda values, secrets, _ids: {**values, **secrets},
    called=lambda values: values["title"] or values["url"].partition("://")[2],
    file="sources.toml",
    query={"sort": "-added"},
    new=_NEW,
    secrets=SECRETS,
    fixed=("url",),
    making={"verify": "later"},  # the page may not answer today
    unique=True,
    twins="has the URL of {}: the service watches it once",
    trimmed=_trimmed,
    batch=20,
)
