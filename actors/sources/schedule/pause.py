"""The pause switch of this process: while it is closed no source is checked.

An operator drains the service with it, and a node that can't reach the others parks itself. Nothing is lost: checks in
progress finish, and their events reach the log and the destinations.
"""

from __future__ import annotations

import trio

from actors.sources.schedule.cadence import CATCH_UP_RATE

SPREAD = 60.0  # seconds within which all sources that waited are checked once the switch is open again


class PauseSwitch:
    """Open at first."""

    def __init__(self) -> None:
        self.is_drained = self._is_parked = False
        self._opened = trio.Event()
        self._waiting, self._window = 0, 0.0

    @property
    def is_closed(self) -> bool:
        return self.is_drained or self._is_parked

    def close(self) -> None:
        self.is_drained = True

    def open(self) -> None:
        self.is_drained = False
        self._wake()

    def park(self, parked: bool) -> None:
        self._is_parked = parked
        self._wake()

    def _wake(self) -> None:
        if not self.is_closed:
            self._window = min(self._waiting / CATCH_UP_RATE, SPREAD)
            self._opened.set()
            self._opened = trio.Event()

    async def wait_open(self, draw: float, interval: float = SPREAD) -> float:
        """Wait while it is closed; return the seconds until a check may begin: 0 if it was open. A few sources are
        checked at once, many at `CATCH_UP_RATE`, and each within its own interval (s). draw: in [0, 1).
        """
        window = 0.0
        while self.is_closed:
            self._waiting += 1
            try:
                await self._opened.wait()
            finally:
                self._waiting -= 1
            window = min(self._window, interval)
        return draw * window
