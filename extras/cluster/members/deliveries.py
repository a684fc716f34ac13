"""The deliveries of nodes that share the destinations: actors follow ownership, and find rows of other nodes."""

from __future__ import annotations

from contextlib import suppress

import trio

from actors.delivery.registry import DeliveryRegistry
from actors.world import World
from storage.errors import STANDSTILL
from storage.ownership import NOBODY
from storage.sql.storage import Storage
from storage.sql.stores.outbox import Claim
from storage.sql.transaction import next_turn
from supervision import Child

ROWS_EVERY, QUIET_EVERY = 0.5, 1.0
"""Seconds between checks for rows that another node has put into the outbox: while events come, and otherwise."""
STRAYS_EVERY = 30.0
"""Seconds between checks for rows that no actor delivers."""
AT_ONCE = 500


class SharedDeliveries:
    """The actor beside this node's registry of destinations."""

    def __init__(self, world: World, storage: Storage, registry: DeliveryRegistry) -> None:
        self._world, self._storage, self._registry = world, storage, registry

    async def run(self, child: Child) -> None:
        child.ready()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_views)
            nursery.start_soon(self._look_for_rows)
            nursery.start_soon(self._put_back_strays)

    async def _follow_views(self) -> None:
        """Start and stop actors as ownership of destinations changes."""
        view = NOBODY.number
        while True:
            view = await self._storage.ownership.wait_moved(view)
            with suppress(*STANDSTILL):  # else the next reading of alerts does it
                await self._registry.refresh()

    async def _look_for_rows(self) -> None:
        """Wake actors that have new rows from another node's matcher, which does not notify this node."""
        tail = self._storage.tail
        while True:
            with trio.move_on_at(next_turn(QUIET_EVERY)):
                await tail.wait_past(tail.head)
                await trio.sleep_until(next_turn(ROWS_EVERY))
            with suppress(*STANDSTILL):
                for id in await self._storage.outbox.due(self._world.now()):
                    self._registry.nudge(id)

    async def _put_back_strays(self) -> None:
        """Release rows of this node's destinations that other nodes have claimed.

        A destination may have changed owners while its former owner was claiming; no actor delivers such rows. A claim
        that is still there at the next check is no longer under way.
        """
        before: frozenset[Claim] = frozenset()
        while True:
            await trio.sleep(STRAYS_EVERY)
            with suppress(*STANDSTILL):
                found: list[Claim] = []
                mine = self._registry.ids()
                for start in range(0, len(mine), AT_ONCE):
                    part = mine[start : start + AT_ONCE]
                    found += await self._storage.outbox.claims_of_others(part, self._storage.lease)
                if still := sorted(before.intersection(found)):
                    rows = await self._storage.outbox.put_back(still, self._storage.lease)
                    self._world.log("delivery.strays", level="warning", rows=rows)
                    for id in {claim.destination for claim in still}:
                        self._registry.nudge(id)
                before = frozenset(found)
