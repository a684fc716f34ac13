"""A destination's claims and outcomes, until both are in storage. They survive crashes of its actor.

A claim is durable before anything is sent, an outcome after it. If storage leaves open whether a claim succeeded, its
possible rows are released before the next claim; otherwise unheld rows would wait for the next start.

When the window of a destination with digests has closed, its waiting rows are frozen into one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import trio

from actors.delivery.digest import GRACE, MOST_BYTES, MOST_EVENTS, DigestWindow, digest_body, window_of
from actors.world import World
from storage.errors import DestinationMoved, Unavailable
from storage.records.destination import Delivery, Destination, Outcome, Portion
from storage.records.identity import COUNTER_BITS, Millis, Seq, id_of, seq_at
from storage.sql.storage import Storage

COMMIT_DEADLINE = 30.0
"""Seconds for one write, which a cancellation does not interrupt."""


class Claims:
    """held: claims without an outcome."""

    def __init__(self, destination: str, world: World, storage: Storage) -> None:
        self._destination, self._world, self._storage = destination, world, storage
        self.held: dict[Seq, Delivery] = {}
        self._outcomes: list[Outcome] = []
        self._is_unconfirmed = False

    async def claim(self, most: int, *, digests: bool, known: Destination | None = None) -> Sequence[Delivery]:
        """Claim due deliveries, durably; see Outbox. Raises DestinationMoved, DiskFull, Unavailable."""
        outbox, lease, claimed = self._storage.outbox, self._storage.lease, list[Delivery]()
        with trio.move_on_after(COMMIT_DEADLINE, shield=True):
            self._is_unconfirmed = True
            try:
                now = self._world.now()
                claimed += await outbox.claim(self._destination, now, most, lease, digests=digests, known=known)
            except DestinationMoved:
                self._is_unconfirmed = False
                raise
            self._is_unconfirmed = False
        if self._is_unconfirmed:
            raise Unavailable(f"no claim within {COMMIT_DEADLINE:.0f} s")
        for each in claimed:
            self.held[each.seq] = each
        return claimed

    def give_up(self, deliveries: Iterable[Delivery]) -> None:
        """Give back claims that have not started; the next `release_unconfirmed` makes them due again."""
        for delivery in deliveries:
            del self.held[delivery.seq]
            self._is_unconfirmed = True

    async def release_unconfirmed(self) -> None:
        """Release the possible rows of an unfinished claim. Raises DiskFull, Unavailable."""
        if self._is_unconfirmed:
            outbox, lease = self._storage.outbox, self._storage.lease
            unsaved = (outcome.seq for outcome in self._outcomes)
            await outbox.release(lease, destination=self._destination, held=(*self.held, *unsaved))
            self._is_unconfirmed = False

    def record(self, outcome: Outcome) -> None:
        """Take a delivery's outcome; `write` makes it durable."""
        del self.held[outcome.seq]
        self._outcomes.append(outcome)

    async def write(self, *, may_wait: bool = False) -> None:
        """Store all known outcomes in one transaction. If it raises DiskFull or Unavailable, they are kept."""
        if not self._outcomes:
            return
        batch = tuple(self._outcomes)
        with trio.move_on_after(COMMIT_DEADLINE, shield=True) as scope:
            await self._storage.outbox.settle(batch, self._storage.lease, may_wait=may_wait)
            del self._outcomes[: len(batch)]
        if scope.cancelled_caught:
            raise Unavailable(f"outcomes not written within {COMMIT_DEADLINE:.0f} s")
        self._world.reach("delivery/after settle")


class DigestCollector:
    """A destination's windows. `next_close`: the end of the open one; None before the first check, or if instant."""

    def __init__(self, world: World, storage: Storage, chance: random.Random) -> None:
        self._world, self._storage, self._chance = world, storage, chance
        self._open: DigestWindow | None = None

    @property
    def next_close(self) -> Millis | None:
        return None if self._open is None else Millis(self._open.end + GRACE)

    async def freeze_closed(self, record: Destination) -> None:
        """Freeze a digest of every closed window; in instant mode, of more waiting rows than `most_at_once`."""
        if record.delivery_mode == "instant":
            self._open = None
            if record.most_at_once and await self._storage.outbox.backlog(record.id) > record.most_at_once:
                window = DigestWindow(Millis(0), Millis(self._world.now() + 1))
                while await self._freeze(record, window, least=record.most_at_once + 1):
                    pass
            return
        current = window_of(record, Millis(self._world.now() - GRACE))
        if current == self._open:
            return
        since = await self._storage.outbox.gathered_since(record.id)
        while since is not None and since < current.start:
            await self._freeze(record, window_of(record, since))
            since = await self._storage.outbox.gathered_since(record.id)
        self._open = current

    async def _freeze(self, record: Destination, window: DigestWindow, least: int = 1) -> int:
        position = seq_at(self._world.now()) + self._chance.randrange(1 << COUNTER_BITS)
        id = id_of(Seq(position), self._chance.getrandbits(59))
        observer, started_at, links = self._world.observer, trio.current_time(), list[Any]()

        def freeze(events: Sequence[bytes]) -> tuple[str, bytes]:
            links[:] = observer.linked(events)
            return id, digest_body(id, record, window, events)

        portion = Portion(window.start, window.end, MOST_EVENTS, MOST_BYTES, least, fresh=least > 1)
        frozen = await self._storage.outbox.freeze(record.id, portion, freeze, self._storage.lease)
        if frozen:
            observer.digested(id, record, links, events=frozen, began=started_at)
        self._world.reach("delivery/after freeze")
        return frozen
