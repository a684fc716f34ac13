"""The making of digests: when a destination's window has closed, its waiting rows are frozen into one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import trio

from actors.delivery.digest import GRACE, MOST_BYTES, MOST_EVENTS, DigestWindow, content, window_of
from actors.world import World
from storage.records.destination import Destination, Portion
from storage.records.identity import COUNTER_BITS, Millis, Seq, id_of, seq_at
from storage.sql.storage import Storage


class Gathering:
    """A destination's windows. `closes`: the end of the open one; None before the first check, and in instant mode."""

    def __init__(self, world: World, storage: Storage, chance: random.Random) -> None:
        self._world, self._storage, self._chance = world, storage, chance
        self._open: DigestWindow | None = None

    @property
    def closes(self) -> Millis | None:
        """When the next check is due."""
        return None if self._open is None else Millis(self._open.end + GRACE)

    async def gather(self, record: Destination) -> None:
        """Freeze a digest of every closed window. If cancelled between two, the next call continues."""
        if record.delivery_mode == "instant":
            self._open = None
            await self._collapse(record)
            return
        current = window_of(record, Millis(self._world.now() - GRACE))
        if current == self._open:
            return
        since = await self._storage.outbox.gathered_since(record.id)
        while since is not None and since < current.start:
            await self._freeze(record, window_of(record, since))
            since = await self._storage.outbox.gathered_since(record.id)
        self._open = current

    async def _collapse(self, record: Destination) -> None:
        """Combine waiting rows into digests if there are more than `most_at_once`."""
        if not record.most_at_once or await self._storage.outbox.backlog(record.id) <= record.most_at_once:
            return
        window = DigestWindow(Millis(0), Millis(self._world.now() + 1))
        while await self._freeze(record, window, least=record.most_at_once + 1):
            pass

    async def _freeze(self, record: Destination, window: DigestWindow, least: int = 1) -> int:
        position = seq_at(self._world.now()) + self._chance.randrange(1 << COUNTER_BITS)
        id = id_of(Seq(position), self._chance.getrandbits(59))
        observer, began, links = self._world.observer, trio.current_time(), list[Any]()

        def freeze(events: Sequence[bytes]) -> tuple[str, bytes]:
            links[:] = observer.linked(events)
            return id, content(id, record, window, events)

        portion = Portion(window.start, window.end, MOST_EVENTS, MOST_BYTES, least, fresh=least > 1)
        frozen = await self._storage.outbox.freeze(record.id, portion, freeze, self._storage.lease)
        if frozen:
            observer.digested(id, record, links, events=frozen, began=began)
        self._world.reach("delivery/after freeze")
        return frozen
