"""Digests: their windows and their bodies. Pure.

Windows cover all of time without a gap: quarters of an hour and hours of UTC, or days that begin at an hour of a time
zone. At a clock change such a day has 23 or 25 hours; a skipped hour means the moment of the change, a repeated one
its first occurrence.

A row's window is the one around its due time, by the wall clock of that moment. A window is frozen as soon as the
clock is past its end, whichever way the clock has stepped. The rows then in the outbox are in this digest; later ones
of the same window get another. Each row is in one digest only, since frozen rows have left the outbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

import msgspec

from actors.hours import local_time, zone_of
from storage.records.destination import DeliveryMode, Destination
from storage.records.identity import Millis, rfc3339

MOST_EVENTS = 500
MOST_BYTES = 1 << 20
"""Events and bytes in one digest, but at least one event; the rest goes into the next."""
GRACE = Millis(2_000)
"""Milliseconds that a window stays open after its end, for rows that the matcher is still writing."""
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
    return msgspec.json.encode(
        Digest(
            id=id,
            destination_id=destination.id,
            alert_id=destination.alert_id,
            delivery_mode=destination.delivery_mode,
            window_start=rfc3339(window.start),
            window_end=rfc3339(window.end),
            count=len(events),
            events=[msgspec.Raw(event) for event in events],
        )
    )


def _day_start(day: date, hour: int, zone: tzinfo) -> Millis:
    """Return when a day begins, in milliseconds; `fold` 0 resolves odd hours as the preface says."""
    return Millis(round(datetime(day.year, day.month, day.day, hour, tzinfo=zone).timestamp() * 1000))
