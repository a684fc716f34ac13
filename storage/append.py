"""The terms of an append (whose right, which ids, whose signature) and its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from storage.errors import Duplicate, StateMoved, StorageError
from storage.records.event import Draft, Stored
from storage.records.identity import Seq, SourceId


class Lease(NamedTuple):
    """The right to write a shard. SQLite has one shard; its epoch is the number of this start."""

    shard: int
    owner: str
    epoch: int


Answer = Sequence[Stored] | StateMoved | Duplicate
"""What became of a harvest: its events in order, or why it was refused."""


def events_of(answers: Sequence[Answer]) -> list[Stored]:
    """Return the events of all harvests that were not refused, in order."""
    return [event for answer in answers if not isinstance(answer, StorageError) for event in answer]


Stamp = Callable[[Seq, str, SourceId, Draft], bytes]
"""Makes the signed wire JSON of an event from its position, id, source and draft. Pure; may run in a thread."""


Marks = Sequence[int]
"""What other events of the same story probably have, too: integers of 48 bits."""


class Stories(Protocol):
    """Says which story an event is of. Pure; may run in a thread."""

    def marks(self, draft: Draft) -> Marks:
        """Return a draft's marks; none for what can be of no story but its own."""

    def marks_of(self, event: Stored) -> Marks:
        """Return the marks that the draft of an event had."""

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        """Return the id of a story's first event, "" for a new story. `earlier` have a mark of the draft's."""


class Mint(Protocol):
    """Gives positions and ids in commit order; called by the engine inside its transaction only."""

    def raise_floor(self, floor: Seq) -> None:
        """Never mint at or below `floor` from now on."""

    def mint(self) -> tuple[Seq, str]:
        """Return the next position and its UUIDv7."""
