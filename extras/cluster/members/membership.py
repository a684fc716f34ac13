"""The actor that beats for this node: it keeps it a member, and parks it when it can't.

With each beat it learns whether all nodes are drained, and the others' usage of rate limits. A node that could not
beat for a second less than a lease makes no checks: others may consider it gone and take over its sources. Once it
beats again it continues, or finds that it was removed, and rejoins.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import trio
from msgspec.structs import replace

from actors.sources.schedule.pause import PauseSwitch
from actors.world import World
from extras.cluster.members.ownership import SharedOwnership
from extras.cluster.members.view_change import LEASE
from storage.errors import STANDSTILL
from storage.ownership import Members
from storage.records.identity import millis_of, rfc3339
from storage.records.member import Failover, Says
from supervision import Child

EVERY = 1.0
"""Seconds between beats, a fifth more or less."""
PARKED_AFTER = LEASE - 1
LEAVE_WITHIN = 3.0
"""Seconds that leaving may take; after that the others wait for the lease to end."""


class Membership:
    """The member's actor. `says` is sent to the others with each beat; `gate` permits checks."""

    def __init__(
        self, world: World, members: Members, ownership: SharedOwnership, *, says: Callable[[], Says], gate: PauseSwitch
    ) -> None:
        self._world, self._members, self._ownership = world, members, ownership
        self._says, self._gate = says, gate
        ownership.cut_off = self.isolation
        self._drained = False
        self._failover: Failover | None = None
        self._chance: random.Random = world.chance("members/beats")
        self._beaten_at: float | None = None
        self._parked = self._failing = False

    def __repr__(self) -> str:
        return f"<Membership of {self._members.me}{', parked' if self._parked else ''}>"

    def isolation(self) -> str:
        """Return how long the database has not answered, as a sentence; empty while healthy."""
        if self._beaten_at is None:
            return "it has not joined the other nodes yet"
        if not (self._failing or self._parked):
            return ""
        silent = trio.current_time() - self._beaten_at
        return f"the database has not answered for {silent:.0f} s" + (": no checks run" if self._parked else "")

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
        # No task beats any more: a late beat would readmit this node for a whole lease.
        with trio.move_on_after(LEAVE_WITHIN, shield=True):
            try:
                await self._members.leave()
            except STANDSTILL as error:
                self._world.log("members.leave_failed", level="warning", error=str(error))

    async def _beat(self) -> None:
        asked = trio.current_time()  # the lease begins before the answer arrives
        try:
            view = await self._members.beat(self._told())
        except STANDSTILL as error:
            self._world.log("members.beat_failed", level="debug" if self._failing else "warning", error=str(error))
            self._failing = True
            return
        self._failing = False
        before = self._ownership.view.number
        self._beaten_at = asked
        self._stand(parked=False)
        if view.drained is not self._drained:
            self._drained = view.drained
            (self._gate.close if view.drained else self._gate.open)()
        self._ownership.usage.hear(view, self._members.me)
        self._ownership.take(view)
        self._see_failover()
        if self._ownership.view.number != before:
            self._world.log("members.view", number=view.number, inside=", ".join(view.inside()))
            if not view.working():
                self._world.log(
                    "members.nobody_watches", level="warning", says="every node that is inside has the role web"
                )

    def _told(self) -> Says:
        says = replace(self._says(), taken=dict(self._ownership.usage.told(trio.current_time())))
        gone = self._failover
        return says if gone is None or not gone.lost else replace(says, ends=gone.ends, shown=gone.shown)

    def _see_failover(self) -> None:
        found = self._members.failover
        if found is None or found == self._failover:
            return
        self._failover = found
        if found.lost:
            begins, ends = rfc3339(millis_of(found.ends)), rfc3339(millis_of(found.shown))
            self._world.log("members.events_missing", level="error", after=begins, until=ends)
        else:
            self._world.log("members.failed_over", level="warning")

    async def _watch_silence(self) -> None:
        while True:
            if self._beaten_at is None:
                await trio.sleep(PARKED_AFTER)
            elif trio.current_time() >= (parks := self._beaten_at + PARKED_AFTER):
                self._stand(parked=True)
                await trio.sleep(EVERY)
            else:
                await trio.sleep_until(parks)

    def _stand(self, *, parked: bool) -> None:
        if parked is not self._parked:
            self._parked = parked
            self._gate.park(parked)
            self._world.log("members.parked" if parked else "members.goes_on", level="warning")
