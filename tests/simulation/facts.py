"""The facts of a simulation that are visible from outside: the oracle's only input."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from extras.cluster.members.view_change import LEASE
from tests.simulation.afterwards import Afterwards
from tests.simulation.auditor import Audited
from tests.simulation.clients import AddedSource, Condition, Connection, MadeAlert, Taken
from tests.simulation.delivery_records import Letters
from tests.simulation.meddler import Deleted, Picked, Titled
from tests.simulation.origins.collector import SentSpan
from tests.simulation.origins.receiver import Receipt
from tests.simulation.origins.server import Seen
from tests.simulation.origins.sessions import Visit
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import DISK_FAULTS, SERVICE, OriginPlan, Program
from tests.simulation.standby import Followed


@dataclass(frozen=True)
class Logged:
    """An event in the log."""

    seq: int
    body: bytes

    @cached_property
    def event(self) -> dict[str, Any]:
        decoded = json.loads(self.body)
        assert isinstance(decoded, dict)
        return decoded

    @cached_property
    def at(self) -> float:
        """Its time by the service's clock, in seconds since the world began."""
        return datetime.fromisoformat(self.event["emitted_at"]).timestamp() - EPOCH


@dataclass(frozen=True, slots=True)
class LifeSpan:
    """One life of the service. `politely`: stopped by request, without loss."""

    began: float
    ended: float
    politely: bool
    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on the disk: its source, its event (0: none), and the page in it."""

    source: str
    seq: int
    page: str


@dataclass(frozen=True, slots=True)
class ViewChange:
    """The members from a moment on, where several nodes share a database."""

    at: float
    inside: frozenset[str]


@dataclass(slots=True)
class Facts:
    """Everything by name of machine or client, or by a source's URL.

    log: in order of position. seen: the requests to each machine. frames: (when, which text) handed to a WebSocket.
    asked: (when, which name) of the service's DNS queries; found: those with an address. dialled: (when, address).
    checkups: (when, each source's state). jwks, health: the service's own answers at the end. told: (when, event) of
    its log's warnings and errors. expired: at each client, (events taken, deleted up to this position) for each "cursor
    too old" answer. connections: the streams of each client. revoked: when each of its keys was deleted. spells: (from,
    to) in which a user changed or paused a source. deleted: the sources that were gone for good. picked: the user's
    choices of page parts. visits: of each site with sessions. pictures: on the disk at the end; floor: the log was
    deleted up to here then. remembered: (events in the log, stored text of each scripted page) at each end of a life
    and at rest. asked_by: like asked, with the asking member in the middle. views: the members, by changes. members:
    each one's node and life. spans: received by the trace collector. audited: receipts of coverage. clock: (when,
    seconds that the service's clock is ahead since then). followed: the standby's steps; commits: (when, the newest
    position after it). overdue: still missing when patience ran out; empty when all came to rest.
    """

    program: Program
    added: Mapping[str, AddedSource] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    alerts: Sequence[MadeAlert] = ()
    log: list[Logged] = field(default_factory=list)
    seen: Mapping[str, Sequence[Seen]] = field(default_factory=dict)
    frames: Mapping[str, Sequence[tuple[float, int]]] = field(default_factory=dict)
    asked: Sequence[tuple[float, str]] = ()
    found: Sequence[tuple[float, str]] = ()
    dialled: Sequence[tuple[float, str]] = ()
    asked_by: Sequence[tuple[float, str, str]] = ()
    views: Sequence[ViewChange] = ()
    members: Mapping[str, tuple[int, LifeSpan]] = field(default_factory=dict)
    receipts: Sequence[Receipt] = ()
    taken: Mapping[str, Sequence[Taken]] = field(default_factory=dict)
    connections: Mapping[str, Sequence[Connection]] = field(default_factory=dict)
    revoked: Mapping[str, Sequence[float]] = field(default_factory=dict)
    expired: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    checkups: Sequence[tuple[float, Mapping[str, Condition]]] = ()
    lives: list[LifeSpan] = field(default_factory=list)
    actor_crashes: Sequence[float] = ()
    told: Sequence[tuple[float, str]] = ()
    jwks: Any = None
    health: dict[str, Any] = field(default_factory=dict)
    remembered: list[tuple[int, Mapping[str, Sequence[str]]]] = field(default_factory=list)
    overdue: list[str] = field(default_factory=list)
    deaf: list[str] = field(default_factory=list)
    ends: float = 0.0
    letters: Letters | None = None
    spells: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    deleted: Sequence[Deleted] = ()
    picked: Sequence[Picked] = ()
    titled: Sequence[Titled] = ()
    visits: Mapping[str, Sequence[Visit]] = field(default_factory=dict)
    pictures: Sequence[Shown] = ()
    floor: int = 0
    afterwards: Afterwards | None = None
    untrue: Sequence[str] = ()
    spans: Sequence[SentSpan] = ()
    audited: Sequence[Audited] = ()
    clock: Sequence[tuple[float, float]] = ((0.0, 0.0),)
    followed: Sequence[Followed] = ()
    commits: Sequence[tuple[float, int]] = ()

    def frozen(self) -> Facts:
        """Return the facts up to now, unchanged by later ones."""
        lists = (
            "log",
            "receipts",
            "spans",
            "checkups",
            "lives",
            "actor_crashes",
            "told",
            "overdue",
            "deaf",
            "followed",
            "commits",
        )
        groups = ("seen", "frames", "taken", "connections", "expired")
        copies: dict[str, Any] = {name: list(getattr(self, name)) for name in lists}
        copies |= {name: {key: list(each) for key, each in getattr(self, name).items()} for name in groups}
        return replace(self, **copies)

    def shown(self, at: float) -> float:
        """Return the service's clock at a moment."""
        place = bisect_right(self.clock, at, key=lambda step: step[0]) - 1
        return at + self.clock[max(0, place)][1]

    def of(self, plan: OriginPlan) -> list[Logged]:
        """Return the events of one source, without the service's own notices."""
        return [logged for logged in self.all_of(plan) if "alert_type" not in logged.event]

    def notices(self, plan: OriginPlan, kind: str) -> list[Logged]:
        """Return the notices of a kind about one source."""
        return [logged for logged in self.all_of(plan) if logged.event.get("alert_type") == kind]

    def all_of(self, plan: OriginPlan) -> list[Logged]:
        """Return the events of one source, and the service's notices about it."""
        added = self.added.get(plan.url)
        return [] if added is None else [logged for logged in self.log if logged.event["source_id"] == added.id]

    def looks(self, plan: OriginPlan) -> list[Seen]:
        """Return the requests to a source itself, after the redirects."""
        return [seen for seen in self.seen.get(plan.machine, ()) if seen.path == plan.path]

    def good_looks(self, plan: OriginPlan) -> Iterator[float]:
        """Yield when a check of a source surely succeeded: answered in full, without any fault."""
        for seen in self.looks(plan):
            if seen.whole and seen.status in (200, 304) and not self.troubled(seen.at - 60, seen.at + 60, plan):
                yield seen.at

    def troubled(self, begins: float, ends: float, plan: OriginPlan) -> bool:
        """Return whether any fault or end of a life touched this source or the service in that time."""
        machines = plan.machines
        near = any(f.at < ends and f.ends > begins and f.where in machines for f in self.program.faults)
        return near or self.meddled(begins, ends, plan) or self.restless(begins, ends)

    def meddled(self, begins: float, ends: float, plan: OriginPlan) -> bool:
        """Return whether a user changed or paused a source in that time."""
        return any(since < ends and until > begins for since, until in self.spells.get(plan.url, ()))

    def deaf_to(self, begins: float, ends: float, plan: OriginPlan) -> bool:
        """Return whether a frame of that time may have been missed; troubles of the disk do not count."""
        near = any(f.at < ends and f.ends > begins and f.where in plan.machines for f in self.program.faults)
        return near or self.restless(begins, ends, but=DISK_FAULTS)

    def restless(self, begins: float, ends: float, *, but: Sequence[str] = ()) -> bool:
        """Return whether any fault or end of a life touched the service in that time, except some faults."""
        faults = (fault for fault in self.program.faults if fault.where == SERVICE and fault.kind not in but)
        if any(fault.at < ends and fault.ends > begins for fault in faults):
            return True
        return any(begins < at < ends for at in self.actor_crashes) or self.reborn(begins, ends)

    def reborn(self, begins: float, ends: float) -> bool:
        """Return whether a life began or ended in that time."""
        if any(begins < life.ended < ends or begins < life.began < ends for life in self.lives):
            return True
        # A node's part moves to the other nodes, and back.
        return any(trouble.at < ends and begins < trouble.ends + 2 * LEASE for trouble in self.program.troubles)
