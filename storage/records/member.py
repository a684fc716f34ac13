"""Members that share one database, and the state of the replica.

All times are seconds of the database's clock; members' clocks decide nothing. Members inside watch, match and deliver.
No guarantee depends on the view: each write compares versions, claims and cursors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import Struct

from storage.records.identity import START, Millis, Seq

ALL, WEB = "all", "web"  # roles: a node that does everything, and one that only answers requests and streams
LEFT: Final = float("-inf")  # the `until` of a member that left in order


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
    """One start of one process. since: its beats have had no break since then. until: end of its lease, or LEFT. id:
    never reused. shown: the newest position that its readers have seen. timeline: PostgreSQL's (8 hex digits), at the
    last beat.
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
    """A database failover that a member saw. ends: the log's newest position after it. shown: the readers' position."""

    ends: Seq
    shown: Seq

    @property
    def lost(self) -> bool:
        return self.shown > self.ends


class View(Struct, frozen=True):
    """All members at a moment of the database's clock, by id. number: rises with changes. drained: no checks run."""

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
