"""The event log: what is appended, read and let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.append import Answer, Lease, Mint, Stamp, Stories
from storage.records.cursor import Bounds, Filter, Page, SourceSize
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId
from storage.records.kept_cookies import StoredJar
from storage.records.source import Harvest, SourceState
from storage.retention import FreeSpace


class EventLog(Protocol):
    """The log of events."""

    async def append(
        self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, stories: Stories | None = None
    ) -> Sequence[Answer]:
        """Commit harvests in one transaction and return an answer for each, in order.

        A harvest of a source that no longer exists is skipped whole, and so are a notice that its debtor does not owe
        and a heartbeat that does not follow the newest: none has events. One that came from another state than the
        stored one, or whose new source has a URL that is watched, is refused alone. With `stories`, a draft is stamped
        with its story, also where that began in this transaction. Returns only after the data are durable; the caller
        then publishes to the tail.
        Raises Fenced, DiskFull, Unavailable.
        """

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Take over a part of another instance's log as it is, and its floor, in one transaction; no tail is told.

        The sources need not be watched here. The positions rise, from above `floor` and above all that were given
        here; raises ValueError otherwise, and when events here lie at or below `floor`: nothing has changed then.
        """

    async def save_states(self, states: Sequence[SourceState], lease: Lease, jars: Sequence[StoredJar] = ()) -> None:
        """Save states without events, and cookies, in one transaction.

        States of unknown sources are skipped, and those that came from another state than the stored one. Cookies, also
        those of the states, are written over older ones, whatever state is stored: see `storage.records.kept_cookies`.
        """

    async def read(self, after: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return up to `limit` (1 to 500) events after `after`, oldest first, after a look at `budget` rows at most.

        A page is full by its bytes too: 1 MiB, and the event that reaches it.
        """

    async def read_back(self, before: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return events before `before`, newest first; `scanned` is the lowest position looked at (0 at the end)."""

    async def get(self, event_id: str) -> Stored | None:
        """Return one event, or None. An id that is not a UUIDv7 gives None."""

    async def bounds(self) -> Bounds:
        """Return the log's ends."""

    async def count(self) -> int:
        """Return how many events are kept, heartbeats aside. Reads an index from end to end: for the pruner, not for
        requests.
        """

    async def heartbeat(self) -> Stored | None:
        """Return the newest heartbeat that is kept."""

    async def forget_heartbeats(self, before: Seq, keep: int, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest heartbeats before `before`, all but the newest `keep`; the floor stays.

        Return how many went.
        """

    async def room(self) -> FreeSpace:
        """Return about how many bytes the storage takes, all that lies beside the log too, and how many are free."""

    async def held(self, source: SourceId) -> SourceSize:
        """Return what the log holds of a source. Events are counted, bytes reckoned from the newest of them."""

    async def heaviest(self, limit: int) -> Mapping[SourceId, SourceSize]:
        """Return of which sources the log holds most bytes, the heaviest first; of those that have many events.

        Sources that are gone and the service's own notices are among them. Reads an index from end to end.
        """

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Return how many events lie between two positions, practice and heartbeats aside. Reads all of them."""

    async def retain(self, before: Seq, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest events before `before`; raise the floor; return how many went."""

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Give at most `limit` free bytes back to the disk; return how many went, 0 when none can."""
