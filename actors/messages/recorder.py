"""Messages to the recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storage.records.event import Stored
from storage.records.kept_cookies import StoredJar
from storage.records.source import Harvest, SourceState
from supervision import Reply


@dataclass(frozen=True, slots=True)
class Record:
    """Commit this harvest. The answer, sent after the commit, is its events in order.

    looked: it is from a check, or a hop, which begins its own trace.
    """

    harvest: Harvest
    reply: Reply[Sequence[Stored]]
    looked: bool = False


@dataclass(frozen=True, slots=True)
class SaveStates:
    """Save states without a harvest (a breaker opened, a hold), and cookies; with the next group commit."""

    states: Sequence[SourceState]
    heard: Callable[[bool], None] | None = None
    """Called with whether they are stored; never after a crash."""
    jars: Sequence[StoredJar] = ()


RecorderMessage = Record | SaveStates
