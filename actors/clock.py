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


class ClockWatch:
    """One child of the tree. stepped: hears of every step, forward or back."""

    def __init__(self, world: World, stepped: Callable[[], None]) -> None:
        self._world, self._stepped = world, stepped

    async def run(self, child: Child) -> None:
        """Watch until cancelled."""
        wall, tick = self._world.wall(), trio.current_time()
        while True:
            await trio.sleep(EVERY)
            now, at = self._world.wall(), trio.current_time()
            step = (now - wall) - (at - tick)
            wall, tick = now, at
            if abs(step) > STEP:
                self._world.log("clock.stepped", level="warning", seconds=round(step, 1))
                self._stepped()
