"""Identifiers, positions, times, and the mark of records that files describe.

The log's key (`Seq`) is the head of an event's UUIDv7 (RFC 9562, 6.2 method 1): 48 bits of milliseconds, then a counter
of 15 bits (12 in rand_a, 3 at the head of rand_b). `seq_of` and `seq_at` are arithmetic: a cursor needs no lookup, the
log needs no index over ids, and a period is a key range.

See docs/decisions/managed-records.md.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NewType
from uuid import UUID

from msgspec import UNSET, Meta, Struct

Seq = NewType("Seq", int)  # Position in the log, 63 bits: `milliseconds << 15 | counter`. 0 is before all events.

Millis = NewType("Millis", int)  # milliseconds since 1970-01-01 UTC

SourceId = NewType("SourceId", str)  # a lower-case UUIDv7

START = Seq(0)

SERVICE = SourceId("00000000-0000-7000-8000-000000000000")
"""The source of the service's own events. A well-formed id from 1970, so no source can have it."""

COUNTER_BITS = 15


def id_of(seq: Seq, tail: int) -> str:
    """Return the UUIDv7 text of a position; `tail` is the 59 random bits that follow the counter.

    >>> id_of(Seq(1 << 15), 0)
    '00000000-0001-7000-8000-000000000000'
    """
    bits = (seq >> COUNTER_BITS) << 80 | 7 << 76 | (seq >> 3 & 0xFFF) << 64 | 2 << 62 | (seq & 7) << 59 | tail
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def seq_of(event_id: str) -> Seq:
    """Return the position in an event's id. Raises ValueError unless the id is a UUIDv7 in canonical form.

    >>> seq_of('00000000-0001-7000-8000-000000000000')
    32768
    """
    uuid = UUID(event_id)
    if uuid.version != 7 or str(uuid) != event_id.lower():
        raise ValueError(f"not a UUIDv7 in canonical form: {event_id[:60]!r}")
    bits = uuid.int
    return Seq((bits >> 80) << COUNTER_BITS | (bits >> 64 & 0xFFF) << 3 | bits >> 59 & 7)


def seq_at(at: Millis) -> Seq:
    """Return the first position of a millisecond: `read(after=seq_at(t) - 1)` starts at time `t`."""
    return Seq(max(0, at) << COUNTER_BITS)


def day_of(at: Millis) -> int:
    """Return the UTC day of a moment, in days since 1970-01-01.

    >>> day_of(Millis(86_400_000))
    1
    """
    return at // 86_400_000


def millis_of(seq: Seq) -> Millis:
    return Millis(seq >> COUNTER_BITS)


def given_fields(request: Struct, record: type[Struct]) -> dict[str, Any]:
    """Return the fields that a request sets, by name, without UNSET ones and those that the record lacks."""
    pairs = ((name, getattr(request, name)) for name in request.__struct_fields__ if name in record.__struct_fields__)
    return {name: value for name, value in pairs if value is not UNSET}


Workspace = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)",
        description="The name of the folder of files; no two folders have the same",
        examples=["shop"],
        extra={"form": "at most 63 of a-z, 0-9, - and _, with a letter or a digit first"},
    ),
]
ManagedName = Annotated[
    str, Meta(min_length=1, max_length=200, description="Its name in the files", examples=["day-tickets"])
]
Applied = Annotated[
    str,
    Meta(
        max_length=2000,
        description="What the files set when they were applied last, as `field=digest` with spaces between; none of "
        "it is of a secret",
        examples=["url=5b0e6a3c"],
    ),
]


class Managed(Struct, frozen=True, forbid_unknown_fields=True):
    """A record is described by files, and changed by `sanderling apply`."""

    workspace: Workspace
    name: ManagedName
    applied: Applied = ""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = Millis(253_402_300_799_999)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@lru_cache(64)  # an event names the same millisecond up to four times, and so do its neighbours
def rfc3339(at: Millis) -> str:
    """Return RFC 3339 UTC with `Z` and milliseconds; times outside the years 1970 to 9999 are clamped.

    >>> rfc3339(Millis(1_500))
    '1970-01-01T00:00:01.500Z'
    """
    moment = _EPOCH + timedelta(milliseconds=min(max(0, at), _LAST))
    return moment.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def spoken(at: Millis) -> str:
    """Return a moment to the minute, for prose.

    >>> spoken(Millis(1_780_000_000_000))
    '28 May 2026 20:26 UTC'
    """
    moment = _EPOCH + timedelta(milliseconds=min(max(0, at), _LAST))
    return f"{moment.day} {moment:%b %Y %H:%M} UTC"


def parse_rfc3339(text: str) -> Millis:
    """Parse an RFC 3339 date-time with an offset. Raises ValueError otherwise.

    >>> parse_rfc3339('1970-01-01T01:00:01.5+01:00')
    1500
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"no offset in {text[:40]!r}: write 2026-11-21T10:00:00Z")
    return Millis(round((moment - _EPOCH) / timedelta(milliseconds=1)))


def seconds_of(interval: str) -> int:
    """Return the seconds of an interval: a whole number and a unit of s, m, h or d.

    >>> seconds_of("10m")
    600
    """
    return int(interval[:-1]) * _UNITS[interval[-1]]


def interval_text(seconds: int) -> str:
    """Write seconds in the largest unit that divides them.

    >>> interval_text(600), interval_text(90)
    ('10m', '90s')
    """
    unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"
