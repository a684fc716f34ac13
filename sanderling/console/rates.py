"""Messages per minute of visible actors, from their counts in the last minute. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from sanderling.console.words import apart

WINDOW = 60
"""Samples kept, one per second, each with the rows then visible."""


class Rates:
    """Counts by path, each sample at a time of the service's clock."""

    def __init__(self) -> None:
        self._past: deque[tuple[str, dict[str, int]]] = deque(maxlen=WINDOW)

    def take(self, at: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if at:
            self._past.append((at, {row["path"]: row["handled"] for row in rows if row.get("handled") is not None}))

    def of(self, path: str) -> float | None:
        """Return messages per minute; None before two samples, or after the count restarted."""
        seen = [(at, counts[path]) for at, counts in self._past if path in counts]
        if len(seen) < 2 or seen[-1][1] < seen[0][1]:
            return None
        seconds = apart(seen[0][0], seen[-1][0])
        return 60 * (seen[-1][1] - seen[0][1]) / seconds if seconds > 0 else None
