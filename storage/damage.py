"""The record of damage to the data: every part that finds damage reports it here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from storage.errors import Corrupt


class Damage:
    """The first damage found while the storage is open; only a backup repairs it.

    `says`: a sentence, empty if there is no damage.
    """

    def __init__(self) -> None:
        self.says = ""
        self._known = trio.Event()

    def __repr__(self) -> str:
        return f"Damage({self.says!r})"

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Record Corrupt errors of the block and let them pass. On the loop only."""
        try:
            yield
        except Corrupt as error:
            if not self.says:
                self.says = str(error)
                self._known.set()
            raise

    async def wait(self) -> str:
        """Wait until damage is found and return its description."""
        await self._known.wait()
        return self.says
