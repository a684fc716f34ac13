"""The moments at which things were last used, noted in memory and saved once a minute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import trio

from storage.errors import StorageError
from storage.records.identity import Millis

EVERY = 60.0
"""Seconds between two saves while anything is used."""


class LastUsed:
    """What was used since the last save. It sleeps while nothing is."""

    def __init__(self, save: Callable[[Mapping[str, Millis]], Awaitable[None]]) -> None:
        self._save_all = save
        self._used: dict[str, Millis] = {}
        self._some = trio.Event()

    def mark(self, name: str, at: Millis) -> None:
        """Remember that something was used."""
        self._used[name] = at
        self._some.set()

    async def run(self) -> None:
        """Save, for ever."""
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            await self.save()

    async def save(self) -> None:
        """Save what there is. Lost without harm."""
        used, self._used, self._some = self._used, {}, trio.Event()
        if used:
            with trio.move_on_after(1, shield=True), suppress(StorageError):
                await self._save_all(used)
