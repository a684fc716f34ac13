"""The pause switch of the whole service: while it is closed no look is made. An operator drains the service with it.

Nothing is lost by it: looks under way end, and what is found goes on to the log and to the destinations.
"""

from __future__ import annotations

import trio

SPREAD = 60.0
"""Seconds over which the looks that waited are spread once the gate is open again."""


class PauseSwitch:
    """Open from the start. A process that starts anew has an open one."""

    def __init__(self) -> None:
        self._closed = False
        self._opened = trio.Event()

    @property
    def closed(self) -> bool:
        """Whether looks wait."""
        return self._closed

    def close(self) -> None:
        """Let nobody look any more."""
        if not self._closed:
            self._closed, self._opened = True, trio.Event()

    def open(self) -> None:
        """Let everybody look again."""
        self._closed = False
        self._opened.set()

    async def clearance(self, draw: float) -> float:
        """Wait while it is closed; return the seconds until a look may be made: 0 if it was open."""
        waited = False
        while self.closed:
            waited = True
            await self._opened.wait()
        return draw * SPREAD if waited else 0.0

    def __repr__(self) -> str:
        return f"<PauseSwitch {'closed' if self._closed else 'open'}>"
