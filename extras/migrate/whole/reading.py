"""Read an export line by line and check everything; nothing is trusted.

Checks: bounded line length, known form, order; valid and unique ids; normalized URLs; a destination's alert exists;
events' ids rise. The last line has the counts and a SHA-256, so that even a cut between two lines is noticed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, assert_never
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.hours import read_hours
from actors.signatures.event import check_public
from extras.migrate.whole.lines import (
    COUNTED,
    FORMAT,
    KINDS,
    MOST_LINE,
    ORDER,
    Address,
    End,
    EventLine,
    Head,
    Hook,
    Key,
    Line,
    Log,
    Query,
    Tagged,
    Watch,
    Withdrawn,
    begins_export,
    day_number,
    decode,
    last_day,
)
from sanderling.exits import CommandFailed, Exit
from storage.records.alert import KEPT_DAYS
from storage.records.event import HEARTBEAT, Event, Stored
from storage.records.identity import START, Seq, SourceId, seq_of
from storage.records.key import PublicKey
from storage.records.publication import MOST_PUBLICATIONS
from storage.records.source import MOST_TAGGED, TagDefaults
from storage.records.tiers import TIERS, Kind

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
