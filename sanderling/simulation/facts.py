"""What really happened in a simulation, as far as it can be seen from outside: all that the oracle is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sanderling.simulation.clients import AddedSource, Taken
from sanderling.simulation.origins.receiver import Receipt
from sanderling.simulation.origins.server import Seen
from sanderling.simulation.program import SERVICE, OriginPlan, Program


@dataclass(frozen=True)
class Logged:
    """An event as it lies in the log."""

    seq: int
    body: bytes

    @cached_property
    def event(self) -> dict[str, Any]:
        """The event, decoded."""
        decoded = json.loads(self.body)
        assert isinstance(decoded, dict)
        return decoded


@dataclass(frozen=True, slots=True)
class LifeSpan:
    """One life of the service. `politely`: it was asked to stop, and nothing it held may be lost."""

    began: float
    ended: float
    politely: bool
    why: str


@dataclass(slots=True)
class Facts:
    """Everything by name of host or client.

    log: in order of position. frames: (when, which text) handed to a WebSocket. jwks, health: the service's own
    answers at the end. overdue: what had not arrived when patience ran out; empty when all came to rest.
    """

    program: Program
    added: Mapping[str, AddedSource] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    log: list[Logged] = field(default_factory=list)
    seen: Mapping[str, Sequence[Seen]] = field(default_factory=dict)
    frames: Mapping[str, Sequence[tuple[float, int]]] = field(default_factory=dict)
    receipts: Sequence[Receipt] = ()
    taken: Mapping[str, Sequence[Taken]] = field(default_factory=dict)
    lives: list[LifeSpan] = field(default_factory=list)
    actor_crashes: Sequence[float] = ()
    jwks: Any = None
    health: dict[str, Any] = field(default_factory=dict)
    overdue: list[str] = field(default_factory=list)
    deaf: list[str] = field(default_factory=list)
    ends: float = 0.0

    def of(self, plan: OriginPlan) -> list[Logged]:
        """Return the events of one source, without the service's own notices."""
        added = self.added.get(plan.host)
        if added is None:
            return []
        return [e for e in self.log if e.event["source_id"] == added.id and "alert_type" not in e.event]

    def troubled(self, begins: float, ends: float, host: str) -> bool:
        """Return whether any fault or end of a life touched this host or the service in that time."""
        faults = self.program.faults
        near = any(f.where in (host, SERVICE) and f.at < ends and f.at + f.lasts > begins for f in faults)
        if near or any(begins < at < ends for at in self.actor_crashes):
            return True
        return any(begins < life.ended < ends or begins < life.began < ends for life in self.lives)
