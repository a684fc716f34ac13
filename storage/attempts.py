"""Rows of a destination's attempts log, the same in every engine. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.destination import Attempt, Outcome, Rates, Result
from storage.records.identity import Millis, Seq, id_of

KEPT_ATTEMPTS = 1_000
"""Newest attempts kept for each destination."""
KEPT_DEAD = 10_000
"""Newest given-up attempts kept for each destination in addition."""
RATED_ATTEMPTS = 100
"""Newest attempts that count for the failure rate; all kept ones count for the rate of duplicates."""


class Line(Protocol):
    """The part of an attempt that rates need."""

    @property
    def event_id(self) -> str:
        """The event's id, or a digest's."""

    @property
    def attempt(self) -> int:
        """Counts from 1."""

    @property
    def result(self) -> Result:
        """The outcome."""


def attempt_of(outcome: Outcome, event_id: str, number: int) -> Attempt:
    """Return the row of an outcome; `number` counts the attempts at this event from 1."""
    return Attempt(
        destination=outcome.destination,
        event_id=event_id,
        attempt=number,
        result=outcome.result,
        at=outcome.at,
        status=outcome.status,
        latency_ms=outcome.latency_ms,
        error=outcome.error,
        next_at=outcome.retry_at,
        response_excerpt=outcome.response_excerpt,
    )


def rates_of(lines: Sequence[Line]) -> Rates:
    """Return the rates of a destination's newest attempts, given oldest first.

    A delivery counts as a duplicate if its id was delivered before, or if an attempt before it has no row: a crash cut
    that attempt, and the receiver may have got it.
    """
    rated = lines[-RATED_ATTEMPTS:]
    known: dict[str, int] = {}
    taken: set[str] = set()
    delivered = again = 0
    for line in lines:
        # If the log was ever full, an event's first attempts may have left it.
        cut = line.attempt > known.get(line.event_id, 0) + 1 and (line.event_id in known or len(lines) < KEPT_ATTEMPTS)
        if line.result == "sent":
            delivered += 1
            again += cut or line.event_id in taken
            taken.add(line.event_id)
        known[line.event_id] = line.attempt
    failed = sum(line.result != "sent" for line in rated)
    return Rates(failed / len(rated) if rated else 0.0, again / delivered if delivered else 0.0)


def gone_attempt(destination: str, seq: Seq, attempts: int, now: Millis) -> Attempt:
    """Return a given-up row for an event that left the log before it was delivered.

    Only its position is known, so the row has the first id of that position.
    """
    return Attempt(
        destination=destination,
        event_id=id_of(seq, 0),
        attempt=attempts,
        result="given_up",
        at=now,
        status=None,
        latency_ms=0,
        error="the event was removed by retention before it could be delivered",
        next_at=None,
    )
