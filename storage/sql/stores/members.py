"""The members of a database: the processes that work on it now."""

from __future__ import annotations

from typing import Protocol

from storage.records.member import Failover, Member, Says, View


class Members(Protocol):
    """The processes that work on one database. On SQLite there is one, always inside.

    A process is a member from its first beat until `leave`, or until others remove it, one lease after its last
    beat. A removed member enters again with its next beat.
    """

    @property
    def me(self) -> str:
        """The id of this start."""

    @property
    def failover(self) -> Failover | None:
        """The newest failover that a beat of this member noticed; None before any."""

    async def beat(self, says: Says) -> View:
        """Report this member alive, let new members in, remove late ones, and return the view after that.

        Call it every second, from one task. It reports nothing after `leave`. Raises Unavailable.
        """

    async def leave(self) -> None:
        """Leave at once; no later beat, nor one under way, enters again.

        Raises Unavailable: the lease then expires.
        """

    async def drain(self, *, on: bool) -> None:
        """Stop all checks by all members, or start them again; the view shows it from then on. Raises Unavailable."""

    async def view(self) -> View:
        """Return the stored view without a beat. Raises Unavailable."""


class Alone:
    """The only member of a database that belongs to one process. So its times need no clock."""

    def __init__(self, me: str) -> None:
        self._member = Member(me, inside=True)

    @property
    def me(self) -> str:
        return self._member.id

    @property
    def failover(self) -> Failover | None:
        """Always None: a single member has no view to agree on after a failover."""
        return None

    async def beat(self, says: Says) -> View:
        self._member = Member(self.me, inside=True, says=says)
        return await self.view()

    async def leave(self) -> None:
        """Do nothing: the next start fences this one off."""

    async def drain(self, *, on: bool) -> None:
        """Do nothing: there are no other members to notify."""

    async def view(self) -> View:
        return View(1, 0.0, (self._member,))
