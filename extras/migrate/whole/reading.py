"""Read an export line by line and check everything; nothing is trusted.

Checks: bounded line length, known form, order; valid and unique ids; normalized URLs; a destination's alert exists;
events' ids rise. The last line has the counts and a SHA-256, so that even a cut between two lines is noticed.

The lines of an exported instance, and their JSON Schema. A record travels as stored, field for field, so new fields
travel from the start. Times are milliseconds since 1970 UTC. Log positions have 63 bits, too many for JSON numbers, so
they are written as the ids that begin with them. Fields unknown to the storage are refused as those of a newer
version.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, assert_never, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, Struct, toml

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.hours import read_hours
from actors.signatures import check_public
from sanderling.exits import CommandFailed, Exit
from storage.records.access import PublicKey
from storage.records.alert import KEPT_DAYS, Alert
from storage.records.destination import LINK, DeliveryMode, Destination, Format, Notice, QuietHours, Secret
from storage.records.event import HEARTBEAT, Event, Stored
from storage.records.identity import START, Managed, Millis, Seq, SourceId, day_of, id_of, seq_of
from storage.records.publication import MOST_PUBLICATIONS, Publication
from storage.records.source import MOST_TAGGED, Source, SourceRuntime, TagDefaults
from storage.records.tiers import TIERS, Kind, SourceType

FORMAT: Final = 1
MOST_LINE: Final = 8 << 20  # maximum bytes of a line. Events usually have at most 100 KB, a source's memory 12 KB.
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


_MOST_HEAD = 1 << 16
_HASH = re.compile("[0-9a-f]{64}")
_ONE_EACH = (Head, Log, End)
_decode_event = msgspec.json.Decoder(Event).decode


class VerifiedEvent(NamedTuple):
    """A checked event, ready for the log."""

    stored: Stored


Checked = Head | Log | Key | Watch | Query | Hook | Tagged | Address | Withdrawn | VerifiedEvent | End


def is_export(path: Path) -> bool:
    """Return whether a file begins like an export of any version. Raises OSError."""
    with path.open("rb") as opened:
        return begins_export(opened.read(_MOST_HEAD))


def read(stream: BinaryIO, name: str) -> Iterator[Checked]:
    """Yield an export's checked content from head to end. Raises CommandFailed with line and fault."""
    number = 0
    try:
        yield _head(_next(stream))
        number = 1
        reader = _Reader()
        while not reader.ended:
            number += 1
            yield reader.take(_next(stream))
        if stream.read(1):
            raise ValueError("there is more after its last line: it was altered")
    except _Newer as error:
        raise CommandFailed(f"{name}: {error}", Exit.BAD_DATA) from None
    except RecursionError:
        raise CommandFailed(f"{name}: line {number or 1}: is nested too deeply.") from None
    except (ValueError, msgspec.MsgspecError, UrlRefused) as error:
        raise CommandFailed(f"{name}: line {number or 1}: {error}.") from None
    except OSError as error:
        raise CommandFailed(f"{name}: cannot be read: {error.strerror or error}.") from None


class _Newer(Exception):
    """A newer version is needed."""


class _OfFormat(Struct):
    sanderling_export: int
    version: str = "?"


def _next(stream: BinaryIO) -> bytes:
    line = stream.readline(MOST_LINE + 1)
    if len(line) > MOST_LINE:
        raise ValueError(f"is longer than {MOST_LINE >> 20} MiB: no line of an export is")
    if not line.endswith(b"\n"):
        raise ValueError("the file is cut short here; make the export again, or copy it again")
    return line


def _head(text: bytes) -> Head:
    try:
        made = msgspec.json.decode(text, type=_OfFormat)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"is not the first line of an export ({error})") from None
    if made.sanderling_export > FORMAT:
        raise _Newer(f"was written by Sanderling {made.version[:40]}, in a newer form: import it with that version.")
    head = decode(text)
    if not isinstance(head, Head) or head.sanderling_export != FORMAT:
        raise ValueError("is not the first line of an export")
    return head


class _Reader:
    """The state that later lines are checked against."""

    def __init__(self) -> None:
        self.ended = False
        self._digest = hashlib.sha256()
        self._count: Counter[type[Struct]] = Counter()
        self._place = ORDER.index(Head)
        self._ids: set[str] = set()
        self._urls: set[str] = set()
        self._alerts: set[str] = set()
        self._destinations: set[str] = set()
        self._tags: set[str] = set()
        self._at = START
        self._withdrawn_before: int | None = None
        self._addresses: set[str] = set()

    def take(self, text: bytes) -> Checked:
        """Raises ValueError, MsgspecError, UrlRefused."""
        line = decode(text)
        self._put_in_order(line)
        self._count[type(line)] += 1
        if not isinstance(line, End):
            self._digest.update(text)
        match line:
            case Log():
                self._at = seq_of(line.forgotten)
                if line.matched is not None:
                    seq_of(line.matched)
            case Key():
                check_public(PublicKey(line.key_id, line.x, line.created_at))
                self._once(line.key_id)
            case Watch():
                self._source(line)
            case Query():
                self._alert(line)
            case Hook():
                self._destination(line)
            case Tagged():
                self._tag(line.defaults)
            case Address():
                self._publication(line)
            case Withdrawn():
                self._withdrawn(line)
            case EventLine():
                return self._event(line)
            case End():
                self._end(line)
            case Head():
                raise ValueError("is a second first line")
            case _:
                assert_never(line)
        return line

    def _put_in_order(self, line: Line) -> None:
        place = ORDER.index(type(line))
        if place < self._place or (place == self._place and isinstance(line, _ONE_EACH)):
            raise ValueError(f"a line {line.__struct_config__.tag!r} does not belong here")
        if place > ORDER.index(Log) and not self._count[Log]:
            raise ValueError("the line 'log' is missing before it")
        self._place = place

    def _once(self, id: str) -> None:
        if id in self._ids:
            raise ValueError(f"{id[:60]} is there twice")
        self._ids.add(id)

    def _source(self, line: Watch) -> None:
        source = line.source
        self._once(_uuid(source.id))
        if source.url in self._urls:
            raise ValueError(f"{source.url[:200]} is there twice")
        self._urls.add(source.url)
        for url in (source.url, source.watch_url):
            if parse_url(url).text != url:
                raise ValueError(f"the URL {url[:200]} is not in its one spelling")
        if source.hello is not None or source.headers is not None:
            raise ValueError("holds a secret, which no export does")
        if source.hours is not None:
            read_hours(source.hours)

    def _alert(self, line: Query) -> None:
        alert = line.alert
        self._once(_uuid(alert.id))
        self._alerts.add(alert.id)
        days = [day_number(name) for name in line.matched]
        if any(times < 1 for times in line.matched.values()) or sum(line.matched.values()) > alert.match_count:
            raise ValueError("an alert has met more on its days than in all")
        newest = last_day(alert)
        if days and (newest is None or max(days) != newest or min(days) <= newest - KEPT_DAYS):
            raise ValueError("an alert's days are not its last ones")

    def _destination(self, line: Hook) -> None:
        destination = line.destination
        self._once(_uuid(destination.id))
        if destination.alert_id not in self._alerts:
            raise ValueError(f"the destination's alert {destination.alert_id[:60]} is not there")
        self._destinations.add(destination.id)
        parse_url(destination.url)
        if destination.missed_after is not None:
            seq_of(destination.missed_after)

    def _tag(self, defaults: TagDefaults) -> None:
        tag = defaults.tag
        if not (all(tag.partition(":")) and tag.isprintable()) or tag in self._tags:
            raise ValueError(f"the tag {tag[:60]!r} is none, or there twice")
        self._tags.add(tag)
        if len(self._tags) > MOST_TAGGED:
            raise ValueError(f"there are more than {MOST_TAGGED:,} tags with defaults")
        if defaults.hours is not None:
            read_hours(defaults.hours)
        if defaults.schedule is not None and defaults.schedule < 1:
            raise ValueError(f"the interval of the tag {tag[:60]} is none")
        for destination in defaults.destinations:
            if destination not in self._destinations:
                raise ValueError(f"the tag's destination {destination[:60]} is not there")

    def _publication(self, line: Address) -> None:
        publication = line.publication
        self._once(_uuid(publication.id))
        if self._count[Address] > MOST_PUBLICATIONS:
            raise ValueError(f"there are more than {MOST_PUBLICATIONS:,} publications")
        if publication.token is not None:
            raise ValueError("holds an address, which no export does")
        if not _HASH.fullmatch(publication.token_hash) or publication.token_hash in self._addresses:
            raise ValueError("the hash of an address is none, or there twice")
        self._addresses.add(publication.token_hash)
        for alert in publication.alert_ids:
            if alert not in self._alerts:
                raise ValueError(f"the publication's alert {alert[:60]} is not there")

    def _withdrawn(self, line: Withdrawn) -> None:
        seq = seq_of(line.event)
        if self._withdrawn_before is not None and seq >= self._withdrawn_before:
            raise ValueError(f"event {line.event} does not come before what is above it")
        self._withdrawn_before = seq

    def _event(self, line: EventLine) -> VerifiedEvent:
        body = bytes(line.event)
        event = _decode_event(body)
        seq = seq_of(event.id)
        if seq <= self._at:
            raise ValueError(f"event {event.id} does not come after what is before it")
        of_source = (*TIERS[event.source_type].kinds, Kind.PRACTICE)
        of_service = (Kind.HEARTBEAT if event.alert_type == HEARTBEAT else Kind.NOTICE,)
        if KINDS[line.kind] not in (of_source if event.alert_type is UNSET else of_service):
            raise ValueError(f"event {event.id} is not of the kind {line.kind!r}")
        self._at = Seq(seq)
        return VerifiedEvent(Stored(seq, SourceId(_uuid(event.source_id)), KINDS[line.kind], body))

    def _end(self, line: End) -> None:
        if any(getattr(line, name) != self._count[kind] for name, kind in COUNTED.items()):
            raise ValueError("there are not as many lines as the last one says: some are missing or too many")
        if self._digest.hexdigest() != line.sha256:
            raise ValueError("the lines have another SHA-256 than the last one says: they were altered or damaged")
        self.ended = True


def _uuid(id: str) -> str:
    if str(UUID(id)) != id:
        raise ValueError(f"{id[:60]!r} is not an id in its one spelling")
    return id
