"""The facts of a simulation, as far as they can be seen from outside: all that the oracle is given."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from storage.records.member import LEASE
from tests.simulation.afterwards import Afterwards
from tests.simulation.auditor import Audited
from tests.simulation.clients import AddedSource, Condition, Connection, MadeAlert, Taken
from tests.simulation.delivery_records import Letters
from tests.simulation.meddler import Deleted, Picked
from tests.simulation.origins.collector import SentSpan
from tests.simulation.origins.receiver import Receipt
from tests.simulation.origins.server import Seen
from tests.simulation.origins.sessions import Visit
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import DISK_FAULTS, SERVICE, OriginPlan, Program
from tests.simulation.standby import Followed


@dataclass(frozen=True)
class Logged:
    """An event as it lies in the log."""

    seq: int
    body: bytes

    @cached_property
    def event(self) -> dict[str, Any]:
        decoded = json.loads(self.body)
        assert isinstance(decoded, dict)
        return decoded

    @cached_property
    def at(self) -> float:
        """When it came by the service's clock, in seconds since the world began."""
        return datetime.fromisoformat(self.event["emitted_at"]).timestamp() - EPOCH


@dataclass(frozen=True, slots=True)
class LifeSpan:
    """One life of the service. `politely`: it was asked to stop, and nothing it held may be lost."""

    began: float
    ended: float
    politely: bool
    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on the disk: of which source, the event it lies with (0: of none), and the page that it shows."""

    source: str
    seq: int
    page: str


@dataclass(frozen=True, slots=True)
class ViewChange:
    """Who was inside from a moment on, where several nodes share a database."""

    at: float
    inside: frozenset[str]


@dataclass(slots=True)
class Facts:
    """Everything by name of machine or client, or by a source's URL.

    log: in order of position. seen: what each machine was asked. frames: (when, which text) handed to a WebSocket.
    asked: (when, for which name) the service asked its resolver; found: those that got an address. dialled: (when,
    which address). checkups: (when, how each source is). jwks, health: the service's own answers at the end. told:
    (when, event) of its log's loud lines.
    expired: at each client, (events taken, how far the log was deleted) when it was told that its cursor is too old.
    connections: the streams of each client. revoked: when each of its keys was deleted.
    spells: (from, to) in which a user changed or paused a source. deleted: the sources that were gone for good.
    picked: what he chose of pages. visits: of each site with sessions. pictures: that the disk holds at the end, and
    floor: how far the log was deleted then.
    remembered: (events in the log, what is remembered as told of each scripted page) at each end of a life and at rest.
    asked_by: as asked, with the member that asked in the middle. views: who was inside, by changes. members: of which
    node each was, and its life.
    spans: what its collector of traces was sent. audited: receipts of coverage. clock: (when, by how many seconds the
    service's clock is ahead since then). followed: the standby's steps; commits: (when, the newest position behind it).
    overdue: what had not arrived when patience ran out; empty when all came to rest.
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
        """Return what happened until now, whatever happens from now on."""
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
        """Return what the service's clock said at a moment."""
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
        """Return what was asked of a source itself, after the redirects."""
        return [seen for seen in self.seen.get(plan.machine, ()) if seen.path == plan.path]

    def good_looks(self, plan: OriginPlan) -> Iterator[float]:
        """Yield when a look at a source surely succeeded: it was answered in full, and nothing else went wrong."""
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
        """Return whether a frame of that time may not have been heard: a trouble of the disk is none."""
        near = any(f.at < ends and f.ends > begins and f.where in plan.machines for f in self.program.faults)
        return near or self.restless(begins, ends, but=DISK_FAULTS)

    def restless(self, begins: float, ends: float, *, but: Sequence[str] = ()) -> bool:
        """Return whether any fault or end of a life touched the service in that time; some faults aside."""
        faults = (fault for fault in self.program.faults if fault.where == SERVICE and fault.kind not in but)
        if any(fault.at < ends and fault.ends > begins for fault in faults):
            return True
        return any(begins < at < ends for at in self.actor_crashes) or self.reborn(begins, ends)

    def reborn(self, begins: float, ends: float) -> bool:
        """Return whether a life began or ended in that time."""
        if any(begins < life.ended < ends or begins < life.began < ends for life in self.lives):
            return True
        # Where there are several, a node's part goes to the others, and comes back.
        return any(trouble.at < ends and begins < trouble.ends + 2 * LEASE for trouble in self.program.troubles)
