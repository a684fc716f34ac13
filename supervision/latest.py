"""A slot that holds only the newest value: for what is looked at, where a queue would only grow old.

Setting never waits. A reader that is slow misses values in between, never the last one. However many wait,
they are woken in slices, so that one change does not hold the loop while all of them run.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import trio

T = TypeVar("T")
WAKE_SLICE = 1000
"""The most tasks that become runnable at one instant."""


class Latest(Generic[T]):
    """The newest value, and the number of times that it was set."""

    __slots__ = ("_leader", "_parked", "_to_wake", "value", "version")

    def __init__(self, value: T) -> None:
        self.value = value
        self.version = 0
        self._parked = trio.lowlevel.ParkingLot()
        self._to_wake = 0
        self._leader: trio.lowlevel.Task | None = None

    def set(self, value: T) -> None:
        """Replace the value and wake all who wait for a newer one."""
        self.value = value
        self.version += 1
        self._to_wake = len(self._parked)
        if self._leader is None:
            self._wake_slice()

    async def wait_newer(self, seen: int) -> tuple[int, T]:
        """Return the version and value as soon as the version is not `seen`; at once when that holds already."""
        if self.version != seen:
            await trio.lowlevel.checkpoint()
        while self.version == seen:
            await self._parked.park()
            # Who was unparked gets here before anything can cancel it, so the next slice is sure to be woken.
            if self._leader is trio.lowlevel.current_task():
                self._wake_slice()
        return self.version, self.value

    def __repr__(self) -> str:
        return f"<Latest version {self.version}, {len(self._parked)} waiting>"

    def _wake_slice(self) -> None:
        """Make one slice runnable; one of it, the leader, will wake the next when its turn comes.

        How many is fixed when the value is set: else those who park anew would keep the wave going for ever.
        """
        count = min(self._to_wake, WAKE_SLICE)
        self._to_wake -= count
        woken = self._parked.unpark(count=count) if count else []
        self._leader = woken[-1] if woken else None
