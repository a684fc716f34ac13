"""The event log: append, read and delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.append import Answer, Lease, Mint, Stamp, Stories
from storage.records.event import Bounds, Filter, Page, SourceSize, Stored
from storage.records.identity import Seq, SourceId
from storage.records.source import Harvest, SourceState, StoredJar
from storage.retention import FreeSpace


class EventLog(Protocol):
    """The event log."""

    async def append(
        self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, stories: Stories | None = None
    ) -> Sequence[Answer]:
        """Commit harvests in one transaction and return an answer for each, in order.

        These harvests are skipped and have no events: those of deleted sources, a notice that its debtor does not owe,
        a heartbeat that does not follow the newest. A harvest is refused alone if it derives from another state than
        the stored one, or if its new source's URL is already watched. With `stories`, each draft is stamped with its
        story, even one that began in this transaction. Returns only after the data are durable.
        Raises Fenced, DiskFull, Unavailable.
        """

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Import a part of another instance's log unchanged, with its floor, in one transaction, without publishing.

        The sources need not be watched here. Positions must rise from above `floor` and above all positions assigned
        here. Raises ValueError and changes nothing otherwise, or if events here are at or below `floor`.
        """

    async def save_states(self, states: Sequence[SourceState], lease: Lease, jars: Sequence[StoredJar] = ()) -> None:
        """Save states without events, and cookies, in one transaction.

        Skips states of unknown sources, and those that derive from another state than the stored one. Cookies, also
        those in the states, overwrite older ones, whatever state is stored: see `storage.records.source`.
        """

    async def read(self, after: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return up to `limit` (1 to 500) events after `after`, oldest first. Reads at most `budget` rows.

        A page also ends with the event that brings it to 1 MiB.
        """

    async def read_back(self, before: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return events before `before`, newest first. `scanned` is the lowest position read (0 at the end)."""

    async def get(self, event_id: str) -> Stored | None:
        """Return one event; None if unknown or if the id is not a UUIDv7."""

    async def bounds(self) -> Bounds:
        """Return the log's ends."""

    async def count(self) -> int:
        """Count stored events without heartbeats. Scans a whole index: for the pruner, not for requests."""

    async def heartbeat(self) -> Stored | None:
        """Return the newest stored heartbeat."""

    async def forget_heartbeats(self, before: Seq, keep: int, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest heartbeats before `before`, but keep the newest `keep`; return how many.

        The floor does not change.
        """

    async def room(self) -> FreeSpace:
        """Return approximately how many bytes the storage takes, including other tables, and how many are free."""

    async def held(self, source: SourceId) -> SourceSize:
        """Return a source's share of the log. Events are counted; bytes are estimated from the newest ones."""

    async def heaviest(self, limit: int) -> Mapping[SourceId, SourceSize]:
        """Return the sources with most bytes in the log, heaviest first; only sources with many events.

        Includes deleted sources and the service's own notices. Scans a whole index.
        """

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Count the events between two positions, without practice and heartbeats. Reads all of them."""

    async def retain(self, before: Seq, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest events before `before`; raise the floor; return how many."""

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Return at most `limit` free bytes to the disk; return how many, 0 if none can be."""
