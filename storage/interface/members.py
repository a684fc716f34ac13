"""The members of a database: who works on it now."""

from __future__ import annotations

from typing import Protocol

from storage.records.member import Failover, Says, View


class Members(Protocol):
    """The processes that work on one database. On SQLite there is one, always inside.

    A process is a member from its first beat until `leave`, or until others have put it out: a lease after its last
    beat. Whoever was put out comes in again with its next beat.
    """

    @property
    def me(self) -> str:
        """The id of this start."""

    @property
    def failover(self) -> Failover | None:
        """The newest failover that a beat of this member has met; None before any."""

    async def beat(self, says: Says) -> View:
        """Tell that this member lives, let in who knocks, put out who is late, and return the view after that.

        Call it each second, from one task. After `leave` it tells nothing any more. Raises Unavailable.
        """

    async def leave(self) -> None:
        """Go out by oneself, at once: no beat after this one, also none that is under way, comes in again.

        Raises Unavailable: the lease then ends by itself.
        """

    async def drain(self, *, on: bool) -> None:
        """Have all members make no looks, or make them again; the view says so from then on. Raises Unavailable."""

    async def view(self) -> View:
        """Return the view as it is stored, without a beat. Raises Unavailable."""
