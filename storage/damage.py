"""Knowledge of damage to the data: every part that meets damage reports it here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from storage.errors import Corrupt


class Damage:
    """The first damage that anybody met, for as long as the storage is open: only a backup takes it away.

    `says` is a sentence, empty while none is known.
    """

    def __init__(self) -> None:
        self.says = ""
        self._known = trio.Event()

    def __repr__(self) -> str:
        return f"Damage({self.says!r})"

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block raises, and let it pass. On the loop only."""
        try:
            yield
        except Corrupt as error:
            if not self.says:
                self.says = str(error)
                self._known.set()
            raise

    async def wait(self) -> str:
        """Wait until some is known, and return what it says."""
        await self._known.wait()
        return self.says
