"""The outbox, the durable cursors, and what became of deliveries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from storage.append import Lease
from storage.records.delivery import (
    Attempt,
    Delivery,
    Freeze,
    Hit,
    Match,
    Met,
    Outcome,
    Portion,
    Rates,
    Replayed,
    Result,
    Waiting,
)
from storage.records.identity import Millis, Seq


class Claim(NamedTuple):
    """A row of the outbox that the start of this number has claimed."""

    destination: str
    seq: Seq
    start: int


class Outbox(Protocol):
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
        met: Sequence[Met] = (),
        revision: int | None = None,
    ) -> None:
        """Move a cursor and write what it caused, in one transaction: rows of the outbox, and what alerts have met.

        Stories are kept for two weeks at least, from their first event on; the first event met of each counts.

        A match already in the outbox, or for a destination that is gone, is skipped. Raises CursorMoved when the
        cursor is not at `expect`, and AlertsMoved when a `revision` is given and the alerts have another.
        """

    async def met(self, story: Seq) -> Mapping[str, Seq]:
        """Return the event of a story that each alert has met which meets each once."""

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
        rows whose event is gone from the log are given up. With fewer rows than `least` nothing happens.
        """

    async def claims_of_others(self, destinations: Sequence[str], lease: Lease) -> Sequence[Claim]:
        """Return the rows of some hundreds of destinations that other starts have claimed and not settled."""

    async def put_back(self, claims: Sequence[Claim], lease: Lease) -> int:
        """Make rows due again that are still claimed by these starts; return how many."""

    async def release(self, lease: Lease, *, destination: str | None = None, held: Sequence[Seq] = ()) -> int:
        """Make every claimed row due again (at start, after a crash); return how many.

        With `destination`, only its rows, and of them only those that are not `held`.
        """

    async def next_due(self, destination: str, *, digests: bool = False) -> Millis | None:
        """Return when a destination's earliest waiting row is due; with `digests`, of those that carry one."""

    async def backlog(self, destination: str) -> int:
        """Return how many rows wait or are claimed."""

    async def due(self, now: Millis) -> Sequence[str]:
        """Return the destinations that have a row which is due and nobody has claimed."""

    async def first_waiting(self, destination: str) -> Seq | None:
        """Return the position of the earliest event that waits, claimed or not, in a digest or by itself."""

    async def waiting(self, destinations: Sequence[str]) -> Mapping[str, Waiting]:
        """Return what waits for each, claimed or not; a destination for which nothing waits is absent."""

    async def attempts(
        self, destination: str, limit: int, result: Result | None = None, before: int | None = None
    ) -> Sequence[Attempt]:
        """Return the newest attempts first, all or those of one result, or only those with a number below `before`."""

    async def rates(self, destinations: Sequence[str]) -> Mapping[str, Rates]:
        """Return the rates of each; a destination without attempts is absent."""
