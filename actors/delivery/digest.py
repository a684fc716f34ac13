"""Digests: which window a moment belongs to, and what a digest says. Pure.

Windows cover the whole of time without a gap: quarters of an hour and hours of UTC, or days that begin at an hour of a
time zone. On a day of a change of the clocks such a day has 23 or 25 hours; an hour that is left out is read as the
moment at which the clocks go forward, one that comes twice as its first time.

An event belongs to the window in which it became due, by the wall clock of that moment. A window is frozen as soon as
the clock is past its end, whatever steps the clock took: who is in the outbox then is in this digest or, come later, in
another one of the same window, and in one only, since who is frozen has left.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

import msgspec

from actors.zones import reading, zone_of
from storage.records.destination import DeliveryMode, Destination
from storage.records.identity import Millis
from storage.records.times import rfc3339

MOST_EVENTS = 500
MOST_BYTES = 1 << 20
"""Events and bytes of them in one digest, but one event at least; what is more goes into the next."""
GRACE = Millis(2_000)
"""Milliseconds that a window stays open after its end, for what the matcher is just writing."""
_LENGTHS: dict[DeliveryMode, int] = {"15min": 900_000, "hourly": 3_600_000}
_DAY = timedelta(days=1)


class DigestWindow(NamedTuple):
    """From `start` on and before `end`."""

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
    """Return the window of a destination's digest mode that a moment belongs to."""
    length = _LENGTHS.get(destination.delivery_mode)
    if length is not None:
        start = at - at % length
        return DigestWindow(Millis(start), Millis(start + length))
    zone = zone_of(destination.digest_timezone)
    today = reading(at, zone).date()
    # Two days to each side: a zone may have left a whole day out.
    turns = sorted(_turn(today + days * _DAY, destination.digest_hour, zone) for days in (-2, -1, 0, 1, 2))
    return DigestWindow(max(turn for turn in turns if turn <= at), min(turn for turn in turns if turn > at))


def content(id: str, destination: Destination, window: DigestWindow, events: Sequence[bytes]) -> bytes:
    """Return the body of a digest of events, given as their wire JSON in order."""
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


def _turn(day: date, hour: int, zone: tzinfo) -> Millis:
    """Return when a day begins, in milliseconds; `fold` 0 is what gives the preface's reading of odd hours."""
    return Millis(round(datetime(day.year, day.month, day.day, hour, tzinfo=zone).timestamp() * 1000))
