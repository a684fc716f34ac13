"""The time of a source's second check, for previews."""

from __future__ import annotations

from actors.previews import PacePreview
from actors.sources.looks import progress
from actors.sources.looks.progress import LookResult
from actors.sources.ports import Ports
from actors.sources.schedule.cadence import START_INTERVAL, Hints, Limits
from storage.records.identity import Millis
from storage.records.source import SourceRuntime, Validators


def pace_of(
    ports: Ports, at: Millis, hints: Hints, times: tuple[Millis, ...], *, rendered: bool = False
) -> PacePreview:
    """Return the time of the second check, without jitter."""
    settings = ports.settings
    limits = Limits(settings.cadence_floor, settings.cadence_ceiling)
    looked = LookResult(at, 200, Validators(), changed=False, hints=hints, times=times, rendered=rendered)
    hot = progress.succeeded(SourceRuntime(interval=START_INTERVAL), looked, limits, 0.5, ports.market.price)
    due = hot.next_look_at if hot.next_look_at is not None else at
    return PacePreview(hot.interval, due, hints.max_age, hints.ttl, hints.skip_hours, hints.skip_days)
