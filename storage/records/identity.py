"""Identifiers, positions, and the mark of records that files describe.

The log's key (`Seq`) is the head of an event's UUIDv7 (RFC 9562, 6.2 method 1): 48 bits of milliseconds, then a counter
of 15 bits (12 in rand_a, 3 at the head of rand_b). `seq_of` and `seq_at` are arithmetic: a cursor needs no lookup, the
log needs no index over ids, and a period is a key range.

See docs/decisions/managed-records.md.
"""

from __future__ import annotations

from typing import Annotated, Any, NewType
from uuid import UUID

from msgspec import UNSET, Meta, Struct

Seq = NewType("Seq", int)
"""Position in the log, 63 bits: `milliseconds << 15 | counter`. 0 is before all events."""

Millis = NewType("Millis", int)
"""Milliseconds since 1970-01-01 UTC."""

SourceId = NewType("SourceId", str)
"""A lower-case UUIDv7."""

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
    return str(UUID(int=bits))


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
    """Return the millisecond in which a position was minted."""
    return Millis(seq >> COUNTER_BITS)


def given(request: Struct, record: type[Struct]) -> dict[str, Any]:
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
    str, Meta(min_length=1, max_length=200, description="What the files call it", examples=["day-tickets"])
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
