"""The pause switch of this process: while it is closed no look is made. An operator drains the service with it, and a
node that can't tell the others that it is there parks by it.

Nothing is lost by it: looks under way end, and what is found goes on to the log and to the destinations.
"""

from __future__ import annotations

import trio

SPREAD = 60.0
"""Seconds over which the looks that waited are spread once the gate is open again."""


class PauseSwitch:
    """Open from the start. A process that starts anew has an open one."""

    def __init__(self) -> None:
        self._drained = self._parked = False
        self._opened = trio.Event()

    @property
    def closed(self) -> bool:
        """Whether looks wait."""
        return self._drained or self._parked

    @property
    def drained(self) -> bool:
        """Whether looks wait because somebody wants it."""
        return self._drained

    def close(self) -> None:
        """Let nobody look any more."""
        self._drained = True

    def open(self) -> None:
        """Let everybody look again, unless this node is parked."""
        self._drained = False
        self._wake()

    def park(self, parked: bool) -> None:
        """Let nobody look while this node can't tell the others that it is there."""
        self._parked = parked
        self._wake()

    def _wake(self) -> None:
        if not self.closed:
            self._opened.set()
            self._opened = trio.Event()

    async def clearance(self, draw: float) -> float:
        """Wait while it is closed; return the seconds until a look may be made: 0 if it was open."""
        waited = False
        while self.closed:
            waited = True
            await self._opened.wait()
        return draw * SPREAD if waited else 0.0

    def __repr__(self) -> str:
        return f"<PauseSwitch {'closed' if self.closed else 'open'}>"
