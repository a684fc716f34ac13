"""The matcher's lag behind the log."""

from __future__ import annotations

from dataclasses import dataclass

from storage.records.identity import START, Millis, Seq, millis_of
from storage.tail import Tail

SHOWN = 60.0
"""Minimum seconds of lag that is shown; less is a burst."""


@dataclass(frozen=True, slots=True)
class Lag:
    """Unmatched events, and the age of the oldest in seconds."""

    events: int = 0
    seconds: float = 0.0

    def says(self) -> str:
        """Return a sentence for people, "" while the lag is short."""
        if self.seconds < SHOWN:
            return ""
        many = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return f"{many} not matched with alerts yet, the oldest of {self.seconds:,.0f} s ago: deliveries come later."


def lag_of(tail: Tail, at: Seq, left: int, oldest: Seq, now: Millis) -> Lag:
    """Return the lag of a matcher at this position.

    left, oldest: the unmatched events it counted in the log, and the first position, for events no longer in memory.
    """
    waiting = tail.since(at)
    if waiting is not None and not waiting:
        return Lag()
    first = waiting[0].stored.seq if waiting else max(at, oldest)
    age = (now - millis_of(first)) / 1000 if first > START else 0.0
    return Lag(len(waiting) if waiting else max(1, left), max(0.0, age))
