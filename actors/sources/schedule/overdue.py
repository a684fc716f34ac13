"""The monitor of the watching itself: it must never be silent about its own silence. Pure.

A source whose due look has not happened is overdue; a busy host alone makes many of those. But when some are overdue
and not one look has ended for ten minutes, whatever the reason (a host's queue that is stuck, a worker pool that is
full, a lost task, a recorder that does not answer), then the watching has stalled. While our own line is down looks
pause on purpose, and that is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from actors.sources.schedule.budget import LookRate
from storage.records.identity import SourceId

EVERY = 30.0
"""Seconds between two rounds."""
PATIENCE = 600.0
"""Twice the longest Crawl-delay: that long a library may lawfully go without a look."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round found. sources, overdue: how many are watched, and late. worst: the one that is late longest.

    tiers, breakers: how many of those watched are of which tier, and have a breaker in which state.
    looks: how many looks at pages and feeds have ended so far, in all. waiting: how many of those sources are late.
    """

    sources: int = 0
    overdue: int = 0
    waiting: int = 0
    worst: SourceId | None = None
    looks: int = 0
    tiers: Mapping[str, int] = field(default_factory=dict)
    breakers: Mapping[str, int] = field(default_factory=dict)


class News(Enum):
    """What a round changed."""

    NOTHING = "nothing"
    STALLED = "stalled"
    RESUMED = "resumed"


class OverdueMonitor:
    """Keeps the last round, what looks it found, and since when nothing has moved. `now`: of a monotonic clock, s."""

    def __init__(self) -> None:
        self.last = Round()
        self.spent = LookRate()
        self._still_since: float | None = None
        self.stalled = False

    def __repr__(self) -> str:
        state = "stalled" if self.stalled else "well"
        return f"<OverdueMonitor {state}; {self.last.overdue} of {self.last.sources} sources overdue>"

    def see(self, found: Round, now: float, *, on_hold: bool) -> News:
        """Take a round; `on_hold` says that looks don't happen on purpose."""
        moved = found.looks != self.last.looks or not found.waiting or on_hold
        self.last = found
        if moved or self._still_since is None:
            self._still_since = None if moved else now
        was, self.stalled = self.stalled, self._still_since is not None and now - self._still_since >= PATIENCE
        if was == self.stalled:
            return News.NOTHING
        return News.STALLED if self.stalled else News.RESUMED

    def says(self) -> str:
        """Return what is wrong as a sentence; empty when all is well."""
        if not self.stalled:
            return ""
        return f"no look has ended for {PATIENCE / 60:.0f} min, and {self.last.overdue} sources are overdue"
