"""What every storage engine promises: SQLite, the simulation's in-memory one, and later PostgreSQL.

`tests/contract` runs one suite over all of them. Three promises carry the product: `append` is one transaction (events
and source states, all or nothing) and its order is the ids' order; a read never outlives its page; durable cursors move
by compare-and-set together with what they caused. A cancelled write may still happen: its caller knows nothing until it
looks. Every write names a `Lease`, whose epoch is the fencing token: a write of an earlier life raises `Fenced`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from storage.append import Answer, Lease, Mint, Stamp
from storage.bins import Bins
from storage.calls import Calls
from storage.damage import Damage
from storage.people import People
from storage.records.alert import Alert
from storage.records.cursor import Bounds, Filter, Held, Page
from storage.records.delivery import (
    Attempt,
    Delivery,
    Freeze,
    Hit,
    Match,
    Outcome,
    Portion,
    Rates,
    Replayed,
    Result,
    Waiting,
)
from storage.records.destination import Destination
from storage.records.event import Stored
from storage.records.identity import Millis, Seq, SourceId
from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.source import FIRST, Harvest, Source, SourceState, Version, Watched
from storage.retention import Room
from storage.tail import Tail


class EventLog(Protocol):
    """The log of events."""

    async def append(self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp) -> Sequence[Answer]:
        """Commit harvests in one transaction and return an answer for each, in order.

        A harvest of a source that no longer exists is skipped whole, and so is a notice that its debtor does not owe:
        neither has events. One that came from another state than the stored one, or whose new source has a URL that is
        watched, is refused alone. Returns only after the data are durable; the caller then publishes to the tail.
        Raises Fenced, DiskFull, Unavailable.
        """

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Take over a part of another instance's log as it is, and its floor, in one transaction; no tail is told.

        The sources need not be watched here. The positions rise, from above `floor` and above all that were given
        here; raises ValueError otherwise, and when events here lie at or below `floor`: nothing has changed then.
        """

    async def save_states(self, states: Sequence[SourceState], lease: Lease) -> None:
        """Save states without events, in one transaction.

        Those of unknown sources are skipped, and those that came from another state than the stored one.
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
        """Return how many events are kept. Reads an index from end to end: for the pruner, not for requests."""

    async def room(self) -> Room:
        """Return about how many bytes the storage takes, all that lies beside the log too, and how many are free."""

    async def held(self, source: SourceId) -> Held:
        """Return what the log holds of a source. Events are counted, bytes reckoned from the newest of them."""

    async def heaviest(self, limit: int) -> Mapping[SourceId, Held]:
        """Return of which sources the log holds most bytes, the heaviest first; of those that have many events.

        Sources that are gone and the service's own notices are among them. Reads an index from end to end.
        """

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Return how many events lie after one position and before another, practice aside. Reads all of them."""

    async def retain(self, before: Seq, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest events before `before`; raise the floor; return how many went."""

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Give at most `limit` free bytes back to the disk; return how many went, 0 when none can."""


class Sources(Protocol):
    """The watched sources."""

    async def add(self, source: Source, state: SourceState, lease: Lease) -> None:
        """Add a source with its first state. Raises Duplicate with the existing one when the URL is watched."""

    async def update(
        self, source: Source, lease: Lease, version: Version = FIRST, state: SourceState | None = None
    ) -> None:
        """Replace what the user asked for, and give its state this version: a harvest that is under way is refused.

        Its state stays, but for what is given. An unknown id is ignored. Raises Duplicate.
        """

    async def delete(self, source: SourceId, lease: Lease) -> None:
        """Forget a source and its state; its events stay in the log."""

    async def get(self, source: SourceId) -> Watched | None:
        """Return one source."""

    async def by_url(self, url: str) -> Source | None:
        """Return the source of a normalised URL."""

    async def page(self, after: SourceId | None, limit: int) -> Sequence[Watched]:
        """Return sources in id order (at start, all of them, page by page)."""


class Keys(Protocol):
    """API keys and signing keys. A change made by another process (the command line) is seen by the next call."""

    async def add(self, key: ApiKey) -> None:
        """Add an API key."""

    async def by_hash(self, sha256: str) -> ApiKey | None:
        """Return the key with this hash, unless it was revoked. On the path of every request: microseconds."""

    async def all(self) -> Sequence[ApiKey]:
        """Return all keys, oldest first."""

    async def revoke(self, key_id: str) -> bool:
        """Delete a key; return whether there was one."""

    async def touch(self, used: Mapping[str, Millis]) -> None:
        """Record when keys were last used (lazily, in batches)."""

    async def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first."""

    async def active_signing(self) -> str | None:
        """Return the id of the active signing key. On the path of every batch of events: microseconds."""

    async def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one and retire the others."""

    async def public(self) -> Sequence[PublicKey]:
        """Return the public halves of keys that are not here, the oldest first: events here were signed with them.

        They are other instances', or have been given up with the master key that sealed them.
        """

    async def add_public(self, keys: Sequence[PublicKey]) -> None:
        """Keep public halves of keys, for good; one that is there already stays as it is."""


class Alerts(Protocol):
    """Alerts and their destinations.

    What is written beside them while they work (`match_count`, `last_match_at`, `last_delivery_at`) is taken from a
    record when it is added, and never again: only `Work` moves it.
    """

    async def put(self, alert: Alert) -> None:
        """Add or replace an alert."""

    async def edit(self, alert_id: str, change: Callable[[Alert], Alert]) -> Alert | None:
        """Replace an alert by what `change` makes of it, in one transaction; return the new one, None if unknown.

        `change` is pure and may run in a thread. Two edits at once are both done, one after the other. What it raises
        is raised here, and nothing has changed.
        """

    async def revision(self) -> int:
        """Return how often what is matched and delivered to was written: each such write raises it, in its transaction.

        What a destination's own deliveries note in it (failures, what it has missed) does not count.
        """

    async def changed_at(self) -> Seq:
        """Return the log's newest position when the revision was raised last: up to there, the one before holds."""

    async def get(self, alert_id: str) -> Alert | None:
        """Return one alert."""

    async def all(self) -> Sequence[Alert]:
        """Return all alerts, oldest first."""

    async def matched(self, alert_ids: Sequence[str], days: Sequence[int]) -> Mapping[str, Mapping[int, int]]:
        """Return how many events each alert has met on each of these days (UTC, counted from 1970-01-01).

        Days and alerts without any are absent. The newest `KEPT_DAYS` are known.
        """

    async def delete(self, alert_id: str, check: Callable[[Alert], None] = lambda _: None) -> bool:
        """Delete an alert with its destinations and their waiting deliveries; return whether there was one.

        `check` is as `change` is in `edit`: by raising, it refuses.
        """

    async def put_destination(self, destination: Destination) -> None:
        """Add or replace a destination."""

    async def edit_destination(
        self, destination_id: str, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Replace a destination by what `change` makes of it; as `edit` does."""

    async def destination(self, destination_id: str) -> Destination | None:
        """Return one destination."""

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        """Return the destinations of an alert, or all."""

    async def delete_destination(
        self, destination_id: str, check: Callable[[Destination], None] = lambda _: None
    ) -> bool:
        """Delete a destination and its waiting deliveries; return whether there was one. `check` as in `delete`."""


class Work(Protocol):
    """Durable cursors and the outbox."""

    async def cursor(self, name: str) -> Seq | None:
        """Return a durable cursor, or None when it has never been set."""

    async def advance(
        self,
        name: str,
        expect: Seq | None,
        to: Seq,
        matches: Sequence[Match],
        lease: Lease,
        *,
        hits: Sequence[Hit] = (),
        revision: int | None = None,
    ) -> None:
        """Move a cursor and write what it caused, in one transaction: rows of the outbox, and what alerts have met.

        A match already in the outbox, or for a destination that is gone, is skipped. Raises CursorMoved when the
        cursor is not at `expect`, and AlertsMoved when a `revision` is given and the alerts have another.
        """

    async def enqueue(self, matches: Sequence[Match], lease: Lease, *, replayed: Replayed | None = None) -> int:
        """Put rows into the outbox that are not there and whose destination is; return how many.

        In the same transaction, what was `replayed` is no longer missed: of its `matches`, up to the first that
        neither waits now nor has a line among the attempts that says `sent`.
        """

    async def claim(
        self, destination: str, now: Millis, limit: int, lease: Lease, *, digests: bool = False
    ) -> Sequence[Delivery]:
        """Return due rows of a destination, oldest first, whose event is still in the log; counts the attempt durably.

        A row that carries a digest comes with the digest's id and body; with `digests`, only such rows come. Rows stay
        claimed until settled; `release` at start returns those of an earlier life.
        """

    async def clamp(self, destination: str, now: Millis, latest: Callable[[int], Millis], lease: Lease) -> int:
        """Make due now what waits for longer than it may, by the number of its attempts; return how many rows did.

        A clock that was ahead has left them so. What was first due in the future, was first due now.
        """

    async def settle(self, outcomes: Sequence[Outcome], lease: Lease) -> None:
        """Record outcomes: `sent` and `given_up` leave the outbox, `retry` becomes due again at `retry_at`.

        Only of rows that this lease has claimed: of what another has taken over, nothing is written.
        What is given up is missed from then on (`Destination.missed_after`).
        """

    async def gathered_since(self, destination: str) -> Millis | None:
        """Return when the earliest row was first due that waits and is in no digest."""

    async def freeze(self, destination: str, portion: Portion, freeze: Freeze, lease: Lease) -> int:
        """Make one digest of a portion of the rows that wait, oldest first; return of how many, 0 when there are none.

        In one transaction the last of these rows takes on the digest, due at the portion's end, and the others leave;
        rows whose event is gone from the log are given up.
        """

    async def release(self, lease: Lease, *, destination: str | None = None, held: Sequence[Seq] = ()) -> int:
        """Make every claimed row due again (at start, after a crash); return how many.

        With `destination`, only its rows, and of them only those that are not `held`.
        """

    async def next_due(self, destination: str, *, digests: bool = False) -> Millis | None:
        """Return when a destination's earliest waiting row is due; with `digests`, of those that carry one."""

    async def backlog(self, destination: str) -> int:
        """Return how many rows wait or are claimed."""

    async def waiting(self, destinations: Sequence[str]) -> Mapping[str, Waiting]:
        """Return what waits for each, claimed or not; for whom nothing waits is absent."""

    async def attempts(
        self, destination: str, limit: int, result: Result | None = None, before: int | None = None
    ) -> Sequence[Attempt]:
        """Return the newest attempts first, all or those of one result, or only those with a number below `before`."""

    async def rates(self, destinations: Sequence[str]) -> Mapping[str, Rates]:
        """Return the rates of each; who has no attempts is absent."""


class Storage(Protocol):
    """One opened engine. `tail` is published to by whoever appends."""

    @property
    def log(self) -> EventLog:
        """The log of events."""

    @property
    def sources(self) -> Sources:
        """The watched sources."""

    @property
    def keys(self) -> Keys:
        """API keys and signing keys."""

    @property
    def alerts(self) -> Alerts:
        """Alerts and destinations."""

    @property
    def bins(self) -> Bins:
        """Webhook bins."""

    @property
    def work(self) -> Work:
        """Durable cursors and the outbox."""

    @property
    def calls(self) -> Calls:
        """Calls that may be repeated."""

    @property
    def people(self) -> People:
        """Who may use the dashboard."""

    @property
    def tail(self) -> Tail:
        """The newest events, and the wake-up of all cursors. Filled by `follow`."""

    async def follow(self) -> None:
        """Show readers what is committed, in order, until cancelled; one task. Waits out what can't be read."""

    @property
    def damage(self) -> Damage:
        """What is known of damage to the data; whoever met it was told by Corrupt."""

    @property
    def lease(self) -> Lease:
        """The lease of this start."""

    def writer_moved_at(self) -> float:
        """Return when the writer last finished something or was idle, on trio's clock (for /healthz)."""

    async def wait_ended(self) -> str:
        """Wait until nothing can be written any more for as long as this is open; return why, nothing at a close."""

    def stands(self) -> bool:
        """Return whether what is open is what a next start would find: not when its folder was deleted or replaced."""

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each of its files by what they hold; nothing when it has none."""

    async def aclose(self) -> None:
        """Finish the writes under way, fsync, close. Safe to call twice."""
