"""Messages to the recorder, the matcher, a destination and the importer of lists. Records only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from actors.messages.outline import FeedLine
from actors.messages.views import TestResult
from storage.records.event import Stored
from storage.records.identity import Millis, SourceId
from storage.records.source import Harvest, SourceState, StoredJar
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


@dataclass(frozen=True, slots=True)
class LogGrew:
    """There are new events. One message may cover several events, and one event cause several messages."""


@dataclass(frozen=True, slots=True)
class AlertsChanged:
    """Alerts or destinations were written: read them again before the next event."""

    reply: Reply[None]


MatcherMessage = LogGrew | AlertsChanged


@dataclass(frozen=True, slots=True)
class OutboxGrew:
    """There are new rows for this destination."""


@dataclass(frozen=True, slots=True)
class TestDelivery:
    """Send one sample now; the answer has the result."""

    reply: Reply[TestResult]


DestinationMessage = OutboxGrew | TestDelivery


@dataclass(frozen=True, slots=True)
class Imported:
    """One line of a list. `says`: the evidence of its type, or why it is not watched."""

    line: FeedLine
    status: Literal["waiting", "new", "there", "failed"] = "waiting"
    source: SourceId | None = None
    says: str = ""
    full: bool = False
    """The number of sources is at its limit."""


@dataclass(frozen=True, slots=True)
class Importing:
    """A list that is being added, or was; `ended_at` None while it is."""

    id: str
    begun_at: Millis
    ended_at: Millis | None = None
    rows: tuple[Imported, ...] = ()

    def counts(self) -> dict[str, int]:
        names = ("waiting", "new", "there", "failed")
        return {name: sum(row.status == name for row in self.rows) for name in names}


@dataclass(frozen=True, slots=True)
class BeginImport:
    """Add these lines. Fails with Conflict while another list is being added."""

    lines: Sequence[FeedLine]
    reply: Reply[Importing]


@dataclass(frozen=True, slots=True)
class ShowImport:
    """Return the current or last import; None without one since the start."""

    reply: Reply[Importing | None]


@dataclass(frozen=True, slots=True)
class StopImport:
    """Stop the import; lines under way may still be added."""

    reply: Reply[None]


ImportMessage = BeginImport | ShowImport | StopImport
