"""The processes that work on a database, and this one's share of the work: all of it, unless an engine that several
processes share has another one.

Ownership is for courtesy and economy: two processes may both believe for a moment that they own a thing, and no
guarantee depends on it. Their writes are compared with the state they started from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import trio

from storage.records.member import Failover, Member, Says, View
from storage.records.source import Source

MATCHER: Final = "matcher"
PRUNER: Final = "pruner"
HEARTBEAT: Final = "heartbeat"
NOBODY: Final = View(-1, 0.0, ())
C = TypeVar("C")


class Ownership:
    """The share of a process alone. me: its name as a member. shared: there may be others. view: the members known."""

    me: str | None = None
    shared = False
    view = NOBODY

    def owns(self, key: str) -> bool:
        return True

    def watches(self, source: Source) -> bool:
        return True

    def follower(self, *of: Any) -> Any:
        """Return the follower of other processes' changes of sources, None if there are none."""
        return None

    async def wait_moved(self, known: int) -> int:
        """Wait until the view's number differs from the known one; return the new one."""
        await trio.sleep_forever()

    def while_owned(self, key: str, run: Callable[[C], Awaitable[None]]) -> Callable[[C], Awaitable[None]]:
        """Return a run that is active while this process owns a key."""
        return run

    async def during(self, key: str, run: Callable[[], Awaitable[None]], *, owned: bool = True) -> None:
        """Run while a key is this process's, or with `owned` False another's; cancel the run when that ends."""
        if owned:
            await run()

    def isolation(self) -> str:
        """Return why this process is cut off from the others, as a sentence; empty while healthy."""
        return ""

    def admitted_elsewhere(self, who: str) -> int:
        """Return the requests that other processes have admitted for a client since the last call."""
        return 0

    def count_admitted(self, who: str, now: float) -> None:
        """Count a request that was admitted for a client here."""


class Members:
    """The processes that work on one database; this one alone, always inside, unless an engine has others. A process is
    a member from its first beat until `leave`, or until others remove it, one lease after its last beat. A removed
    member enters again with its next beat. me: the id of this start. failover: the newest that a beat of this member
    noticed, None before any.
    """

    failover: Failover | None = None

    def __init__(self, me: str) -> None:
        self.me, self._says = me, Says()

    async def beat(self, says: Says) -> View:
        """Report this member alive, once a second from one task; return the view after it. Raises Unavailable."""
        self._says = says
        return await self.view()

    async def leave(self) -> None:
        """Leave at once; no later beat, nor one under way, enters again. Raises Unavailable: the lease then expires."""

    async def drain(self, *, on: bool) -> None:
        """Stop all checks by all members, or start them again; the view shows it from then on. Raises Unavailable."""

    async def view(self) -> View:
        """Return the stored view without a beat. Raises Unavailable."""
        return View(1, 0.0, (Member(self.me, inside=True, says=self._says),))
