"""Lines of a destination's attempts log, as every engine writes them. Pure."""

from __future__ import annotations

from storage.records.delivery import Attempt, Outcome
from storage.records.identity import Millis, Seq, id_of

KEPT_ATTEMPTS = 1_000
"""Newest attempts that are kept of each destination."""
RATED_ATTEMPTS = 100
"""Newest attempts that a failure rate is about."""


def attempt_of(outcome: Outcome, event_id: str, number: int) -> Attempt:
    """Return the line of an outcome; `number` counts the attempts at this event from 1."""
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
    )


def gone_attempt(destination: str, seq: Seq, attempts: int, now: Millis) -> Attempt:
    """Return the line of an event that left the log before it was delivered: given up, and visibly so.

    Only the event's position is left of it, so the line names the first id of that position.
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
