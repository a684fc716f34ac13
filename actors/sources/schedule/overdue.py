"""The monitor of watching itself: it must never be silent about its own silence. Pure.

A source is overdue if its due check has not happened; a busy host alone makes many of those. But if some are overdue
and no check has ended for ten minutes, for any reason (a stuck host queue, a full worker pool, a lost task, an
unresponsive recorder), watching has stalled. While our uplink is down checks pause on purpose, which is reported
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from actors.sources.schedule.budgets import CheckRate
from storage.records.identity import SourceId

EVERY = 30.0
"""Seconds between rounds."""
PATIENCE = 600.0
"""Twice the longest Crawl-delay: a library may properly go that long without a check."""


@dataclass(frozen=True, slots=True)
class OverdueRound:
    """One round's figures. sources, overdue: watched and late sources. worst: the one that has been late longest.
    tiers, breakers: watched sources by tier and by breaker state. looks: ended checks of pages and feeds. waiting: late
    ones.
    """

    sources: int = 0
    overdue: int = 0
    waiting: int = 0
    worst: SourceId | None = None
    looks: int = 0
    tiers: Mapping[str, int] = field(default_factory=dict)
    breakers: Mapping[str, int] = field(default_factory=dict)


class OverdueMonitor:
    """Keeps the last round, and since when no check has ended. `now`: of a monotonic clock, s."""

    def __init__(self) -> None:
        self.last = OverdueRound()
        self.check_rate = CheckRate()
        self._stalled_since: float | None = None
        self.stalled = False

    def update(self, round: OverdueRound, now: float, *, on_hold: bool) -> bool:
        """Take a round; return whether watching has stalled or resumed. on_hold: checks are paused on purpose."""
        has_progress = round.looks != self.last.looks or not round.waiting or on_hold
        self.last = round
        if has_progress or self._stalled_since is None:
            self._stalled_since = None if has_progress else now
        before, self.stalled = self.stalled, self._stalled_since is not None and now - self._stalled_since >= PATIENCE
        return before != self.stalled

    def fault(self) -> str:
        if not self.stalled:
            return ""
        return f"no check has finished for {PATIENCE / 60:.0f} min, and {self.last.overdue} sources are overdue"
