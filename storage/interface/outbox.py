"""The outbox, the durable cursors, and the results of deliveries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from storage.append import Lease
from storage.records.destination import (
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
    """An outbox row claimed by the start with this number."""

    destination: str
    seq: Seq
    start: int


class Outbox(Protocol):
    """Durable cursors and the outbox."""

    async def cursor(self, name: str) -> Seq | None:
        """Return a durable cursor, None if never set."""

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
        """Move a cursor and write its effects in one transaction: outbox rows, and what alerts matched.

        Stories are kept for at least two weeks from their first event; the first matched event of each counts.

        Skips matches already in the outbox or for a deleted destination. Raises CursorMoved if the cursor is not at
        `expect`, and AlertsMoved if a `revision` is given and the alerts have another.
        """

    async def met(self, story: Seq) -> Mapping[str, Seq]:
        """Return the matched event of a story for each alert that matches once per story."""

    async def enqueue(self, matches: Sequence[Match], lease: Lease, *, replayed: Replayed | None = None) -> int:
        """Add rows to the outbox unless present or without a destination; return how many.

        In the same transaction the `replayed` range stops being missed. If it has `matches`, the range ends before the
        first of them that neither waits now nor has a `sent` attempt.
        """

    async def claim(
        self, destination: str, now: Millis, limit: int, lease: Lease, *, digests: bool = False
    ) -> Sequence[Delivery]:
        """Return due rows of a destination, oldest first, whose event is still in the log. Counts the attempt durably.

        A row of a digest has the digest's id and body; with `digests`, only such rows are returned. Rows stay claimed
        until settled; `release` at start frees those of an earlier start.
        """

    async def clamp(self, destination: str, now: Millis, latest: Callable[[int], Millis], lease: Lease) -> int:
        """Make rows due now that wait longer than allowed for their number of attempts; return how many.

        A clock that was ahead leaves such rows. A first due time in the future becomes now.
        """

    async def settle(self, outcomes: Sequence[Outcome], lease: Lease) -> None:
        """Record outcomes: `sent` and `given_up` leave the outbox, `retry` becomes due again at `retry_at`.

        Skips rows that this lease has not claimed, such as those taken over by another.
        A given-up match is missed from then on (`Destination.missed_after`).
        """

    async def gathered_since(self, destination: str) -> Millis | None:
        """Return the earliest first due time of the waiting rows that are in no digest."""

    async def freeze(self, destination: str, portion: Portion, freeze: Freeze, lease: Lease) -> int:
        """Make one digest from waiting rows within `portion`, oldest first; return of how many, 0 if there are none.

        In one transaction the last of these rows becomes the digest, due at the portion's end, and the others are
        removed; rows whose event has left the log are given up. With fewer rows than `least` nothing happens.
        """

    async def claims_of_others(self, destinations: Sequence[str], lease: Lease) -> Sequence[Claim]:
        """Return the rows that other starts have claimed and not settled. Takes some hundreds of destinations."""

    async def put_back(self, claims: Sequence[Claim], lease: Lease) -> int:
        """Make rows due again if these starts still hold the claims; return how many."""

    async def release(self, lease: Lease, *, destination: str | None = None, held: Sequence[Seq] = ()) -> int:
        """Make every claimed row due again (at start, after a crash); return how many.

        With `destination`, only its rows except those in `held`.
        """

    async def next_due(self, destination: str, *, digests: bool = False) -> Millis | None:
        """Return when a destination's earliest waiting row is due; with `digests`, counting digests only."""

    async def backlog(self, destination: str) -> int:
        """Return how many rows wait or are claimed."""

    async def due(self, now: Millis) -> Sequence[str]:
        """Return the destinations with a row that is due and unclaimed."""

    async def first_waiting(self, destination: str) -> Seq | None:
        """Return the position of the earliest waiting event, claimed or not, in a digest or alone."""

    async def waiting(self, destinations: Sequence[str]) -> Mapping[str, Waiting]:
        """Return the waiting deliveries of each, claimed or not; a destination without any is absent."""

    async def attempts(
        self, destination: str, limit: int, result: Result | None = None, before: int | None = None
    ) -> Sequence[Attempt]:
        """Return attempts, newest first: all, those with one result, or those with a number below `before`."""

    async def rates(self, destinations: Sequence[str]) -> Mapping[str, Rates]:
        """Return the rates of each; a destination without attempts is absent."""
