"""The clock of nodes on one database: what they store for each other is in the database's time. Pure."""

from __future__ import annotations

from collections.abc import Callable


class SharedClock:
    """Seconds since 1970 as the database counts them; by our own wall clock until it has answered.

    An answer shows the difference to within the time that the answer took (Cristian's algorithm); a known difference
    that lies within it stays. Our wall clock may be wrong, or be set, without moving this one. Threads may call it.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._ahead: float | None = None

    def __call__(self) -> float:
        """Return the time."""
        return self._wall() if self._ahead is None else self._monotonic() + self._ahead

    def own(self) -> float:
        """Return the time to give `hear`, before and after a question."""
        return self._monotonic()

    def hear(self, asked: float, database: float, answered: float) -> None:
        """Take over what the database's clock showed between two moments of `own`."""
        low, high = database - answered, database - asked
        known = (low + high) / 2 if self._ahead is None else self._ahead
        self._ahead = min(max(known, low), high)
