"""Rates of the actors in view: messages a minute, by what was seen of their counts in the last minute. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from sanderling.console.words import apart

WINDOW = 60
"""Pictures kept, one a second; each holds the rows that were in view."""


class Rates:
    """Counts of rows by their paths, as they were at a moment of the service's clock."""

    def __init__(self) -> None:
        self._past: deque[tuple[str, dict[str, int]]] = deque(maxlen=WINDOW)

    def take(self, at: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows as they are now."""
        if at:
            self._past.append((at, {row["path"]: row["handled"] for row in rows if row.get("handled") is not None}))

    def of(self, path: str) -> float | None:
        """Return how many a minute; None before two pictures have it, and when it has begun to count anew."""
        seen = [(at, counts[path]) for at, counts in self._past if path in counts]
        if len(seen) < 2 or seen[-1][1] < seen[0][1]:
            return None
        seconds = apart(seen[0][0], seen[-1][0])
        return 60 * (seen[-1][1] - seen[0][1]) / seconds if seconds > 0 else None
