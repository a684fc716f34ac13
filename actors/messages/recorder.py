"""Messages to the recorder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.records.event import Stored
from storage.records.source import Harvest, SourceState
from supervision import Reply


@dataclass(frozen=True, slots=True)
class Record:
    """Commit this harvest. The answer, given after the commit, is its events in order."""

    harvest: Harvest
    reply: Reply[Sequence[Stored]]


@dataclass(frozen=True, slots=True)
class SaveStates:
    """Save states that no harvest carries (a breaker opened, a hold); with the next group commit."""

    states: Sequence[SourceState]


RecorderMessage = Record | SaveStates
