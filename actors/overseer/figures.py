"""Figures computed from the running service on demand, in addition to the counters.

Each costs the same for any number of sources; totals over all sources are from the overdue monitor's last round, at
most half a minute old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from actors.matcher import Lag
from actors.observer import Labels
from actors.overseer.overseer import Overseer
from actors.sources.schedule.silence import OverdueMonitor
from actors.world import World
from storage.records.identity import START, millis_of
from storage.records.source import RANK, SOURCES
from storage.records.tiers import TIERS
from storage.sql.storage import Storage

N = TypeVar("N", bound=str)
Values = dict[Labels, float]
BREAKERS = ("closed", "open", "half-open")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by its labels. counts: it only grows, except when its counter restarts."""

    name: str
    says: str
    labels: Labels
    values: Mapping[Labels, float]
    counts: bool = False


class Figures:
    """lag: how far the matcher is behind the log."""

    def __init__(
        self, world: World, storage: Storage, overseer: Overseer, watchman: OverdueMonitor, lag: Callable[[], Lag]
    ) -> None:
        self._world, self._storage = world, storage
        self._overseer, self._watchman, self._lag = overseer, watchman, lag

    def read(self) -> Sequence[Figure]:
        return (*self._of_sources(), *self._of_actors(), *self._of_the_log(), *self._of_the_replica())

    def _of_the_replica(self) -> list[Figure]:
        state, behind, untold = self._storage.replica, 0.0, 0
        if state is not None:
            told_at = self._overseer.started_at if state.told_at is None else state.told_at
            behind, untold = max(0.0, (self._world.now() - told_at) / 1000), state.untold
        return [
            Figure("replica_behind_seconds", "How old the newest state is that the replica has.", (), {(): behind}),
            Figure("replica_untold_bytes", "Bytes of the write-ahead log that it has not.", (), {(): untold}),
        ]

    def _of_sources(self) -> list[Figure]:
        last, census = self._watchman.last, self._overseer.table.flag_counts()
        last_spent, states = self._watchman.check_rate, self._overseer.table.states()
        open_gate = float(not self._overseer.pause_switch.is_closed)
        return [
            Figure("sources", "Sources, paused ones too.", (), {(): len(self._overseer.table)}),
            Figure("sources_health", "Sources by the flag of their health.", ("flag",), _each(census, RANK)),
            Figure("sources_state", "Sources by their state now.", ("state",), _each(states, tuple(SOURCES))),
            Figure("sources_watched", "Sources that are watched, by tier.", ("tier",), _each(last.tiers, tuple(TIERS))),
            Figure("breakers", "Breakers of watched sources.", ("state",), _each(last.breakers, BREAKERS)),
            Figure("sources_overdue", "Sources with a late check.", (), {(): last.overdue}),
            Figure("looks_per_second", "Checks per second in the last half minute.", (), {(): last_spent.rate}),
            Figure("budget_passed_seconds", "How long looks_per_second has been passed.", (), {(): last_spent.passed}),
            Figure("watching", "1 normally, 0 while the service is drained.", (), {(): open_gate}),
        ]

    def _of_actors(self) -> list[Figure]:
        states, parts = self._overseer.states(), self._overseer.parts()
        each = ((kind, name, count) for kind, counts in states.items() for name, count in counts.items())
        actors: Values = {(kind, name): count for kind, name, count in each if name != "restarts"}
        restarts: Values = {(kind,): counts["restarts"] for kind, counts in states.items()}
        restarts["sanderling",] = sum(row.restarts for row in parts)
        up: Values = {(row.path,): float(row.state == "ok") for row in parts}
        queues: Values = {(name,): depth for name, depth in self._overseer.queues().items()}
        ownership = self._storage.ownership
        members = len(ownership.view.inside()) if ownership.shared else 1
        return [
            Figure("actors", "Actors of sources and destinations.", ("kind", "state"), actors),
            Figure("restarts", "Restarts.", ("supervisor",), restarts, counts=True),
            Figure("part_up", "1 for each fixed part that runs.", ("part",), up),
            Figure("queue_depth", "Messages that wait in a fixed part's mailbox.", ("part",), queues),
            Figure("members", "Nodes that share the database; 1 where there are no others.", (), {(): members}),
        ]

    def _of_the_log(self) -> list[Figure]:
        tail, now = self._storage.tail, self._world.now()
        lag = self._lag()
        age = (now - millis_of(tail.head)) / 1000 if tail.head > START else 0.0
        behind = max(0.0, self._world.metrics.streams.value - tail.statistics().waiting)
        sizes: Values = {(name,): size for name, size in self._storage.sizes().items()}
        return [
            Figure("log_age_seconds", "How old the newest event is; 0 without one.", (), {(): max(0.0, age)}),
            Figure("matcher_lag_seconds", "How long the oldest unmatched event waits.", (), {(): lag.seconds}),
            Figure("matcher_lag_events", "Events that wait to be matched.", (), {(): lag.events}),
            Figure("streams_behind", "Streams that are not at the end of the log just now.", (), {(): behind}),
            Figure("storage_bytes", "Size of the database's files.", ("file",), sizes),
        ]


def _each(found: Mapping[N, int], names: Iterable[N]) -> Values:
    """Return a value for each name, 0 by default: an intermittent series can't be drawn."""
    return {(name,): found.get(name, 0) for name in names}
