"""The schedule of a delivery: its retries, the end of quiet hours, and when it is given up. Pure.

Ten attempts: at once, then after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, each with +-20 % jitter, so that joint
failures do not retry together. After a timeout or a 429 the receiver gets at least a minute. `Retry-After` can only
lengthen a wait, up to an hour: a receiver must not be able to push deliveries out of the schedule.

Digests: their windows and their bodies. Pure. Windows cover all of time without a gap: quarters of an hour and hours
of UTC, or days that begin at an hour of a time zone. At a clock change such a day has 23 or 25 hours; a skipped hour
means the moment of the change, a repeated one its first occurrence. A row's window is the one around its due time, by
the wall clock of that moment. A window is frozen as soon as the clock is past its end, whichever way the clock has
stepped. The rows then in the outbox are in this digest; later ones of the same window get another. Each row is in one
digest only, since frozen rows have left the outbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

import msgspec

from actors.destination_kinds.contract import Answer
from actors.hours import local_time, spans, zone_of
from actors.messages.declaring import made_of
from storage.records.destination import Delivery, DeliveryMode, Destination, Outcome, QuietHours
from storage.records.identity import Millis, rfc3339

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
    """Return what an attempt's answer means, and when to retry. draw: in [0, 1)."""
    result = verdict(answer, delivery.attempt)
    due = Millis(at + round(1000 * wait(answer, delivery.attempt, draw))) if result == "retry" else None
    own = {"result": result, "at": at, "retry_at": due, "response_excerpt": answer.excerpt}
    return made_of(Outcome, delivery, answer, **own)


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


MOST_EVENTS = 500
MOST_BYTES = 1 << 20  # events and bytes in one digest, but at least one event; the rest goes into the next
GRACE = Millis(2_000)  # milliseconds that a window stays open after its end, for rows that the matcher is still writing
_LENGTHS: dict[DeliveryMode, int] = {"15min": 900_000, "hourly": 3_600_000}
_DAY = timedelta(days=1)


class DigestWindow(NamedTuple):
    """The half-open interval [start, end)."""

    start: Millis
    end: Millis


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a digest. Its events are byte for byte those of the log, so that their signatures hold."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: DeliveryMode
    window_start: str
    window_end: str
    count: int
    events: list[msgspec.Raw]


def window_of(destination: Destination, at: Millis) -> DigestWindow:
    length = _LENGTHS.get(destination.delivery_mode)
    if length is not None:
        start = at - at % length
        return DigestWindow(Millis(start), Millis(start + length))
    zone = zone_of(destination.digest_timezone)
    today = local_time(at, zone).date()
    # Two days to each side: a zone may have skipped a whole day.
    starts = sorted(_day_start(today + days * _DAY, destination.digest_hour, zone) for days in (-2, -1, 0, 1, 2))
    return DigestWindow(max(start for start in starts if start <= at), min(start for start in starts if start > at))


def digest_body(id: str, destination: Destination, window: DigestWindow, events: Sequence[bytes]) -> bytes:
    made = made_of(
        Digest,
        destination,
        id=id,
        destination_id=destination.id,
        window_start=rfc3339(window.start),
        window_end=rfc3339(window.end),
        count=len(events),
        events=[msgspec.Raw(event) for event in events],
    )
    return msgspec.json.encode(made)


def _day_start(day: date, hour: int, zone: tzinfo) -> Millis:
    """Return when a day begins, in milliseconds; `fold` 0 resolves odd hours as the preface says."""
    return Millis(round(datetime(day.year, day.month, day.day, hour, tzinfo=zone).timestamp() * 1000))
