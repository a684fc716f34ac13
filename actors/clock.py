"""Detects steps of the wall clock: compares it each minute with elapsed time. Deliveries and digests wait by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from actors.world import World
from supervision import Child

EVERY: Final = 60.0
"""Seconds between comparisons."""
STEP: Final = 5.0
"""Seconds of difference that count as a step; a steered clock drifts slower."""


class Steps:
    """Steps of the wall clock, forward or back, or the time that the machine slept."""

    __slots__ = ("_ahead", "_wall")

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._ahead = wall() - trio.current_time()

    def since_last_asked(self) -> float:
        """Return the step in seconds; 0 for a drift."""
        before, self._ahead = self._ahead, self._wall() - trio.current_time()
        step = self._ahead - before
        return step if abs(step) > STEP else 0.0


class ClockWatch:
    """One child of the tree. stepped: called after each step."""

    def __init__(self, world: World, stepped: Callable[[], None]) -> None:
        self._world, self._stepped = world, stepped

    async def run(self, child: Child) -> None:
        steps = Steps(self._world.wall)
        while True:
            await trio.sleep(EVERY)
            if step := steps.since_last_asked():
                self._world.log("clock.stepped", level="warning", seconds=round(step, 1))
                self._stepped()
