"""The outbox: deliveries to destinations, and the outcome of each attempt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from storage.records.identity import Millis, Seq

Result = Literal["sent", "retry", "given_up"]


class Match(NamedTuple):
    """One event for one destination. The pair is unique in the outbox."""

    destination: str
    seq: Seq
    due: Millis


class Hit(NamedTuple):
    """An alert matched `times` more events, the last one at `at`."""

    alert: str
    times: int
    at: Millis


class Met(NamedTuple):
    """An alert that matches once per story matched this one in the event `seq`. story: its first position."""

    alert: str
    story: Seq
    seq: Seq


class Portion(NamedTuple):
    """The limits of one digest. It takes rows that were first due in [start, end): at most `limit` rows and `size`
    bytes of events, but at least one event. least: make no digest from fewer rows. fresh: take only rows that were
    never attempted, since others may already have arrived.
    """

    start: Millis
    end: Millis
    limit: int
    size: int
    least: int = 1
    fresh: bool = False


Freeze = Callable[[Sequence[bytes]], tuple[str, bytes]]
"""Makes a digest's id and body from the wire JSON of its events, in order. Pure; may run in a thread."""


class Delivery(Struct, frozen=True):
    """A claimed outbox row. `attempt` counts from 1. `body`: the exact stored wire JSON of an event or a digest."""

    destination: str
    seq: Seq
    event_id: str
    attempt: int
    first_due: Millis
    body: bytes


class Outcome(Struct, frozen=True):
    """The outcome of an attempt. `retry_at` is set only, and always, for `retry`."""

    destination: str
    seq: Seq
    result: Result
    at: Millis
    status: int | None = None
    latency_ms: int = 0
    error: str | None = None
    retry_at: Millis | None = None
    response_excerpt: str = ""


class Attempt(Struct, frozen=True):
    """One row of a destination's attempts log. `number`: its index there, from 1, assigned by the log."""

    destination: str
    event_id: str
    attempt: int
    result: Result
    at: Millis
    status: int | None
    latency_ms: int
    error: str | None
    next_at: Millis | None
    response_excerpt: str = ""
    number: int = 0


class Rates(NamedTuple):
    """failure: share of failures among a destination's newest attempts. duplicate: share of its deliveries that had,
    or may have, arrived before.
    """

    failure: float
    duplicate: float


class Waiting(Struct, frozen=True):
    """A destination's waiting deliveries. oldest: when the oldest began to wait. next_due: None if all are being
    attempted.
    """

    count: int
    oldest: Millis
    next_due: Millis | None


class Replayed(NamedTuple):
    """The outbox holds a destination's matches after `after` and up to `to`. `whole`: none is missed after `to`.

    If that is not certain, `matches` holds the positions and ids of all of them, in order.
    """

    destination: str
    after: Seq
    to: Seq
    whole: bool
    matches: Sequence[tuple[Seq, str]] = ()

    def reaching(self, waiting: Collection[Seq], sent: Collection[str]) -> Replayed:
        """Cut the range before the first of the `matches` that neither waits nor was sent."""
        owed = next((seq for seq, id in self.matches if seq not in waiting and id not in sent), None)
        return self if owed is None else self._replace(to=Seq(owed - 1), whole=False)
