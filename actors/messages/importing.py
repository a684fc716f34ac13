"""Messages to the importer of lists of sources. Records only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from actors.outline import FeedLine
from storage.records.identity import Millis, SourceId
from supervision import Reply


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
        """Return how many lines have each status."""
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
