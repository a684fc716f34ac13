"""The view over the whole service, and the actions on its parts: its rows, newest changes and log lines, readiness,
open streams, and figures in addition to the counters. It reads records in memory and waits for no actor, so each figure
costs the same for any number of sources.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import trio

from actors.delivery.registry import DeliveryRegistry
from actors.errors import Conflict, NotFound
from actors.matcher import Lag
from actors.messages.workers import Record, RecorderMessage
from actors.notices import RESTORE, damage_notice
from actors.observer import Labels
from actors.overseer.rows import ChildSummary, Kind, Orders, Row, RowQuery, first_line, worst_of
from actors.recorder.actor import Recorder
from actors.sources.index import SourceIndex
from actors.sources.ports import LiveSource
from actors.sources.registry.actor import Registry
from actors.sources.schedule.pause import PauseSwitch
from actors.sources.schedule.silence import OverdueMonitor
from actors.world import World
from storage.ownership import Members
from storage.records.identity import SERVICE, START, Millis, Seq, millis_of
from storage.records.source import RANK, SOURCES, Harvest, PartState, Source, SourceRuntime
from storage.records.tiers import TIERS
from storage.sql.storage import Storage
from supervision import Child, DynamicSupervisor, Mailbox, MailboxFull, Reply, State, StateChange, Status, Supervisor

T = TypeVar("T")
CHANGES, LINES = 1000, 2000


class Ring(Generic[T]):
    """At most `most` items, the oldest go first. Numbers are consecutive, from 1 on."""

    def __init__(self, most: int) -> None:
        self._items: deque[T] = deque(maxlen=most)
        self.last = 0

    def add(self, item: T) -> None:
        self._items.append(item)
        self.last += 1

    def after(self, number: int) -> list[tuple[int, T]]:
        """Return the items after a number, oldest first, with their numbers."""
        first = self.last - len(self._items) + 1
        skip = max(0, number - first + 1)
        return [(first + index, item) for index, item in enumerate(self._items) if index >= skip]

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, slots=True)
class StateTransition:
    """The part of the tree at `path` changed its state; `error` is the first line of its crash, if any."""

    at: Millis
    path: str
    was: str
    now: str
    error: str


Line = Mapping[str, Any]
"""A log line as written: `ts`, `level`, `event`, `actor` if known, and other fields, safe to show."""


class Journal:
    """Both rings. Made before the log, which writes into it."""

    def __init__(self) -> None:
        self.changes: Ring[StateTransition] = Ring(CHANGES)
        self.lines: Ring[Line] = Ring(LINES)

    def lines_of(self, actor: str, after: int, limit: int) -> list[tuple[int, Line]]:
        """Return the newest `limit` lines after a number, of an actor and those below it; "" means all."""
        found = self.lines.after(after)
        if actor:
            found = [one for one in found if f"{one[1].get('actor', '')}/".startswith(f"{actor}/")]
        return found[-limit:]


STATES: dict[State, PartState] = {
    State.STARTING: "starting",
    State.RUNNING: "ok",
    State.BACKOFF: "backoff",
    State.QUARANTINED: "quarantined",
    State.STOPPING: "stopping",
    State.ENDED: "ended",
}
_CALM = ("ok", "new", "overdue")  # states of a source that its hold overrides
_MANY = ("sources", "destinations")  # the parts with a varying number of children
_COUNTED = ("starting", "running", "backoff", "quarantined", "stopping", "restarts")


@dataclass(frozen=True, slots=True)
class PartDetails:
    """A row with everything known about its part; status is None without a task, source if it is no source."""

    row: Row
    status: Status | None
    source: Source | None
    hot: SourceRuntime | None
    crashes: Sequence[StateTransition]


class Overseer:
    """root: the tree's supervisor, available once the tree is. The others hold the dynamic parts."""

    def __init__(
        self,
        world: World,
        root: Callable[[], Supervisor],
        *,
        sources: DynamicSupervisor,
        table: SourceIndex,
        destinations: DynamicSupervisor,
        deliveries: DeliveryRegistry,
        pause_switch: PauseSwitch,
        members: Members,
        journal: Journal,
        started_at: Millis,
        version: str,
    ) -> None:
        self._world, self._root = world, root
        self._sources, self.table = sources, table
        self._destinations, self._deliveries = destinations, deliveries
        self._orders = Orders(self._rows)
        self.pause_switch, self.journal = pause_switch, journal
        self._members = members
        self.version, self.started_at = version, started_at

    # --- looking -------------------------------------------------------------------------------------------------

    async def page(self, query: RowQuery, start: int, limit: int) -> tuple[list[Row], int]:
        paths = await self._orders.get(query)
        return self.rows(paths[start : start + limit]), len(paths)

    def rows(self, paths: Sequence[str]) -> list[Row]:
        return [row for row in map(self._find, paths) if row is not None]

    def details(self, path: str) -> PartDetails:
        """Return everything known about a part. Raises NotFound."""
        row = self._find(path)
        if row is None:
            raise NotFound(f"There is no {path} in the tree.")
        child, live = self._child(path), self._live(path)
        status = None if child is None else self._root().status(child.path)
        crashes = [turn for _, turn in self.journal.changes.after(0) if turn.path == path and turn.error]
        source, hot = (None, None) if live is None else (live.source, live.hot)
        return PartDetails(row, status, source, hot, crashes)

    def states(self) -> Mapping[str, Mapping[str, int]]:
        many = {"sources": self._sources.statistics(), "destinations": self._destinations.statistics()}
        return {name: {count: getattr(now, count) for count in _COUNTED} for name, now in many.items()}

    def sources_at_work(self) -> tuple[int, int, int]:
        """Return the number of watched sources, of failing or resting ones among them, and of paused ones."""
        states = self.table.states()
        paused = states.get("paused", 0)
        return len(self.table) - paused, states.get("failing", 0) + states.get("resting", 0), paused

    def queues(self) -> Mapping[str, int]:
        boxes = ((child.spec.id, child.spec.mailbox) for child in self._root().children)
        return {name: box.statistics().depth for name, box in boxes if box is not None}

    def parts(self) -> list[Row]:
        return [self._part(child) for child in self._root().children]

    def moment(self, at: float) -> Millis:
        """Return the wall clock's time of a moment of the loop's clock, in seconds."""
        return Millis(self._world.now() + round(1000 * (at - trio.current_time())))

    # --- acting --------------------------------------------------------------------------------------------------

    def restart(self, path: str) -> None:
        """Restart a part. Returns at once. Raises NotFound, Conflict, Stopping."""
        child = self._running(path)
        if "/" in path:
            child.restart()
        else:
            self._root().restart_child(path)
        self._orders.forget()

    def release(self, path: str) -> None:
        """End a quarantine or a backoff. Raises NotFound, Conflict."""
        child = self._running(path)
        if child.resumes_at is None:
            raise Conflict(f"{path} is {child.state}: only parts in quarantine or backoff can be released.")
        child.restart()
        self._orders.forget()

    async def drain(self, on: bool) -> None:
        """Stop or resume looks on all nodes; deliveries go on. Raises Unavailable."""
        await self._members.drain(on=on)
        if on:
            self.pause_switch.close()
        else:
            self.pause_switch.open()
        self._orders.forget()

    def on_state_change(self, change: StateChange) -> None:
        is_crash, old, new = change.new in (State.BACKOFF, State.QUARANTINED), str(change.old), str(change.new)
        if is_crash:
            self._world.log("actor.crashed", level="warning", actor=change.path, now=new, why=str(change.crash))
        else:
            self._world.log("actor.state", level="debug", actor=change.path, was=old, now=new)
        error = first_line(str(change.crash)) if is_crash and change.crash is not None else ""
        path = change.path.partition("/")[2]
        self.journal.changes.add(StateTransition(self.moment(change.at), path, old, new, error))

    def source_of(self, path: str) -> Source:
        """Return the source at a path. Raises NotFound, or Conflict if it is no source."""
        live = self._live(path)
        if live is None:
            if self._find(path) is None:
                raise NotFound(f"There is no {path} in the tree.")
            raise Conflict(f"{path} is no source.")
        return live.source

    def forget_orders(self) -> None:
        self._orders.forget()

    # --- rows ----------------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[Sequence[Row]]:
        yield self.parts()
        for part in self._destinations.slices():
            yield [self._destination(child) for child in part]
        for lives in self.table.slices():
            yield [self._source(live) for live in lives]

    def _find(self, path: str) -> Row | None:
        live = self._live(path)
        if live is not None:
            return self._source(live)
        child = self._child(path)
        if child is None:
            return None
        return self._destination(child) if "/" in path else self._part(child)

    def _live(self, path: str) -> LiveSource | None:
        many, _, id = path.partition("/")
        return self.table.look_up(id) if many == "sources" and id else None

    def _child(self, path: str) -> Child | None:
        many, _, id = path.partition("/")
        if id and many in _MANY:
            return (self._sources if many == "sources" else self._destinations).child(id)
        return self._root().find(f"{self._root().path}/{path}")

    def _running(self, path: str) -> Child:
        child = self._child(path)
        if child is not None:
            return child
        if self._find(path) is None:
            raise NotFound(f"There is no {path} in the tree.")
        raise Conflict(f"{path} is paused: it has no running task.")

    def _part(self, child: Child) -> Row:
        path = child.path.partition("/")[2]
        return self._row(child, path, "", "part", STATES[child.state], below=self._below(path))

    def _below(self, path: str) -> ChildSummary | None:
        """Return the summary of a part's children: of sources from counters, of destinations from a walk over them."""
        if path not in _MANY:
            return None
        supervisor = self._sources if path == "sources" else self._destinations
        statistics = supervisor.statistics()
        counts: dict[PartState, int] = {"quarantined": statistics.quarantined, "backoff": statistics.backoff}
        if path == "sources":
            return ChildSummary(len(self.table), _worst(counts | dict(self.table.states().items())))
        records = [self._deliveries.record(child.spec.id) for part in supervisor.slices() for child in part]
        failing = sum(record is not None and record.state == "failing" for record in records)
        return ChildSummary(len(supervisor), _worst({**counts, "failing": failing}))

    def _destination(self, child: Child) -> Row:
        id = child.spec.id
        record = self._deliveries.record(id)
        state = STATES[child.state]
        if state == "ok" and record is not None and record.state == "failing":
            state = "failing"
        return self._row(child, f"destinations/{id}", "" if record is None else record.url, "destination", state)

    def _source(self, live: LiveSource) -> Row:
        source = live.source
        path, child = f"sources/{source.id}", self._sources.child(source.id)
        if child is None:
            stopped: PartState = "ended" if source.enabled else "paused"
            return self._row(None, path, source.watch_url, source.type, stopped, live=live)
        state = STATES[child.state]
        if state == "ok":
            state = self.table.state_of(live)
            if child.on_hold and state in _CALM:
                state = "held"
        return self._row(child, path, source.watch_url, source.type, state, live=live)

    def _row(
        self,
        child: Child | None,
        path: str,
        name: str,
        kind: Kind,
        state: PartState,
        *,
        live: LiveSource | None = None,
        below: ChildSummary | None = None,
    ) -> Row:
        hot, source = (None, None) if live is None else (live.hot, live.source)
        resting = None if child is None else child.resumes_at
        due = hot.next_look_at if child is not None and hot is not None and resting is None else None
        crash = None if child is None or (resting is None and hot is not None) else child.crash
        since = Millis(0) if source is None else source.updated_at
        return Row(
            path,
            name,
            kind,
            state,
            health=None if hot is None else hot.health.score,
            flag=None if hot is None else hot.health.flag,
            restarts=0 if child is None else child.restarts,
            since=since if child is None else self.moment(child.since),
            error=first_line(str(crash) if crash is not None else None if hot is None else hot.last_error),
            next=due if resting is None else self.moment(resting),
            tags=() if source is None else source.tags,
            title="" if source is None else source.name,
            mailbox=None if child is None else child.spec.mailbox,
            pace=None if child is None or hot is None else hot.interval,
            trail=b"" if hot is None else hot.trail,
            below=below,
        )


def _worst(states: Mapping[PartState, int]) -> PartState:
    return worst_of([state for state, count in states.items() if count])


_STARTING = {
    "log": "opening the log of events",
    "parsers": "starting the workers",
    "deliveries": "reading the destinations",
    "matcher": "reading the alerts",
}
"""The current task of a part until it is ready, for users."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Called, it returns the checks by name, "" where all is well. stopping: whether the service stops."""

    storage: Storage
    recorder: Recorder
    registry: Registry
    overseer: Overseer
    children: Callable[[], Sequence[Child]]
    stopping: Callable[[], bool]

    def __call__(self) -> Mapping[str, str]:
        down = [child.path for child in self.children() if child.state is not State.RUNNING]
        return {
            "storage": self._storage_fault(),
            "recorder": self.recorder.fault(),
            "watching": self.registry.overdue_monitor.fault(),
            "members": self.storage.ownership.isolation(),
            "tree": "" if not down else f"not running: {', '.join(down)}",
            "draining": self._draining(),
        }

    def starting(self) -> str:
        part = next((child.spec.id for child in self.children() if child.state is not State.RUNNING), "")
        if part == "registry":
            return f"reading the sources, {len(self.registry.table):,} so far"
        return _STARTING.get(part, "starting its parts")

    def _storage_fault(self) -> str:
        if self.storage.damage.says:
            return f"{self.storage.damage.says}. {RESTORE}"
        if not self.storage.stands():
            return "the data folder was deleted or replaced while it was in use: put it back, or all since then is lost"
        idle = trio.current_time() - self.storage.writer_moved_at()
        return "" if idle < 30 else f"the writer has not moved for {idle:.0f} s"

    def _draining(self) -> str:
        if self.stopping():
            return "the service is stopping"
        # Nodes drain together: requests and streams must still find a ready one.
        drained = self.overseer.pause_switch.is_drained and not self.storage.ownership.shared
        return "checks are stopped until a person resumes them" if drained else ""


class StorageWatch:
    """`stop` ends the tree, as only a new process can write again; `loss` says why, "" while storage works."""

    def __init__(
        self,
        world: World,
        storage: Storage,
        recorder: Mailbox[RecorderMessage],
        base_url: str,
        stop: Callable[[], None],
    ) -> None:
        self._world, self._storage, self._recorder = world, storage, recorder
        self._base_url, self._stop = base_url, stop
        self._damage_reported = False
        self.loss = ""

    async def run(self, child: Child) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._storage.follow)
            nursery.start_soon(self._report_damage)
            self.loss = await self._storage.wait_ended()
            if self.loss:
                self._world.log("storage.lost", level="error", why=self.loss)
                self._stop()
            await trio.sleep_forever()

    async def _report_damage(self) -> None:
        """Report damage once: in the log lines and, if the log still works, as an event."""
        says = await self._storage.damage.wait()
        if self._damage_reported:
            return
        self._damage_reported = True
        self._world.log("storage.damaged", level="error", says=f"{says}. {RESTORE}")
        report = damage_notice(says, self._base_url, self._world.now())
        with suppress(MailboxFull):  # the line and /readyz must do
            self._recorder.send_nowait(Record(Harvest(SERVICE, (report,), None), Reply()))


class StreamOwner(NamedTuple):
    """key: the id of an API key or a dashboard session; "" on the admin socket. name, prefix: of the key."""

    key: str
    name: str
    prefix: str = ""


class StreamProgress(Protocol):
    """A stream's cursor, and the bytes of events it has sent."""

    cursor: Seq
    sent: int


class OpenStream(NamedTuple):
    """asked: path and query. progress: None without the log. close: ends it; the client may reconnect and resume."""

    number: int
    owner: StreamOwner
    address: str
    asked: str
    since: Millis
    progress: StreamProgress | None
    close: Callable[[], None]


class OpenStreams:
    """All open streams by number; numbers are never reused."""

    def __init__(self) -> None:
        self._open: dict[int, OpenStream] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._open)

    def all(self) -> list[OpenStream]:
        return list(self._open.values())

    def find(self, number: int) -> OpenStream | None:
        return self._open.get(number)

    def add(
        self,
        owner: StreamOwner,
        address: str,
        asked: str,
        since: Millis,
        *,
        progress: StreamProgress | None,
        close: Callable[[], None],
    ) -> int:
        self._last += 1
        self._open[self._last] = OpenStream(self._last, owner, address, asked, since, progress, close)
        return self._last

    def drop(self, number: int) -> None:
        del self._open[number]


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
