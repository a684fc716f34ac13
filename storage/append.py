"""The terms of an append (lease, ids, signature), its answers, and a recent event, held in memory for streams."""

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


Answer = Sequence[Stored] | StateMoved | Duplicate  # the answer to a harvest: its events in order, or the refusal


def events_of(answers: Sequence[Answer]) -> list[Stored]:
    return [event for answer in answers if not isinstance(answer, StorageError) for event in answer]


Stamp = Callable[[Seq, str, SourceId, Draft], bytes]
"""Makes the signed wire JSON of an event from its position, id, source and draft. Pure; may run in a thread."""


Marks = Sequence[int]  # 48-bit integers that other events of the same story probably share


class Stories(Protocol):
    """Finds the story of an event. Pure; may run in a thread."""

    def marks(self, draft: Draft) -> Marks:
        """Return a draft's marks; none if it can only be its own story."""

    def marks_of(self, event: Stored) -> Marks:
        """Return the marks of an event's draft."""

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        """Return the id of the story's first event, "" for a new story. `earlier`: events that share a mark."""


class Mint(Protocol):
    """Assigns positions and ids in commit order; the engine calls it only inside its transaction."""

    def raise_floor(self, floor: Seq) -> None:
        """Never mint at or below `floor` from now on."""

    def mint(self) -> tuple[Seq, str]:
        """Return the next position and its UUIDv7."""


class Recent:
    """An event in the ring. `frame` caches its encoding, made once for all streams."""

    __slots__ = ("frame", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.frame: bytes | None = None

    def __repr__(self) -> str:
        return f"Recent(seq={self.stored.seq})"
