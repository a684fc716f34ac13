"""Keeps the shifts: when this service ran by one steady clock, and up to where its looks are stored.

Each minute the wall clock is compared with the time that has passed; a step ends the shift and begins the next. The
registry's sweeps say up to when all looks are stored, and a crash forgets no more than what came after. At an orderly
stop, when nothing runs any more, the shift gets its end. Until the storage has taken the begin of a shift, nothing is
known of its time: no look is claimed by guess.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import trio

from actors.world import World
from storage.errors import STANDSTILL
from storage.interface import Storage
from storage.records.identity import Millis
from storage.records.shift import DEAD, UNSTORED, Record, Shift, record_of, stepped
from supervision import Child

EVERY: Final = 60.0
"""Seconds between two checks of the clock; `UNSEEN` is twice that."""
STEP: Final = 1000
"""Milliseconds by which the clock may differ from the time that has passed: one that is being steered drifts slower."""
PARKED: Final = 5.0
"""Seconds between two tries while storage takes nothing."""


MOST: Final = 50
"""Shifts that are held in memory: a clock that is set all the time makes many."""


class Sweep(NamedTuple):
    """A sweep that has begun: in which shift of this process, and when. last: nothing looks any more after it."""

    shift: int
    at: Millis
    last: bool


class Shifts:
    """See above. node: "" where the service is alone. Its life outlives the actor's."""

    def __init__(self, world: World, storage: Storage, node: str = "") -> None:
        self._world, self._storage, self._node = world, storage, node
        self._shifts: list[Shift] = []
        self._stored: list[Shift] = []
        self._crashed: Shift | None = None
        """The shift that a crash has ended, the last before this process."""
        self._ahead: Shift | None = None
        """The same, once it is known that its clock was ahead of what is told now."""
        self._gone = 0
        self._over = False
        self._began: Millis | None = None
        self._checked, self._tick = Millis(0), 0.0

    def __repr__(self) -> str:
        return f"<Shifts of {self._node or 'one service'}, {self._shifts[-1:]}>"

    async def run(self, child: Child) -> None:
        """Begin a shift, and keep it until cancelled."""
        await self.begin(child)
        while True:
            await trio.sleep(EVERY)
            self.check()
            await self._store()

    async def begin(self, child: Child) -> None:
        """Begin the first shift of this process; the tree goes on while storage does not take it."""
        self._began = self._now() if self._began is None else self._began
        while not self._shifts:
            try:
                stored = await self._storage.coverage.shifts()
                shift = await self._storage.coverage.begin(self._node, self._began)
            except STANDSTILL as error:
                self._world.log("shift.parked", level="debug", error=str(error))
                child.ready()
                await trio.sleep(PARKED)
            else:
                self._shifts, self._stored = [shift], [shift]
                if shift.after == "crash" and not self._node:  # nodes share what is on record, and sweep each minute
                    self._crashed = next((one for one in reversed(stored) if not one.node), None)
        child.ready()

    def looked(self, at: Millis) -> None:
        """Hear of the last look at a source that is on record, when all are read after a start.

        After a crash, one that is ahead of the clock says that this was set back, and nobody had seen it yet. What is
        further ahead than one shift can go without a sweep is of an older time.
        """
        crashed = self._ahead or self._crashed
        if crashed is not None and self._world.now() < at <= crashed.saved + UNSTORED and at > crashed.reach:
            self._ahead = crashed._replace(until=at)

    def _now(self) -> Millis:
        self._checked, self._tick = self._world.now(), trio.current_time()
        return self._checked

    def check(self) -> Millis:
        """Return the time, after a look at the clock: if it was set, one shift ends and the next begins."""
        before, passed = self._checked, round(1000 * (trio.current_time() - self._tick))
        now = self._now()
        if self._began is None:
            return now
        if abs(now - before - passed) > STEP:
            if self._shifts:
                self._shifts[-1:] = stepped(self._shifts[-1], before, passed, now)
            else:
                self._began = now
        return now

    def sweep(self, *, last: bool = False) -> Sweep:
        """Return what `swept` is to be told when all looks until now are stored."""
        now = self.check()
        return Sweep(self._gone + len(self._shifts), now, last)

    def swept(self, sweep: Sweep) -> None:
        """Note up to when all looks are stored."""
        count = sweep.shift - self._gone
        if count < 1:
            return
        last = self._shifts[count - 1]
        saved = max(last.saved, sweep.at if last.until is None else min(sweep.at, last.until))
        self._shifts[:count] = [*(shift.whole for shift in self._shifts[: count - 1]), last._replace(saved=saved)]
        self._over = sweep.last and count == len(self._shifts)

    async def _store(self) -> None:
        """Store what has changed; what fails is tried again the next time."""
        try:
            ahead = self._ahead  # more may be heard of it while it is being stored
            if ahead is not None and ahead != self._crashed:
                await self._storage.coverage.save(ahead)
                self._crashed = ahead
            for number, shift in enumerate(self._shifts):
                if number == len(self._stored):
                    before = self._shifts[number - 1]  # a sweep may change it while the step is being stored
                    new = await self._storage.coverage.step(before, shift)
                    self._stored[-1:] = [before, new]
                    self._shifts[number] = self._shifts[number]._replace(number=new.number)
                elif shift != self._stored[number] and not self._goes_with_next(number):
                    await self._storage.coverage.save(shift)
                    self._stored[number] = shift
        except STANDSTILL as error:
            self._world.log("shift.not_stored", level="debug", error=str(error))
        while len(self._shifts) > MOST and self._shifts[0] == self._stored[0] == self._shifts[0].whole:
            del self._shifts[0], self._stored[0]
            self._gone += 1

    def _goes_with_next(self, number: int) -> bool:
        """Return whether the setting of a clock has ended a shift since: it is stored with the one after it, or a crash
        between the two would make a stop of it.
        """
        return number + 1 == len(self._stored) < len(self._shifts)

    async def end(self) -> None:
        """End the shift, if all that it looked at was stored after the last look; else it ends as in a crash."""
        if self._over:
            self._shifts[-1] = self._shifts[-1]._replace(until=self._shifts[-1].saved)
        if self._shifts:
            await self._store()

    async def record(self) -> tuple[Record, Millis]:
        """Return what is known of the time, and until when: of other nodes what they have stored. Raises StorageError.

        All that this process has looked at is on record for as long as it lives.
        """
        stored = await self._storage.coverage.shifts()
        now = self.check()
        held = {shift.number for shift in self._shifts}
        others = [shift for shift in stored if shift.number not in held]
        if self._ahead is not None:
            others = [self._ahead if shift.number == self._ahead.number else shift for shift in others]
        alive = [shift for shift in others if shift.node and shift.until is None and shift.saved > now - DEAD]
        first = max((shift.number for shift in (*others, *self._shifts)), default=0) + 1
        own = [shift.whole for shift in self._shifts]
        own = [shift._replace(number=shift.number or first + place) for place, shift in enumerate(own)]
        own[-1:] = [shift._replace(saved=now) for shift in own[-1:]]
        shifts = sorted((*others, *own), key=lambda shift: shift.number)
        running = [shift.number for shift in (*alive, *own[-1:])]
        return record_of(shifts, now, running), min((shift.saved for shift in alive), default=now)
