"""The outbox: what must reach a destination, and what became of each attempt."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from storage.records.identity import Millis, Seq


class Match(NamedTuple):
    """One event for one destination; the pair is unique in the outbox."""

    destination: str
    seq: Seq
    due: Millis


class Delivery(Struct, frozen=True):
    """A claimed outbox row. `attempt` counts from 1; `body` is the exact stored wire JSON."""

    destination: str
    seq: Seq
    event_id: str
    attempt: int
    first_due: Millis
    body: bytes


class Outcome(Struct, frozen=True):
    """What became of an attempt. `retry_at` is set exactly for `retry`."""

    destination: str
    seq: Seq
    result: Literal["sent", "retry", "given_up"]
    at: Millis
    status: int | None = None
    latency_ms: int = 0
    error: str | None = None
    retry_at: Millis | None = None


class Attempt(Struct, frozen=True):
    """One line of a destination's attempts log."""

    destination: str
    event_id: str
    attempt: int
    result: Literal["sent", "retry", "given_up"]
    at: Millis
    status: int | None
    latency_ms: int
    error: str | None
    next_at: Millis | None
