"""The report of an instantiation, done or tried. Records only; `api/v1/templates.py` has the wire's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from actors.templates.expansion import PlannedSource
from storage.records.alert import Alert
from storage.records.identity import SourceId
from storage.records.tiers import SourceType

LATE = "timeout: it was not done in time; call again, and the rest is done"


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """One source. failed: `reason` says why. full: it failed because no more sources may be watched."""

    wanted: PlannedSource
    status: Literal["attached_new", "attached_existing", "failed"]
    source: SourceId | None = None
    type: SourceType | None = None
    reason: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class AlertOutcome:
    """One suggested alert. name: as its owner may have changed it. count: its sources, 0 for the whole library."""

    name: str
    status: Literal["created", "exists", "failed"]
    alert: str | None = None
    count: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all of it, sources and alerts in the template's order."""

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
        """Whether something was not done in time, and may be done by the next call."""
        reasons = [source.reason for source in self.sources] + [alert.reason for alert in self.alerts]
        return LATE in reasons


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an instantiation would find: each source with its id if it is watched already, alerts by their keys."""

    sources: Sequence[tuple[PlannedSource, SourceId | None]]
    alerts: Mapping[str, Alert]
