"""The only member of a database that belongs to one process."""

from __future__ import annotations

from storage.records.member import Failover, Member, Says, View


class Alone:
    """See `storage.interface.Members`. There are no other members, so its times need no clock."""

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
