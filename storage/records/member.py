"""Members: the processes that work on one database together, and the view that they share of who is inside.

All times are seconds of the database's own clock: no member's clock decides anything. Who is inside should watch,
match and deliver; no promise rests on it (versions, claims and cursors are compared by each write).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct

from storage.records.identity import START, Seq

LEASE: Final = 5.0
"""Seconds for which a beat keeps its member inside."""
BREAK: Final = LEASE / 2
"""Seconds between two beats after which a member counts as back, and not as one that was there all the time."""
KEPT: Final = 600.0
"""Seconds for which a member that is gone stays in the view, so that others see how it went."""
ALL, WEB = "all", "web"
"""The roles: of a node that does everything, and of one that answers requests and streams only."""
LEFT: Final = float("-inf")
"""The `until` of a member that has left by itself."""


class Says(Struct, frozen=True, omit_defaults=True):
    """What a member tells of itself with each beat; a new field has a default, for members of another release.

    version, build: of the program. address: where it answers requests. sources: how many it watches, overdue: how many
    of them late. lag: seconds of the oldest event that it has not shown. streams: how many are open. role: `all`, or
    `web` for one that only answers. taken: of rate limits, see `actors/members/usage.py`. ends, shown: the newest
    failover that it met, if it lost events that readers had seen there: the log's end, and what they had seen.
    """

    version: str = ""
    build: str = ""
    address: str = ""
    sources: int = 0
    overdue: int = 0
    lag: float = 0.0
    streams: int = 0
    role: str = ALL
    taken: dict[str, int] = {}
    ends: Seq = START
    shown: Seq = START


class Member(Struct, frozen=True):
    """One start of one process. since: it has beaten without a BREAK since then. until: its lease, LEFT when it left.

    id: never used again. shown: the newest position that readers have seen there. timeline: of PostgreSQL (8 hex
    digits), as it was at the last beat.
    """

    id: str
    inside: bool = False
    since: float = 0.0
    until: float = float("inf")
    shown: Seq = START
    timeline: str = ""
    says: Says = Says()

    @property
    def left(self) -> bool:
        """Whether it went by itself: nothing of it is under way any more."""
        return self.until == LEFT


class Failover(NamedTuple):
    """A failover of the database that a member has lived through.

    ends: the newest position of the log after it. shown: the newest that readers have seen at this member before it.
    """

    ends: Seq
    shown: Seq

    @property
    def lost(self) -> bool:
        """Whether readers have seen events that are gone."""
        return self.shown > self.ends


class Change(NamedTuple):
    """What a view should become: who comes in, who goes out, whose row is dropped; ids."""

    comes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


class View(Struct, frozen=True):
    """All members at one moment, in the order of their ids. number: rises with each change of who is inside.

    at: the moment, by the database's clock. drained: whether somebody wants that no node makes looks.
    """

    number: int
    at: float
    members: tuple[Member, ...]
    drained: bool = False

    def inside(self) -> tuple[str, ...]:
        """Return the ids of the members that are inside, in order."""
        return tuple(member.id for member in self.members if member.inside)

    def working(self) -> tuple[str, ...]:
        """Return the ids of the members that things may be the own of, in order."""
        return tuple(member.id for member in self.members if member.inside and member.says.role != WEB)

    def member(self, id: str) -> Member | None:
        """Return one member, None when it is unknown."""
        return next((member for member in self.members if member.id == id), None)

    def due(self, me: str, lease: float = LEASE) -> Change | None:
        """Return the change that member `me` should make, None for none.

        Who knocks comes in. Who left goes. Who is late goes only if `me` has beaten for a whole lease without a break:
        after an outage of the database leases are over, and the first one to return must not put out the rest.
        """
        mine = self.member(me)
        may_put_out = mine is not None and mine.until > self.at and mine.since <= self.at - lease
        comes = tuple(each.id for each in self.members if not each.inside and each.until > self.at)
        goes = tuple(
            each.id for each in self.members if each.inside and (each.left or (may_put_out and each.until < self.at))
        )
        if not comes and not goes:
            return None
        return Change(comes, goes, tuple(each.id for each in self.members if self._forgotten(each)))

    def _forgotten(self, member: Member) -> bool:
        gone_at = member.since if member.left else member.until
        return not member.inside and gone_at < self.at - KEPT
