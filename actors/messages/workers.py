"""Messages to the recorder, the matcher, a destination and the importer of lists. Records only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from actors.messages.views import FeedLine, TestResult
from storage.records.event import Stored
from storage.records.identity import Millis, SourceId
from storage.records.source import Harvest, SourceState, StoredJar
from supervision import Reply


class Record(Struct, frozen=True):
    """Commit this harvest; the answer is its events, after the commit. from_check: it begins its own trace."""

    harvest: Harvest
    reply: Reply[Sequence[Stored]]
    from_check: bool = False


class SaveStates(Struct, frozen=True):
    """Save states without a harvest (a breaker opened, a hold), and cookies; with the next group commit."""

    states: Sequence[SourceState]
    on_saved: Callable[[bool], None] | None = None
    """Called with whether they are stored; never after a crash."""
    jars: Sequence[StoredJar] = ()


RecorderMessage = Record | SaveStates


class LogGrew(Struct, frozen=True):
    """There are new events. One message may cover several events, and one event cause several messages."""


class AlertsChanged(Struct, frozen=True):
    """Alerts or destinations were written: read them again before the next event."""

    reply: Reply[None]


MatcherMessage = LogGrew | AlertsChanged


class OutboxGrew(Struct, frozen=True):
    """There are new rows for this destination."""


class TestDelivery(Struct, frozen=True):
    """Send one sample now; the answer has the result."""

    reply: Reply[TestResult]


DestinationMessage = OutboxGrew | TestDelivery


class Imported(Struct, frozen=True):
    """One line of a list. `says`: the evidence of its type, or why it is not watched."""

    line: FeedLine
    status: Literal["waiting", "new", "there", "failed"] = "waiting"
    source: SourceId | None = None
    says: str = ""
    full: bool = False
    """The number of sources is at its limit."""


class Importing(Struct, frozen=True):
    """A list that is being added, or was; `ended_at` None while it is."""

    id: str
    begun_at: Millis
    ended_at: Millis | None = None
    rows: tuple[Imported, ...] = ()

    def counts(self) -> dict[str, int]:
        names = ("waiting", "new", "there", "failed")
        return {name: sum(row.status == name for row in self.rows) for name in names}


class BeginImport(Struct, frozen=True):
    """Add these lines. Fails with Conflict while another list is being added."""

    lines: Sequence[FeedLine]
    reply: Reply[Importing]


class ShowImport(Struct, frozen=True):
    """Return the current or last import; None without one since the start."""

    reply: Reply[Importing | None]


class StopImport(Struct, frozen=True):
    """Stop the import; lines under way may still be added."""

    reply: Reply[None]


ImportMessage = BeginImport | ShowImport | StopImport
