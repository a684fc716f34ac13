"""The lines of an exported instance, and their JSON Schema.

A record travels as stored, field for field, so new fields travel from the start. Times are milliseconds since 1970 UTC.
Log positions have 63 bits, too many for JSON numbers, so they are written as the ids that begin with them. Fields
unknown to the storage are refused as those of a newer version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from importlib.resources import files
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Raw, Struct, toml

from storage.records.alert import Alert
from storage.records.destination import LINK, DeliveryMode, Destination, Format, Notice, QuietHours, Secret
from storage.records.event import Event
from storage.records.identity import Managed, Millis, Seq, day_of, id_of, seq_of
from storage.records.publication import Publication
from storage.records.source import Source, SourceRuntime, TagDefaults
from storage.records.tiers import TIERS, Kind, SourceType

FORMAT: Final = 1
MOST_LINE: Final = 8 << 20
"""Maximum bytes of a line. Events usually have at most 100 KB, a source's memory 12 KB."""
EventKind = Literal["notice", "practice", "held", "heartbeat"] | SourceType
KINDS: Final[Mapping[EventKind, int]] = {
    **{name: tier.kinds[0] for name, tier in TIERS.items()},
    "notice": Kind.NOTICE,
    "practice": Kind.PRACTICE,
    "held": Kind.HELD,
    "heartbeat": Kind.HEARTBEAT,
}
KIND_NAMES: Final = {number: name for name, number in KINDS.items()}
Span = Literal["all", "since", "none"]
_FIRST_DAY = date(1970, 1, 1)


class LeftOut(Struct, frozen=True):
    """The content that does not travel: secrets of tables that do, and tables, each described for people."""

    secrets: tuple[str, ...]
    tables: Mapping[str, str]


LEFT_OUT: Final = toml.decode(files("extras.migrate.whole").joinpath("left_out.toml").read_bytes(), type=LeftOut)


def left_out() -> tuple[str, ...]:
    return (*LEFT_OUT.secrets, *LEFT_OUT.tables.values())


class _Line(Struct, frozen=True, tag_field="line", forbid_unknown_fields=True):
    pass


class Head(_Line, frozen=True, tag="head"):
    """The first line. events: all that are kept, those since a moment, or none. left_out: what does not travel."""

    sanderling_export: int
    version: str
    made_at: str
    events: Span
    left_out: tuple[str, ...]


class Log(_Line, frozen=True, tag="log"):
    """Where the log begins and how far alerts have been matched.

    forgotten: events up to this id are not here, and a reader who has seen no more than it is told so (410).
    """

    forgotten: str
    matched: str | None


class Key(_Line, frozen=True, tag="key"):
    """The public half of a key that events were signed with: its id (RFC 7638) and its 32 bytes, base64url."""

    key_id: str
    x: str
    created_at: Millis


class Watch(_Line, frozen=True, tag="source"):
    """A watched source with all that the watching remembers. base: the memory of entries or blocks, base64.

    greets: it sends a greeting after each handshake, which may hold a secret and is not here.
    """

    source: Source
    greets: bool
    memory: SourceRuntime
    base: bytes


class Query(_Line, frozen=True, tag="alert"):
    """An alert. matched: how many events it has met on each of its last days (UTC)."""

    alert: Alert
    matched: Mapping[str, int]


class DestinationLine(Struct, frozen=True):
    """A destination without its secrets; the fields of `storage.records.destination.Destination`.

    private_names: the sealed values that it had. signed: its deliveries are, so it has a secret. One that is not, and
    had no sealed values, comes in as it was. confirmed: who is told has agreed, where they have to.
    missed_after: an id; matches after it may not have been delivered. None: it misses nothing, or gets nothing.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    delivery_mode: DeliveryMode
    label: str
    created_at: Millis
    updated_at: Millis
    digest_hour: int
    digest_timezone: str
    enabled: bool
    quiet_hours: QuietHours | None
    state: Literal["active", "failing", "disabled"]
    failing_since: Millis | None
    last_delivery_at: Millis | None
    told: int
    owes: Notice | None
    missed_after: str | None
    format: Format = "event"
    options: Mapping[str, str] = {}
    private_names: tuple[str, ...] = ()
    signed: bool = True
    confirmed: bool = True
    most_at_once: int = 0
    updated_by: str = ""
    managed: Managed | None = None


class Hook(_Line, frozen=True, tag="destination"):
    """A destination. It comes in paused, until it has a new secret, or what lets it in."""

    destination: DestinationLine


class Tagged(_Line, frozen=True, tag="tag"):
    """The defaults of a tag: settings of the sources that have it and none of their own."""

    defaults: TagDefaults


class Address(_Line, frozen=True, tag="publication"):
    """A publication without its address: of that only the hash, by which its readers are let in as before."""

    publication: Publication


class Withdrawn(_Line, frozen=True, tag="retraction"):
    """An event that is published no more, as somebody called it noise; the newest events first."""

    event: str
    at: Millis


class EventLine(_Line, frozen=True, tag="event"):
    """An event, its exact signed wire JSON."""

    kind: EventKind
    event: Raw


class End(_Line, frozen=True, tag="end"):
    """The last line: how many lines of each kind there are, and the SHA-256 of all bytes between the first and this."""

    keys: int
    sources: int
    alerts: int
    destinations: int
    events: int
    sha256: str
    publications: int = 0
    retractions: int = 0
    tags: int = 0


COUNTED: Final[Mapping[str, type[_Line]]] = {
    "keys": Key,
    "sources": Watch,
    "alerts": Query,
    "destinations": Hook,
    "events": EventLine,
    "publications": Address,
    "retractions": Withdrawn,
    "tags": Tagged,
}
"""The counts of `End`."""
Line = Head | Log | Key | Watch | Query | Hook | Tagged | Address | Withdrawn | EventLine | End
ORDER: Final[tuple[type[Line], ...]] = get_args(Line)

_MARK: Final = b'"sanderling_export"'

encode: Final = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Line).decode


def begins_export(beginning: bytes) -> bool:
    first = beginning.partition(b"\n")[0]
    return first.startswith(b"{") and _MARK in first


def decode(text: bytes) -> Line:
    """Parse a line. Raises ValueError for an invalid one or an unknown field."""
    line: Line = _decode(text)
    if not isinstance(line, EventLine):
        unknown = next(_unknown(msgspec.json.decode(text), msgspec.to_builtins(line)), None)
        if unknown is not None:
            raise ValueError(f"this version does not know the field {unknown}")
    return line


def _unknown(given: Any, understood: Any, at: str = "") -> Iterator[str]:
    if isinstance(given, dict) and isinstance(understood, dict):
        for name, value in given.items():
            path = f"{at}.{name}" if at else name
            if name in understood:
                yield from _unknown(value, understood[name], path)
            else:
                yield path[:200]
    elif isinstance(given, list) and isinstance(understood, list | tuple):
        for mine, other in zip(given, understood, strict=False):
            yield from _unknown(mine, other, at)


def counted(end: End) -> str:
    what = [("source", end.sources), ("alert", end.alerts), ("destination", end.destinations)]
    what += [("publication", end.publications)] if end.publications else []
    what += [("event", end.events)]
    return ", ".join(f"{number:,} {word}{'' if number == 1 else 's'}" for word, number in what)


# --- records and lines -----------------------------------------------------------------------------------------------


def moved(destination: Destination, missed_after: Seq | None) -> DestinationLine:
    """Return a destination for export. One imported here that still waits for a secret keeps its original state."""
    names = (name for name in DestinationLine.__struct_fields__ if name != "signed")
    fields = {name: getattr(destination, name) for name in names} | {"signed": bool(destination.secrets)}
    enabled = destination.was_enabled if destination.was_enabled is not None else destination.enabled
    return DestinationLine(**fields | {"enabled": enabled, "missed_after": named(missed_after)})


def arrived(line: DestinationLine, secret: str) -> Destination:
    """Return an imported destination, paused if it signs (with a new secret) or had sealed values."""
    fields = {name: getattr(line, name) for name in DestinationLine.__struct_fields__}
    signed = fields.pop("signed")
    if signed or line.private_names:
        fields |= {"enabled": False, "was_enabled": line.enabled, "secrets": (Secret(secret),) if signed else ()}
    else:
        fields["secrets"] = ()
    fields["confirmed"] = line.confirmed and LINK not in line.private_names
    return Destination(**fields | {"missed_after": line.missed_after and seq_of(line.missed_after)})


def named(position: Seq | None) -> str | None:
    return None if position is None else id_of(position, 0)


def day_name(day: int) -> str:
    """Return a day, counted from 1970-01-01, as a date.

    >>> day_name(1)
    '1970-01-02'
    """
    return (_FIRST_DAY + timedelta(days=day)).isoformat()


def day_number(name: str) -> int:
    """Return a date's day, counted from 1970-01-01. Raises ValueError.

    >>> day_number("1970-01-02")
    1
    """
    return (date.fromisoformat(name) - _FIRST_DAY).days


def last_day(alert: Alert) -> int | None:
    return None if alert.last_match_at is None else day_of(alert.last_match_at)


_REF: Final = "#/$defs/{name}"


def schema() -> dict[str, Any]:
    types: tuple[type[Struct], ...] = (*get_args(Line), Event)
    _, components = msgspec.json.schema_components(types, ref_template=_REF)
    components[EventLine.__name__]["properties"]["event"] = {"$ref": _REF.format(name=Event.__name__)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an export of a whole Sanderling instance",
        "oneOf": [{"$ref": _REF.format(name=line.__name__)} for line in get_args(Line)],
        "$defs": components,
    }


def as_text() -> bytes:
    return msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=2) + b"\n"
