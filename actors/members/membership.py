"""The actor that beats for this node: it keeps it inside, and parks it when it can't.

A node that could not beat for a second less than a lease makes no looks: others may think that it is gone, and look
themselves. Once it beats again it goes on, or finds that it was put out, and knocks.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import trio

from actors.members.ownership import Ownership
from actors.world import World
from storage.errors import STANDSTILL
from storage.interface.members import Members
from storage.records.member import LEASE, Says
from supervision import Child

EVERY = 1.0
"""Seconds between two beats, a fifth more or less."""
PARKED_AFTER = LEASE - 1
LEAVE_WITHIN = 3.0
"""Seconds that leaving may take: after these the others wait for the lease to end."""


class Membership:
    """See above. `says` is told to the others with each beat; `park` hears whether looks must wait."""

    def __init__(
        self,
        world: World,
        members: Members,
        ownership: Ownership,
        says: Callable[[], Says],
        park: Callable[[bool], None],
    ) -> None:
        self._world, self._members, self._ownership = world, members, ownership
        self._says, self._park = says, park
        self._chance: random.Random = world.chance("members/beats")
        self._beaten_at: float | None = None
        self._parked = self._failing = False

    def __repr__(self) -> str:
        return f"<Membership of {self._members.me}{', parked' if self._parked else ''}>"

    def silence(self) -> str:
        """Return for how long the database has not answered, as a sentence; empty while all is well."""
        if self._beaten_at is None:
            return "it has not joined the other nodes yet"
        if not (self._failing or self._parked):
            return ""
        silent = trio.current_time() - self._beaten_at
        return f"the database has not answered for {silent:.0f} s" + (": no looks are made" if self._parked else "")

    async def run(self, child: Child) -> None:
        """Beat until stopped, then leave: the others take over at once."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_silence)
            await self._beat()
            child.ready()
            while not child.stopping.is_set():
                with trio.move_on_after(EVERY * self._chance.uniform(0.8, 1.2)):
                    await child.stopping.wait()
                    break
                await self._beat()
            nursery.cancel_scope.cancel()
        # Nothing beats any more: a late beat would let this node in again, for a whole lease.
        with trio.move_on_after(LEAVE_WITHIN, shield=True):
            try:
                await self._members.leave()
            except STANDSTILL as error:
                self._world.log("members.leave_failed", level="warning", error=str(error))

    async def _beat(self) -> None:
        try:
            view = await self._members.beat(self._says())
        except STANDSTILL as error:
            self._world.log("members.beat_failed", level="debug" if self._failing else "warning", error=str(error))
            self._failing = True
            return
        self._failing = False
        before = self._ownership.view.number
        self._beaten_at = trio.current_time()
        self._stand(parked=False)
        self._ownership.take(view)
        if self._ownership.view.number != before:
            self._world.log("members.view", number=view.number, inside=", ".join(view.inside()))

    async def _watch_silence(self) -> None:
        while True:
            since = trio.current_time() - (self._beaten_at or 0.0)
            if self._beaten_at is not None and since >= PARKED_AFTER:
                self._stand(parked=True)
                await trio.sleep(EVERY)
            else:
                await trio.sleep(PARKED_AFTER if self._beaten_at is None else PARKED_AFTER - since)

    def _stand(self, *, parked: bool) -> None:
        if parked is not self._parked:
            self._parked = parked
            self._park(parked)
            self._world.log("members.parked" if parked else "members.goes_on", level="warning")
