"""Quiet hours: instant deliveries wait until they end. Pure."""

from __future__ import annotations

from actors.day_spans import spans
from actors.zones import reading, zone_of
from storage.records.destination import QuietHours
from storage.records.identity import Millis


def quiet_until(hours: QuietHours | None, at: Millis) -> Millis | None:
    """Return the end of the quiet hours around a moment; None outside."""
    if hours is None:
        return None
    end = None
    # A span that begins during another (clocks were set back) extends it.
    for span in spans(hours, reading(at, zone_of(hours.timezone)).date()):
        if span.start <= (at if end is None else end) < span.end:
            end = span.end
    return end
