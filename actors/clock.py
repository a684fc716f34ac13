"""Watches the wall clock: once a minute beside the time that has passed, as deliveries and digests wait by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from actors.world import World
from supervision import Child

EVERY: Final = 60.0
"""Seconds between two looks."""
STEP: Final = 5.0
"""Seconds by which the clock may differ from the time that has passed: a clock that is being steered drifts slower."""


class Steps:
    """By how much the wall clock is set, forward or back; or by how long the machine slept."""

    __slots__ = ("_ahead", "_wall")

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._ahead = wall() - trio.current_time()

    def since_last_asked(self) -> float:
        """Return the seconds, 0 for a drift."""
        before, self._ahead = self._ahead, self._wall() - trio.current_time()
        step = self._ahead - before
        return step if abs(step) > STEP else 0.0


class ClockWatch:
    """One child of the tree. stepped: hears of every step, forward or back."""

    def __init__(self, world: World, stepped: Callable[[], None]) -> None:
        self._world, self._stepped = world, stepped

    async def run(self, child: Child) -> None:
        """Watch until cancelled."""
        steps = Steps(self._world.wall)
        while True:
            await trio.sleep(EVERY)
            if step := steps.since_last_asked():
                self._world.log("clock.stepped", level="warning", seconds=round(step, 1))
                self._stepped()
