"""The matcher's lag behind the log, as everybody shows it."""

from __future__ import annotations

from dataclasses import dataclass

from storage.records.identity import START, Millis, Seq, millis_of
from storage.tail import Tail

SHOWN = 60.0
"""Seconds of lag from which on people are told; less is a burst."""


@dataclass(frozen=True, slots=True)
class Lag:
    """Events that wait to be matched, and the age of the oldest of them in seconds."""

    events: int = 0
    seconds: float = 0.0

    def says(self) -> str:
        """Return a sentence for people; an empty one while it is short."""
        if self.seconds < SHOWN:
            return ""
        many = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return f"{many} not matched with alerts yet, the oldest of {self.seconds:,.0f} s ago: deliveries come later."


def lag_of(tail: Tail, at: Seq, left: int, oldest: Seq, now: Millis) -> Lag:
    """Return the lag of a matcher that is at a position.

    left, oldest: how many events it counted when it began to read them from the log and has not matched, and the first
    of them; for what memory no longer holds.
    """
    waiting = tail.since(at)
    if waiting is not None and not waiting:
        return Lag()
    first = waiting[0].stored.seq if waiting else max(at, oldest)
    age = (now - millis_of(first)) / 1000 if first > START else 0.0
    return Lag(len(waiting) if waiting else max(1, left), max(0.0, age))
