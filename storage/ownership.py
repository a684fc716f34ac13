"""This process's share of the work: all of it, unless an engine that several processes share has another one.

Ownership is for courtesy and economy: two processes may both believe for a moment that they own a thing, and no
guarantee depends on it. Their writes are compared with the state they started from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import trio

from storage.records.member import View
from storage.records.source import Source

MATCHER: Final = "matcher"
PRUNER: Final = "pruner"
HUB: Final = "hub"
HEARTBEAT: Final = "heartbeat"
NOBODY: Final = View(-1, 0.0, ())
C = TypeVar("C")


class Ownership:
    """The share of a process alone. me: this member's name. shared: whether there may be others. view: the members, as
    far as this process knows.
    """

    me: str | None = None
    shared = False
    view = NOBODY

    def mine(self, key: str) -> bool:
        """Return whether a key is this process's."""
        return True

    def watches(self, source: Source) -> bool:
        """Return whether a source is this process's to watch."""
        return True

    def follower(self, *of: Any) -> Any:
        """Return the follower of other processes' changes of sources, None if there are none."""
        return None

    async def wait_moved(self, known: int) -> int:
        """Wait until the view's number differs from the known one; return the new one."""
        await trio.sleep_forever()

    def only_here(self, key: str, run: Callable[[C], Awaitable[None]]) -> Callable[[C], Awaitable[None]]:
        """Return a run that is active while this process owns a key."""
        return run

    async def during(self, key: str, run: Callable[[], Awaitable[None]], *, mine: bool = True) -> None:
        """Run while a key is this process's, or with `mine` False another's; cancel the run when that ends."""
        if mine:
            await run()

    def silence(self) -> str:
        """Return why this process is cut off from the others, as a sentence; empty while healthy."""
        return ""

    def owed(self, who: str) -> int:
        """Return the requests that other processes have admitted for a client since the last call."""
        return 0

    def took(self, who: str, now: float) -> None:
        """Count a request that was admitted for a client here."""
