"""Members that share one database, and the state of the replica.

All times are seconds of the database's clock; members' clocks decide nothing. Members inside watch, match and deliver.
No guarantee depends on the view: each write compares versions, claims and cursors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import Struct

from storage.records.identity import START, Millis, Seq

LEASE: Final = 5.0
"""Seconds that one beat keeps a member inside."""
BREAK: Final = LEASE / 2
"""A member with a longer pause between two beats, in seconds, counts as newly back."""
KEPT: Final = 600.0
"""Seconds that a departed member stays in the view, so that others see how it left."""
ALL, WEB = "all", "web"
"""Roles: a node that does everything, and one that only answers requests and streams."""
LEFT: Final = float("-inf")
"""The `until` of a member that left in order."""


class Says(Struct, frozen=True, omit_defaults=True):
    """A member's status, sent with each beat; new fields need defaults, for members of other releases.

    version, build: of the program. address: where it answers requests. sources: how many it watches; overdue: how many
    of them late. lag: age in seconds of the oldest event it has not shown. streams: open ones. role: `all`, or `web`
    for one that only answers. taken: rate limits used, as the extra `cluster` counts. ends, shown: set by the newest
    failover if it lost events that readers had seen there: the log's end, and the newest position seen.
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
    """One start of one process. since: its beats have had no BREAK since then. until: end of its lease, or LEFT.

    id: never reused. shown: the newest position that its readers have seen. timeline: PostgreSQL's (8 hex digits), at
    the last beat.
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
        """Whether it left in order, with no work under way."""
        return self.until == LEFT


class Failover(NamedTuple):
    """A database failover that a member lived through.

    ends: the newest position of the log after it. shown: the newest position that its readers had seen before it.
    """

    ends: Seq
    shown: Seq

    @property
    def lost(self) -> bool:
        """Whether readers have seen events that the log has lost."""
        return self.shown > self.ends


class Change(NamedTuple):
    """A change of the view, by id: members that enter, members that leave, and rows to delete."""

    comes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


class View(Struct, frozen=True):
    """All members at one moment, ordered by id. number: rises with each change of the members inside.

    at: the moment, by the database's clock. drained: an operator has stopped all checks.
    """

    number: int
    at: float
    members: tuple[Member, ...]
    drained: bool = False

    def inside(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members if member.inside)

    def working(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members if member.inside and member.says.role != WEB)

    def member(self, id: str) -> Member | None:
        return next((member for member in self.members if member.id == id), None)

    def due(self, me: str, lease: float = LEASE) -> Change | None:
        """Return the change that member `me` should make, None for none.

        Members with a current lease enter; members that left go. A late member goes only if `me` has sent beats
        for a whole lease without a break: after a database outage all leases have expired, and the first member to
        return must not remove the others.
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


@dataclass(slots=True)
class ReplicaState:
    """place: the replica's location, fit to show. told_at: it has all commits up to then, None before the first.
    untold: bytes of the log it does not have yet. says: the problem that stops it; "" if there is none.
    """

    place: str
    chain: str = ""
    told_at: Millis | None = None
    untold: int = 0
    says: str = ""
