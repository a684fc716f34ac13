"""Ids of traces and spans, computed from the records. Pure.

The trace of a check is identified by its source and its time, which each event of the check carries, signed,
as `source_id` and `fetched_at`. Other events (a frame of a push source, a notice of the service itself) have their own
trace, identified by the event's id; so has a digest, whose events come from many checks.

So the recorder, the matcher and the deliveries derive the trace from an event's body, without further data. Sampling
also depends on the id alone (its last seven bytes against the ratio, as in OpenTelemetry's consistent sampling): all
actors decide alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from storage.records.identity import SERVICE, Millis, SourceId, parse_rfc3339
from storage.records.tiers import POLLED

_PERSON: Final = b"sanderling trace"
_RANDOM: Final = 7
"""Bytes at the end of a trace id that decide on sampling (W3C Trace Context, level 2: the random part)."""


class SpanContext(NamedTuple):
    """A reference to a span: 16 bytes of trace and 8 of span."""

    trace: bytes
    span: bytes


class _Body(Struct, frozen=True, gc=False):
    """The fields of an event that identify its trace, and those of a digest."""

    id: str = ""
    source_id: str = ""
    source_type: str = ""
    fetched_at: str = ""
    destination_id: str = ""
    events: Sequence[_Body] = ()


class TracedEvent(NamedTuple):
    """An event or digest as a trace identifies it. events: of a digest; an event has none."""

    id: str
    trace: bytes
    is_digest: bool = False
    events: Sequence[TracedEvent] = ()

    @property
    def matched(self) -> SpanContext:
        """The parent span of a delivery: the event's match, or a digest's creation."""
        return SpanContext(self.trace, root_of(self.trace) if self.is_digest else span_of(self.trace, "match", self.id))


_decode = msgspec.json.Decoder(_Body).decode


def trace_of_look(source: SourceId, at: Millis) -> bytes:
    """Return the trace of a check of a source.

    >>> trace_of_look(SourceId("0192"), Millis(5)).hex()
    'c8b5b9f29ed5fc2d4df3841845312f4f'
    """
    return _hash(16, "look", source, str(at))


def trace_of_event(id: str) -> bytes:
    return _hash(16, "event", id)


def root_of(trace: bytes) -> bytes:
    return span_of(trace, "root")


def span_of(trace: bytes, *names: str) -> bytes:
    return _hash(8, trace.hex(), *names)


def told_in(body: bytes) -> TracedEvent | None:
    """Return the identity from the JSON of an event or a digest; None for anything else."""
    try:
        return _told(_decode(body))
    except (msgspec.MsgspecError, ValueError):
        return None


def is_sampled(trace: bytes, ratio: float) -> bool:
    r"""Return whether a trace is sampled.

    >>> is_sampled(bytes(16), 0.001), is_sampled(bytes(16), 0.0), is_sampled(b"\xff" * 16, 1.0)
    (True, False, True)
    """
    return int.from_bytes(trace[-_RANDOM:], "big") < ratio * (1 << 8 * _RANDOM)


def traceparent(context: SpanContext, *, sampled: bool) -> str:
    """Return the header that passes a span to the called server (W3C Trace Context, level 1).

    >>> traceparent(SpanContext(bytes(15) + b"1", bytes(7) + b"2"), sampled=True)
    '00-00000000000000000000000000000031-0000000000000032-01'
    """
    return f"00-{context.trace.hex()}-{context.span.hex()}-{sampled:02x}"


def _told(body: _Body) -> TracedEvent | None:
    if not body.id:
        return None
    if body.destination_id:
        events = (_told(event) for event in body.events)
        return TracedEvent(
            body.id, trace_of_event(body.id), True, tuple(event for event in events if event is not None)
        )
    if body.source_type not in POLLED or body.source_id == SERVICE:
        return TracedEvent(body.id, trace_of_event(body.id))
    return TracedEvent(body.id, trace_of_look(SourceId(body.source_id), parse_rfc3339(body.fetched_at)))


def _hash(size: int, *names: str) -> bytes:
    return blake2b("/".join(names).encode(), digest_size=size, person=_PERSON).digest()
