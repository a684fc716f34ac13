"""Troubles of a disk, as its writers and readers meet them."""

from __future__ import annotations

import random

import trio

from storage.errors import Unavailable
from tests.simulation.network import Side
from tests.support.in_loop import Disk

BUSY = 5.0
"""Seconds that SQLite waits for another program's lock (`busy_timeout`)."""
SLOWEST = 30.0
"""Seconds of the slowest sync; most calls of a slow disk are still quick, or there would be nothing to watch."""


class DiskTroubles:
    """One life's calls. plain: the dice of a healthy sync; dice: a trouble's effect on a call."""

    __slots__ = ("_dice", "_disk", "_machine", "_plain", "_side")

    def __init__(self, disk: Disk, side: Side, plain: random.Random, dice: random.Random) -> None:
        self._disk, self._machine, self._plain, self._dice = disk, side.host, plain, dice
        self._side = side

    def __repr__(self) -> str:
        return f"<DiskTroubles of {self._disk!r}>"

    async def sync(self) -> None:
        """Take as long as an fsync, or fail as one. Raises Unavailable."""
        await trio.sleep(self._plain.uniform(0.0005, 0.020))
        await self._side.thaw()
        if not self._machine.faults:
            return
        if self._machine.suffers("disk slow") and self._dice.random() < 0.5:
            await trio.sleep(self._dice.uniform(0, SLOWEST))
        if self._machine.suffers("disk locked"):
            await trio.sleep(BUSY)
            if self._machine.suffers("disk locked"):
                raise Unavailable("SQLite: database is locked")
        if self._machine.suffers("disk errors") and self._dice.random() < 0.4:
            raise Unavailable("SQLite: disk I/O error")
        mute = self._machine.suffers("disk mute") and self._dice.random() < 0.5
        self._disk.silent = "after" if mute else "no"

    async def seek(self) -> None:
        """Take as long as a read, or fail as one. Raises Unavailable."""
        await trio.lowlevel.checkpoint()
        await self._side.thaw()
        if not self._machine.faults:
            return
        if self._machine.suffers("disk slow") and self._dice.random() < 0.1:
            await trio.sleep(self._dice.uniform(0, SLOWEST / 10))
        if self._machine.suffers("disk errors") and self._dice.random() < 0.1:
            raise Unavailable("SQLite: disk I/O error")
