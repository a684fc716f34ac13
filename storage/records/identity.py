"""Identifiers and positions: UUIDv7 text, the log's key, and milliseconds.

The log's key (`Seq`) is the head of an event's UUIDv7 (RFC 9562, 6.2 method 1): 48 bits of milliseconds, then a counter
of 15 bits (12 in rand_a, 3 at the head of rand_b). `seq_of` and `seq_at` are arithmetic: a cursor needs no lookup, the
log needs no index over ids, and a period is a key range.
"""

from __future__ import annotations

from typing import NewType
from uuid import UUID

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
