"""The disk of a simulated machine: what is durable, and what a crash takes away.

Tables are plain dicts and append-only lists of frozen records: nothing is ever copied, and a read costs a bisection.
Writes come only through `writer.py`, as whole commits.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from storage.errors import DiskFull, Fenced, Unavailable
from storage.interface import Lease
from storage.records.alert import Alert
from storage.records.bin import Bin, Kept
from storage.records.delivery import Attempt
from storage.records.destination import Destination
from storage.records.event import Stored
from storage.records.identity import START, Millis, Seq, SourceId
from storage.records.kept_call import KeptCall
from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.session import Password, Session, SetUpLink
from storage.records.source import Watched

Apply = Callable[[], None]
"""Makes one commit durable: all of its changes, without awaiting."""


@dataclass(slots=True)
class Row:
    """A row of the outbox."""

    due: Millis
    first_due: Millis
    attempts: int = 0
    claimed: bool = False
    event_id: str = ""
    digest: tuple[str, bytes] | None = None
    """The id and body of the digest that this row carries."""


@dataclass(slots=True, eq=False)
class Disk:
    """What outlives a life. `full` refuses every write; `epoch` counts the lives and fences off all but the newest.

    silent: a write ends as Unavailable, before it has happened or after.
    outbox: the rows of each destination by position; attempts: its lines, oldest first.
    matched: how many events each alert has met, by day.
    captures: those of each bin, oldest first.
    pending: commits that are written but not synced, oldest first.
    """

    full: bool = False
    silent: Literal["no", "before", "after"] = "no"
    epoch: int = 0
    floor: Seq = START
    seqs: list[Seq] = field(default_factory=list)
    events: list[Stored] = field(default_factory=list)
    sources: dict[SourceId, Watched] = field(default_factory=dict)
    source_ids: list[SourceId] = field(default_factory=list)
    urls: dict[str, SourceId] = field(default_factory=dict)
    keys: dict[str, ApiKey] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    signing: list[SigningKey] = field(default_factory=list)
    public: dict[str, PublicKey] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    matched: dict[str, dict[int, int]] = field(default_factory=dict)
    destinations: dict[str, Destination] = field(default_factory=dict)
    cursors: dict[str, Seq] = field(default_factory=dict)
    outbox: dict[str, dict[Seq, Row]] = field(default_factory=dict)
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    bins: dict[str, Bin] = field(default_factory=dict)
    captures: dict[str, list[Kept]] = field(default_factory=dict)
    calls: dict[str, KeptCall] = field(default_factory=dict)
    password: Password | None = None
    link: SetUpLink | None = None
    sessions: dict[str, Session] = field(default_factory=dict)
    pending: list[Apply] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Disk(epoch={self.epoch}, events={len(self.seqs)}, pending={len(self.pending)}, full={self.full})"

    def start(self, owner: str) -> Lease:
        """Begin a life: the lease that its storage is made with. Earlier lives are fenced off."""
        self.epoch += 1
        return Lease(0, owner, self.epoch)

    def crash(self, chance: random.Random | None = None) -> None:
        """End every life at once, as `kill -9` or a power cut does: what it still writes raises Fenced.

        Commits that were not synced are lost; with `chance`, a prefix of them is kept, always of whole commits.
        """
        kept = chance.randint(0, len(self.pending)) if chance is not None else 0
        for apply in self.pending[:kept]:
            apply()
        self.pending.clear()
        self.epoch += 1

    def check(self, lease: Lease) -> None:
        """Refuse a write that can't be. Raises Fenced, DiskFull."""
        if lease.epoch != self.epoch:
            raise Fenced(f"life {self.epoch} owns the data now, not life {lease.epoch} ({lease.owner})")
        if self.full:
            raise DiskFull("the disk is full")
        if self.silent == "before":
            raise Unavailable("the disk does not answer")

    def head(self) -> Seq:
        """Return the newest position that anyone may have seen."""
        return self.seqs[-1] if self.seqs else self.floor

    def index_after(self, seq: Seq) -> int:
        """Return the index of the first event after a position."""
        return bisect_right(self.seqs, seq)

    def event_at(self, seq: Seq) -> Stored | None:
        """Return the event at a position."""
        at = bisect_right(self.seqs, seq) - 1
        return self.events[at] if at >= 0 and self.seqs[at] == seq else None

    def append(self, events: Sequence[Stored]) -> None:
        """Add committed events, which come in order."""
        self.seqs.extend(event.seq for event in events)
        self.events.extend(events)
