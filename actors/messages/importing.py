"""Messages between the importer and those who ask it to add a whole list of sources. Nothing here does anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from actors.outline import FeedLine
from storage.records.identity import Millis, SourceId
from supervision import Reply


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one line of a list. `says`: the evidence for what it is, or why it is not watched."""

    line: FeedLine
    status: Literal["waiting", "new", "there", "failed"] = "waiting"
    source: SourceId | None = None
    says: str = ""
    full: bool = False
    """The library has no room for more."""


@dataclass(frozen=True, slots=True)
class Importing:
    """A list that is being added, or was; `ended_at` None while it is."""

    id: str
    begun_at: Millis
    ended_at: Millis | None = None
    rows: tuple[Imported, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return how many lines have which status."""
        names = ("waiting", "new", "there", "failed")
        return {name: sum(row.status == name for row in self.rows) for name in names}


@dataclass(frozen=True, slots=True)
class BeginImport:
    """Add these, one after the other. Fails with Conflict while another list is being added."""

    lines: Sequence[FeedLine]
    reply: Reply[Importing]


@dataclass(frozen=True, slots=True)
class ShowImport:
    """Return how the import goes, or how the last one went; None when there was none since the start."""

    reply: Reply[Importing | None]


@dataclass(frozen=True, slots=True)
class StopImport:
    """Add no more of the list; what is under way may be added yet."""

    reply: Reply[None]


ImportMessage = BeginImport | ShowImport | StopImport
