"""The schedule of a delivery: its retries, the end of quiet hours, and when it is given up. Pure.

Ten attempts: at once, then after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, each with +-20 % jitter, so that joint
failures do not retry together. After a timeout or a 429 the receiver gets at least a minute. `Retry-After` can only
lengthen a wait, up to an hour: a receiver must not be able to push deliveries out of the schedule.
"""

from __future__ import annotations

from typing import Literal

from actors.destination_kinds.answer import Answer
from actors.hours import local_time, spans, zone_of
from storage.records.destination import Delivery, Outcome, QuietHours
from storage.records.identity import Millis

WAITS = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds from the n-th failure to the attempt after it."""
ATTEMPTS = len(WAITS) + 1
JITTER = 0.2
BREATHER = 60.0
LONGEST_RETRY_AFTER = 3_600.0


def verdict(answer: Answer, attempt: int) -> Literal["sent", "retry", "given_up"]:
    """Return the fate of a delivery after its n-th attempt, counted from 1."""
    if answer.delivered:
        return "sent"
    return "given_up" if attempt >= ATTEMPTS or answer.gone or answer.refused else "retry"


def wait(answer: Answer, attempt: int, draw: float) -> float:
    """Return the seconds from a failed n-th attempt to the next; `draw` is a float in [0, 1).

    >>> [wait(Answer(500, 3), attempt, 0.5) for attempt in (1, 2, 9)]
    [5.0, 300.0, 86400.0]
    """
    seconds = WAITS[attempt - 1] * (1 - JITTER + 2 * JITTER * draw)
    if answer.timeout or answer.slow:
        seconds = max(seconds, BREATHER)
    return max(seconds, min(answer.retry_after or 0.0, LONGEST_RETRY_AFTER))


def latest(attempts: int, now: Millis, retry_after: float = LONGEST_RETRY_AFTER) -> Millis:
    """Return a delivery's latest due time after this many attempts, without quiet hours. retry_after: its longest, s.

    >>> latest(1, Millis(0)), latest(9, Millis(0))
    (3600000, 103680000)
    """
    longest = WAITS[min(attempts, len(WAITS)) - 1] * (1 + JITTER) if attempts else 0.0
    return Millis(now + round(1000 * max(longest, BREATHER, retry_after if attempts else 0.0)))


def outcome(delivery: Delivery, answer: Answer, at: Millis, draw: float) -> Outcome:
    result = verdict(answer, delivery.attempt)
    return Outcome(
        destination=delivery.destination,
        seq=delivery.seq,
        result=result,
        at=at,
        status=answer.status,
        latency_ms=answer.latency_ms,
        error=answer.error,
        retry_at=Millis(at + round(1000 * wait(answer, delivery.attempt, draw))) if result == "retry" else None,
        response_excerpt=answer.excerpt,
    )


def quiet_until(hours: QuietHours | None, at: Millis) -> Millis | None:
    """Return the end of the quiet hours around a moment; None outside."""
    if hours is None:
        return None
    end = None
    # A span that begins during another (clocks were set back) extends it.
    for span in spans(hours, local_time(at, zone_of(hours.timezone)).date()):
        if span.start <= (at if end is None else end) < span.end:
            end = span.end
    return end
