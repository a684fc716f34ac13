"""Quiet hours: until when instant deliveries wait. Pure."""

from __future__ import annotations

from actors.day_spans import spans
from actors.zones import reading, zone_of
from storage.records.destination import QuietHours
from storage.records.identity import Millis


def quiet_until(hours: QuietHours | None, at: Millis) -> Millis | None:
    """Return when the quiet that holds at a moment ends; None when none does."""
    if hours is None:
        return None
    end = None
    # A span that begins while another lasts (clocks were set back) goes on with it.
    for span in spans(hours, reading(at, zone_of(hours.timezone)).date()):
        if span.start <= (at if end is None else end) < span.end:
            end = span.end
    return end
