"""Keeps the shifts: the runs of this service by one steady clock, and how far its checks are stored.

Each minute it compares the wall clock with elapsed time; a step ends the shift and begins the next. The registry's
sweeps report when all checks are stored; a crash loses only the later ones. At an orderly stop, when no task runs any
more, the shift gets its end. Until storage has the start of a shift, its time counts as unknown: coverage never
guesses.

Deliveries and digests, which wait by the wall clock, learn of its steps from `ClockWatch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import trio

from actors.world import World
from storage.errors import STANDSTILL
from storage.records.coverage import DEAD, UNSTORED, Record, Shift, record_of, stepped
from storage.records.identity import Millis
from storage.sql.storage import Storage
from supervision import Child

EVERY: Final = 60.0
"""Seconds between checks of the clock; `UNSEEN` is twice that."""
STEP: Final = 1000
"""Milliseconds of difference that count as a step; a steered clock drifts slower."""
PARKED: Final = 5.0
"""Seconds between attempts while storage is unavailable."""


MOST: Final = 50
"""Shifts held in memory; a clock that is set often makes many."""


class Sweep(NamedTuple):
    """A sweep that has begun: its shift in this process, and its time. last: no check follows."""

    shift: int
    at: Millis
    last: bool


class Shifts:
    """The shifts of this process. node: "" for a single service. Outlives restarts of the actor."""

    def __init__(self, world: World, storage: Storage, node: str = "") -> None:
        self._world, self._storage, self._node = world, storage, node
        self._shifts: list[Shift] = []
        self._stored: list[Shift] = []
        self._crashed: Shift | None = None
        """The last shift before this process, if a crash ended it."""
        self._ahead: Shift | None = None
        """The same, once its clock is known to have been ahead of the current one."""
        self._dropped = 0
        self._is_complete = False
        self._began_at: Millis | None = None
        self._checked, self._tick = Millis(0), 0.0

    async def run(self, child: Child) -> None:
        await self.begin(child)
        while True:
            await trio.sleep(EVERY)
            self.check()
            await self._store()

    async def begin(self, child: Child) -> None:
        """Begin the first shift of this process. While storage is unavailable, retry and let the tree continue."""
        self._began_at = self._now() if self._began_at is None else self._began_at
        while not self._shifts:
            try:
                stored = await self._storage.coverage.shifts()
                shift = await self._storage.coverage.begin(self._node, self._began_at)
            except STANDSTILL as error:
                self._world.log("shift.parked", level="debug", error=str(error))
                child.ready()
                await trio.sleep(PARKED)
            else:
                self._shifts, self._stored = [shift], [shift]
                if shift.after == "crash" and not self._node:  # nodes share one record, and sweep each minute
                    self._crashed = next((one for one in reversed(stored) if not one.node), None)
        child.ready()

    def note_check(self, at: Millis) -> None:
        """Take a source's last stored check, for all sources after a start. After a crash, a check ahead of the clock
        shows that the clock was set back unnoticed; one further ahead than a shift can run without a sweep is older.
        """
        crashed = self._ahead or self._crashed
        if crashed is not None and self._world.now() < at <= crashed.saved + UNSTORED and at > crashed.reach:
            self._ahead = crashed._replace(until=at)

    def _now(self) -> Millis:
        self._checked, self._tick = self._world.now(), trio.current_time()
        return self._checked

    def check(self) -> Millis:
        """Return the time after checking the clock; a step ends the shift and begins the next."""
        before, passed = self._checked, round(1000 * (trio.current_time() - self._tick))
        now = self._now()
        if self._began_at is None:
            return now
        if abs(now - before - passed) > STEP:
            if self._shifts:
                self._shifts[-1:] = stepped(self._shifts[-1], before, passed, now)
            else:
                self._began_at = now
        return now

    def begin_sweep(self, *, last: bool = False) -> Sweep:
        """Return the argument for `end_sweep`, once all checks until now are stored."""
        now = self.check()  # which may begin a shift
        return Sweep(self._dropped + len(self._shifts), now, last)

    def end_sweep(self, sweep: Sweep) -> None:
        count = sweep.shift - self._dropped
        if count < 1:
            return
        last = self._shifts[count - 1]
        saved = max(last.saved, sweep.at if last.until is None else min(sweep.at, last.until))
        self._shifts[:count] = [*(shift.whole for shift in self._shifts[: count - 1]), last._replace(saved=saved)]
        self._is_complete = sweep.last and count == len(self._shifts)

    async def _store(self) -> None:
        try:
            ahead = self._ahead  # it may change while it is being stored
            if ahead is not None and ahead != self._crashed:
                await self._storage.coverage.save(ahead)
                self._crashed = ahead
            for number, shift in enumerate(self._shifts):
                if number == len(self._stored):
                    before = self._shifts[number - 1]  # a sweep may change it while the step is being stored
                    new = await self._storage.coverage.step(before, shift)
                    self._stored[-1:] = [before, new]
                    self._shifts[number] = self._shifts[number]._replace(number=new.number)
                elif shift != self._stored[number] and not number + 1 == len(self._stored) < len(self._shifts):
                    # One that a clock step has ended since is stored together with the next one. Otherwise a crash
                    # between the two would turn the step into a stop.
                    await self._storage.coverage.save(shift)
                    self._stored[number] = shift
        except STANDSTILL as error:
            self._world.log("shift.not_stored", level="debug", error=str(error))
        while len(self._shifts) > MOST and self._shifts[0] == self._stored[0] == self._shifts[0].whole:
            del self._shifts[0], self._stored[0]
            self._dropped += 1

    async def end(self) -> None:
        """End the shift if all of its checks are stored; else it ends as in a crash."""
        if self._is_complete:
            self._shifts[-1] = self._shifts[-1]._replace(until=self._shifts[-1].saved)
        if self._shifts:
            await self._store()

    async def record(self) -> tuple[Record, Millis]:
        """Return the shifts, and their time limit, set by the other nodes' last stores. All checks of this process
        count as stored while it lives. Raises StorageError.
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


LEAST_STEP: Final = 5.0
"""Seconds of difference that count as a step; a steered clock drifts slower."""


class ClockSteps:
    """Steps of the wall clock, forward or back, or the time that the machine slept."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._ahead = wall() - trio.current_time()

    def take_step(self) -> float:
        """Return the step in seconds; 0 for a drift."""
        before, self._ahead = self._ahead, self._wall() - trio.current_time()
        step = self._ahead - before
        return step if abs(step) > LEAST_STEP else 0.0


class ClockWatch:
    """One child of the tree. stepped: called after each step."""

    def __init__(self, world: World, stepped: Callable[[], None]) -> None:
        self._world, self._on_step = world, stepped

    async def run(self, child: Child) -> None:
        steps = ClockSteps(self._world.wall)
        while True:
            await trio.sleep(EVERY)
            if step := steps.take_step():
                self._world.log("clock.stepped", level="warning", seconds=round(step, 1))
                self._on_step()
