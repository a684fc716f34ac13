"""The pages of items that all sources together may fetch: a token bucket. One task at a time uses it."""

from __future__ import annotations

HOUR = 3600.0
BURST = 0.1
"""Share of an hour's pages that may be fetched at once after a quiet time."""


class HopBudget:
    """`per_hour` pages an hour. `now`: seconds of a monotonic clock."""

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._room = max(1.0, BURST * per_hour)
        self._has = self._room
        self._at: float | None = None

    def __repr__(self) -> str:
        return f"<HopBudget of {self._per_hour} an hour, {self._has:.1f} left>"

    def take(self, now: float) -> float:
        """Take one page and return 0; or take none and return the seconds until there is one."""
        if self._at is not None:
            self._has = min(self._room, self._has + (now - self._at) * self._per_hour / HOUR)
        self._at = now
        if self._has >= 1:
            self._has -= 1
            return 0.0
        return (1 - self._has) * HOUR / self._per_hour
