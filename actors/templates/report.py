"""The report of an instantiation or its preview. Records only; `api/nouns/templates.py` has the API's wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from actors.templates.template import PlannedSource
from storage.records.alert import Alert
from storage.records.identity import SourceId
from storage.records.tiers import SourceType

LATE = "timeout: it was not done in time; call again, and the rest is done"


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """One source. failed: `reason` explains it. full: it failed because the library is full."""

    wanted: PlannedSource
    status: Literal["attached_new", "attached_existing", "failed"]
    source: SourceId | None = None
    type: SourceType | None = None
    reason: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class AlertOutcome:
    """One suggested alert. name: its current name, maybe edited. count: its sources, 0 for the whole library."""

    name: str
    status: Literal["created", "exists", "failed"]
    alert: str | None = None
    count: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The results for all sources and alerts, in the template's order."""

    sources: Sequence[SourceOutcome]
    alerts: Sequence[AlertOutcome]

    @property
    def complete(self) -> bool:
        """Whether nothing failed."""
        return not any(source.status == "failed" for source in self.sources) and not any(
            alert.status == "failed" for alert in self.alerts
        )

    @property
    def late(self) -> bool:
        """Whether something ran out of time and is left for the next call."""
        reasons = [source.reason for source in self.sources] + [alert.reason for alert in self.alerts]
        return LATE in reasons


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The expected result: each source with its id if it is watched already, alerts by their keys."""

    sources: Sequence[tuple[PlannedSource, SourceId | None]]
    alerts: Mapping[str, Alert]
