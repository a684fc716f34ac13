"""The clock of nodes that share a database: times they store for each other are in the database's time. Pure."""

from __future__ import annotations

from collections.abc import Callable


class SharedClock:
    """Seconds since 1970 by the database's clock; by our wall clock until the database has answered.

    An answer bounds the difference to within its round-trip time (Cristian's algorithm); a known difference inside the
    bounds stays. A wrong or changed wall clock does not affect this clock. Thread-safe.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._ahead: float | None = None

    def __call__(self) -> float:
        """Return the time."""
        return self._wall() if self._ahead is None else self._monotonic() + self._ahead

    def own(self) -> float:
        """Return the time to pass to `hear`, taken before and after a query."""
        return self._monotonic()

    def hear(self, asked: float, database: float, answered: float) -> None:
        """Adjust to the database's time, which was read between two moments of `own`."""
        low, high = database - answered, database - asked
        known = (low + high) / 2 if self._ahead is None else self._ahead
        self._ahead = min(max(known, low), high)
