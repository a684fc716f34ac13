"""The times of last use, collected in memory and saved once a minute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import trio

from storage.errors import StorageError
from storage.records.identity import Millis

EVERY = 60.0
"""Seconds between saves."""


class LastUsed:
    """The uses since the last save. Sleeps while there are none."""

    def __init__(self, save: Callable[[Mapping[str, Millis]], Awaitable[None]]) -> None:
        self._save_all = save
        self._used: dict[str, Millis] = {}
        self._some = trio.Event()

    def mark(self, name: str, at: Millis) -> None:
        self._used[name] = at
        self._some.set()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            await self.save()

    async def save(self) -> None:
        """Save the collected times. Losing them is harmless."""
        used, self._used, self._some = self._used, {}, trio.Event()
        if used:
            with trio.move_on_after(1, shield=True), suppress(StorageError):
                await self._save_all(used)
