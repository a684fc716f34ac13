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
    """Commit this harvest. The answer, given after the commit, is its events in order.

    looked: it comes of a look, or of a hop, which begins its trace by itself.
    """

    harvest: Harvest
    reply: Reply[Sequence[Stored]]
    looked: bool = False


@dataclass(frozen=True, slots=True)
class SaveStates:
    """Save states that no harvest carries (a breaker opened, a hold), and cookies; with the next group commit."""

    states: Sequence[SourceState]
    heard: Callable[[bool], None] | None = None
    """Is told whether they are stored; of a crash nobody tells."""
    jars: Sequence[StoredJar] = ()


RecorderMessage = Record | SaveStates
