"""The one member of a database that belongs to one process."""

from __future__ import annotations

from storage.records.member import Failover, Member, Says, View


class Alone:
    """See `storage.interface.Members`. Nobody else comes, so its times are of no clock."""

    def __init__(self, me: str) -> None:
        self._member = Member(me, inside=True)

    @property
    def me(self) -> str:
        """The id of this start."""
        return self._member.id

    @property
    def failover(self) -> Failover | None:
        """Return None: whoever is alone has nobody to agree with after one."""
        return None

    async def beat(self, says: Says) -> View:
        """Keep what this member says; see Members."""
        self._member = Member(self.me, inside=True, says=says)
        return await self.view()

    async def leave(self) -> None:
        """Do nothing: whoever starts next fences this one off."""

    async def drain(self, *, on: bool) -> None:
        """Do nothing: there is nobody else to be told."""

    async def view(self) -> View:
        """Return the view; see Members."""
        return View(1, 0.0, (self._member,))
