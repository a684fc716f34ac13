"""A destination's claims and outcomes, until both are in storage. They survive crashes of its actor.

A claim is durable before anything is sent, an outcome after it. If storage leaves open whether a claim succeeded, its
possible rows are released before the next claim; otherwise unheld rows would wait for the next start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import trio

from actors.world import World
from storage.errors import DestinationMoved, Unavailable
from storage.records.destination import Delivery, Destination, Outcome
from storage.records.identity import Seq
from storage.sql.storage import Storage

COMMIT_DEADLINE = 30.0
"""Seconds for one write, which a cancellation does not interrupt."""


class Claims:
    """held: claims without an outcome."""

    def __init__(self, destination: str, world: World, storage: Storage) -> None:
        self._destination, self._world, self._storage = destination, world, storage
        self.held: dict[Seq, Delivery] = {}
        self._outcomes: list[Outcome] = []
        self._unsure = False

    def __repr__(self) -> str:
        return f"<Claims of {self._destination}: {len(self.held)} held, {len(self._outcomes)} to write down>"

    async def claim(self, most: int, *, digests: bool, known: Destination | None = None) -> Sequence[Delivery]:
        """Claim due deliveries, durably; see Outbox. Raises DestinationMoved, DiskFull, Unavailable."""
        work, lease, claimed = self._storage.outbox, self._storage.lease, list[Delivery]()
        with trio.move_on_after(COMMIT_DEADLINE, shield=True):
            self._unsure = True
            try:
                now = self._world.now()
                claimed += await work.claim(self._destination, now, most, lease, digests=digests, known=known)
            except DestinationMoved:
                self._unsure = False
                raise
            self._unsure = False
        if self._unsure:
            raise Unavailable(f"no claim within {COMMIT_DEADLINE:.0f} s")
        for each in claimed:
            self.held[each.seq] = each
        return claimed

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        """Give back claims that have not started; the next `mend` makes them due again."""
        for delivery in deliveries:
            del self.held[delivery.seq]
            self._unsure = True

    async def mend(self) -> None:
        """Release the possible rows of an unfinished claim. Raises DiskFull, Unavailable."""
        if self._unsure:
            work, lease = self._storage.outbox, self._storage.lease
            settling = (outcome.seq for outcome in self._outcomes)
            await work.release(lease, destination=self._destination, held=(*self.held, *settling))
            self._unsure = False

    def note(self, outcome: Outcome) -> None:
        """Take a delivery's outcome; `write` makes it durable."""
        del self.held[outcome.seq]
        self._outcomes.append(outcome)

    async def write(self, *, may_wait: bool = False) -> None:
        """Store all known outcomes in one transaction. If it raises DiskFull or Unavailable, they are kept."""
        if not self._outcomes:
            return
        batch = tuple(self._outcomes)
        with trio.move_on_after(COMMIT_DEADLINE, shield=True) as patience:
            await self._storage.outbox.settle(batch, self._storage.lease, may_wait=may_wait)
            del self._outcomes[: len(batch)]
        if patience.cancelled_caught:
            raise Unavailable(f"outcomes not written within {COMMIT_DEADLINE:.0f} s")
        self._world.reach("delivery/after settle")
