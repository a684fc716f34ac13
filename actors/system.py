"""The composition root: builds the tree of actors from settings, a World and opened storage, in start order.

Each actor starts after those it depends on. The tree stops in reverse: the front end first, then sources, matcher,
deliveries, and last the log, so that drafts under way are still committed. A crash restarts the actor and all that
started after it (rest_for_one). No actors wait for each other in a cycle: `tests/rules/test_actor_graph.py` draws the
graph from the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import trio

from actors.app_context import AppContext
from actors.bins import Bins
from actors.build import BUILD
from actors.catalogue.catalogue import Catalogue
from actors.clock import ClockWatch
from actors.delivery.outlets import LoopbackOutlet
from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.table import Kinds, built_in_kinds
from actors.egress.headers import VERSION
from actors.egress.http import Sign
from actors.egress.traffic import Egress, build_egress
from actors.egress.url import Url, parse_url
from actors.heartbeat.beat import HeartbeatWriter
from actors.heartbeat.monitor import Heartbeat
from actors.importing import Importer
from actors.matcher.actor import Matcher
from actors.members.membership import Membership
from actors.members.ownership import HEARTBEAT, PRUNER, Ownership
from actors.members.usage import Usage
from actors.messages.sources import RegistryMessage
from actors.messages.workers import ImportMessage, MatcherMessage, Record, RecorderMessage
from actors.notices import RESTORE, of_damage
from actors.overseer.figures import Figures
from actors.overseer.journal import Journal
from actors.overseer.overseer import Overseer
from actors.pruner import Pruner
from actors.recorder.actor import Recorder
from actors.replica.shipper import Shipper
from actors.settings import Settings
from actors.shifts import Shifts
from actors.signatures.event import new_signing_key
from actors.signing import SigningKeys
from actors.sources.admission import Admission
from actors.sources.ports import Ports
from actors.sources.registry.actor import Registry
from actors.sources.schedule.budgets import HopBudget
from actors.sources.schedule.pause import PauseSwitch
from actors.span_exporter import SpanExporter
from actors.templates.catalogue import built_in
from actors.templates.instantiation import Templates
from actors.templates.template import Template
from actors.tracing.otlp import headers_in, traces_url
from actors.tracing.tracer import Tracer
from actors.world import World
from storage.errors import StorageError
from storage.records.alert import Alert
from storage.records.identity import SERVICE
from storage.records.key import SigningKey
from storage.records.member import Says
from storage.records.source import Harvest
from storage.sql.storage import Storage
from supervision import (
    Alarm,
    Change,
    Child,
    ChildSpec,
    DynamicSupervisor,
    Escalate,
    Mailbox,
    MailboxFull,
    Reply,
    Run,
    State,
    Strategy,
    Supervisor,
    Watchdog,
)

_STARTING = {
    "log": "opening the log of events",
    "parsers": "starting the workers",
    "deliveries": "reading the destinations",
    "matcher": "reading the alerts",
}
"""The current task of a part until it is ready, for users."""
WISHES = 1_000
"""WebSub subscriptions that may wait for confirmation."""
READY_WITHIN = 600.0
"""Seconds for a part that reads all of storage: slow machines with much data are no crash."""
SHIFT_ENDS_WITHIN = 5.0
Front = Callable[[AppContext], Sequence[ChildSpec]]


class Superseded(Exception):
    """A standby has taken over; the sentence names it and the time. This service must not restart by itself."""


class System:
    """The whole service. `await run()` until `stop()`; `context` is given to the front end.

    keys: the signing keys, the active one first. templates, kinds: default to the built-in ones. steps: a running
    watchdog, for the steps shown in the tree. journal: the journal of log lines. version: the program's, shown to
    users. stuck: ends the process when the tree gives up and one of its tasks hangs.
    """

    def __init__(
        self,
        world: World,
        settings: Settings,
        storage: Storage,
        keys: Sequence[SigningKey],
        front: Front,
        *,
        templates: Catalogue[Template] | None = None,
        kinds: Kinds | None = None,
        steps: Watchdog | None = None,
        journal: Journal | None = None,
        version: str = "",
        stuck: Callable[[Escalate], None] | None = None,
    ) -> None:
        self._world, self._settings, self._storage = world, settings, storage
        self._catalogue = built_in() if templates is None else templates
        self._kinds = built_in_kinds() if kinds is None else kinds
        self._version = version
        self._stopping, self._lost, self._damage_told = False, "", False
        self._superseded = ""
        self.recorder_box: Mailbox[RecorderMessage] = Mailbox("recorder", 1024)
        self.matcher_box: Mailbox[MatcherMessage] = Mailbox("matcher", 64)
        self.registry_box: Mailbox[RegistryMessage] = Mailbox("registry", 256)
        self.importer_box: Mailbox[ImportMessage] = Mailbox("importer", 16)
        sharing = storage.sharing
        self.ownership = Ownership(None if sharing is None else storage.members.me)
        self.usage = Usage(shared=self.ownership.shared)
        signing = SigningKeys(storage, keys)
        self.tracer = _tracer(world, settings)
        self.egress = build_egress(world, settings, _signing_of_looks(world, settings, signing))
        self.destinations = DynamicSupervisor("destinations", chance=world.chance("supervision/destinations"))
        self.outlet = LoopbackOutlet(self.egress, Bins(world, storage, settings.public_url()), settings.contact)
        self.shifts = Shifts(world, storage, "" if sharing is None else storage.members.me)
        self.deliveries = self._deliveries()
        self.sources = DynamicSupervisor(
            "sources", chance=world.chance("supervision/sources"), alarm=partial(_alarm, world)
        )
        ports = self._ports()
        self._ports_of_sources = ports
        self.registry = Registry(ports, self.sources, self.registry_box)
        self.overseer = self._overseer(ports.gate, journal or Journal(), version)
        self.membership = None if sharing is None else self._membership()
        self.shipper = self._shipper()
        self.recorder = self._recorder(signing)
        self.matcher = self._matcher()
        self.figures = self._figures()
        self.context = self._context(signing)
        self.supervisor = Supervisor(
            "sanderling",
            [*self._children(), *front(self.context)],
            strategy=Strategy.REST_FOR_ONE,
            intensity=3,
            period=60.0,
            chance=world.chance("supervision/root"),
            on_change=partial(_tell, world, self.overseer),
            steps=steps,
            on_stuck=stuck,
        )

    def _figures(self) -> Figures:
        return Figures(
            self._world,
            self._storage,
            self.overseer,
            self.registry.watchman,
            self.matcher.lag,
            ownership=self.ownership,
            replica=None if self.shipper is None else self.shipper.state,
        )

    def _deliveries(self) -> DeliveryRegistry:
        return DeliveryRegistry(
            world=self._world,
            storage=self._storage,
            egress=self.outlet,
            kinds=self._kinds,
            destinations=self.destinations,
            record=self.recorder_box.send_nowait,
            base_url=self._settings.public_url(),
            ownership=self.ownership,
            tracer=self.tracer,
        )

    def _recorder(self, signing: SigningKeys) -> Recorder:
        return Recorder(
            world=self._world,
            storage=self._storage,
            signing=signing,
            base_url=self._settings.public_url(),
            mailbox=self.recorder_box,
            chance=self._world.chance("recorder/ids"),
            tracer=self.tracer,
        )

    def _matcher(self) -> Matcher:
        return Matcher(
            storage=self._storage,
            mailbox=self.matcher_box,
            nudge=self.deliveries.nudge,
            refresh=self.deliveries.refresh,
            heard=partial(_heard, self._ports_of_sources),
            private_since=self.registry.table.was_private_since,
            world=self._world,
            ownership=self.ownership,
            tracer=self.tracer,
        )

    def _overseer(self, gate: PauseSwitch, journal: Journal, version: str) -> Overseer:
        return Overseer(
            self._world,
            lambda: self.supervisor,
            sources=self.sources,
            table=self.registry.table,
            destinations=self.destinations,
            deliveries=self.deliveries,
            gate=gate,
            members=self._storage.members,
            journal=journal,
            started_at=self._world.now(),
            version=version,
        )

    def _children(self) -> Sequence[ChildSpec]:
        """Return the tree in start order, without the front end."""
        importer = Importer(self._world, self.registry_box, self.importer_box)
        pruner = self._pruner = Pruner(self._world, self._settings, self._storage, self._storage.tail.head)
        return [
            ChildSpec("storage", self._await_loss),
            *([] if self.shipper is None else [ChildSpec("replica", self.shipper.run, ready_within=READY_WITHIN)]),
            ChildSpec("log", self.recorder.run, ready_within=10, mailbox=self.recorder_box),
            ChildSpec("shifts", self.shifts.run, ready_within=READY_WITHIN),
            *([] if self.membership is None else [ChildSpec("members", self.membership.run, shutdown=5.0)]),
            ChildSpec("egress", _holding(self.egress), ready_within=10),
            *self._tracing(),
            ChildSpec("parsers", self._world.jail.run),
            *self._browser(),
            ChildSpec("destinations", self.destinations.run, ready_within=10),
            ChildSpec("deliveries", self.deliveries.run, ready_within=READY_WITHIN),
            ChildSpec("matcher", self.matcher.run, ready_within=READY_WITHIN, mailbox=self.matcher_box),
            ChildSpec("sources", self.sources.run, ready_within=10),
            ChildSpec("registry", self.registry.run, ready_within=READY_WITHIN, mailbox=self.registry_box),
            ChildSpec("importer", importer.run, mailbox=self.importer_box),
            ChildSpec("pruner", self._of_one_node(PRUNER, pruner.run)),
            ChildSpec("clock", ClockWatch(self._world, self.deliveries.stepped).run),
            *self._heartbeat(),
            *self._heartbeat_events(),
        ]

    def _tracing(self) -> Sequence[ChildSpec]:
        """Return the exporter of traces. It starts early, to stop after all actors that add spans, and has a separate
        supervisor, so that its crash restarts no other actor.
        """
        if self.tracer is None:
            return ()
        settings, many = self._settings, DynamicSupervisor("tracing", chance=self._world.chance("supervision/tracing"))
        url = parse_url(traces_url(settings.otlp_endpoint), schemes=("http", "https"))
        me = settings.public_url() if self._storage.sharing is None else self._storage.members.me
        exporter = SpanExporter(
            self._world,
            self.tracer,
            self.egress.deliver if url.secure else self.egress.deliver_plain,
            url,
            headers_in(settings.otlp_headers),
            resource={
                "service.name": "sanderling",
                "service.version": self._version or VERSION,
                "service.instance.id": settings.node_name or me,
            },
            scope={"name": "sanderling", "version": self._version or VERSION},
            chance=self._world.chance("tracing"),
        )

        async def run(child: Child) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(many.run, child)
                await many.wait_running()
                many.start_child(ChildSpec("exporter", partial(exporter.run, shown=child)))

        return [ChildSpec("tracing", run, ready_within=10)]

    def _browser(self) -> Sequence[ChildSpec]:
        if self._world.browser is None:
            return ()
        run = partial(self._world.browser.run, connect=self.egress.guard.connect)
        return [ChildSpec("browser", run, ready_within=READY_WITHIN)]

    def _heartbeat_events(self) -> Sequence[ChildSpec]:
        if not self._settings.heartbeat_event:
            return ()
        writer = HeartbeatWriter(
            self._world,
            self._storage,
            self.recorder_box,
            self.readiness,
            self.overseer.sources_at_work,
            every=self._settings.heartbeat_event,
            base_url=self._settings.public_url(),
        )
        return [ChildSpec("heartbeats", self._of_one_node(HEARTBEAT, writer.run))]

    def _heartbeat(self) -> Sequence[ChildSpec]:
        if not self._settings.heartbeat_url:
            return ()
        url = parse_url(self._settings.heartbeat_url, schemes=("http", "https"))
        poster = self.egress.deliver if url.scheme == "https" else self.egress.deliver_plain
        heartbeat = Heartbeat(self._world, poster, url, self._settings.heartbeat_every, self.readiness)
        return [ChildSpec("heartbeat", heartbeat.run)]

    def _shipper(self) -> Shipper | None:
        objects, shipping = self._world.replica, self._storage.shipping
        if objects is None or shipping is None:
            return None
        return Shipper(
            self._world,
            shipping,
            objects,
            place=self._settings.replica,
            version=self._version,
            by=self._settings.node_name or self._settings.public_url(),
            superseded=self._give_way,
        )

    def _give_way(self, why: str) -> None:
        """Stop: a standby has taken over, and this service's writes are refused."""
        self._superseded = why
        self.stop(now=True)

    def _membership(self) -> Membership:
        return Membership(
            self._world,
            self._storage.members,
            self.ownership,
            self.usage,
            says=self._says,
            gate=self._ports_of_sources.gate,
        )

    def _says(self) -> Says:
        """Return this node's status for the other nodes."""
        found = self.registry.watchman.last
        return Says(
            version=self._version,
            build=BUILD,
            address=self._settings.public_url(),
            sources=found.sources,
            overdue=found.overdue,
            lag=self.matcher.lag().seconds,
            streams=int(self._world.metrics.streams.value),
            role=self._settings.node_role,
        )

    def _of_one_node(self, key: str, run: Run) -> Run:
        """Return a run that is active while this node owns a key."""
        if not self.ownership.shared:
            return run

        async def run_if_mine(child: Child) -> None:
            while True:
                await self.ownership.wait_mine(key)
                await self.ownership.during(key, partial(run, child))

        return run_if_mine

    def _ports(self) -> Ports:
        return Ports(
            self._world,
            self._settings,
            self._storage,
            self.egress,
            self.recorder_box,
            Admission(self._storage.alerts),
            trio.CapacityLimiter(self._settings.looks_at_once),
            ownership=self.ownership,
            shifts=self.shifts,
            tracer=self.tracer,
            hops=HopBudget(self._settings.follow_all_per_hour),
        )

    def _context(self, signing: SigningKeys) -> AppContext:
        return AppContext(
            world=self._world,
            settings=self._settings,
            storage=self._storage,
            registry=self.registry_box,
            matcher=self.matcher_box,
            destination=self.deliveries.mailbox,
            jwks=signing.published,
            look_keys=signing.directory if self._settings.sign_looks == "on" else None,
            signer=signing.signer,
            shifts=self.shifts,
            readiness=self.readiness,
            overdue=lambda: self.registry.watchman.last.overdue,
            lag=self.matcher.lag,
            kinds=self._kinds,
            inviter=self.deliveries.sender,
            overseer=self.overseer,
            figures=self.figures.read,
            templates=Templates(
                self._world, self._settings.registry_base, self._storage, self.registry_box, self._catalogue
            ),
            draining=lambda: self._stopping,
            importer=self.importer_box,
            alert_changes=self.matcher.changes,
            hub=Mailbox("hub", WISHES),
            callbacks=self.egress.callbacks,
            private_since=self.registry.table.private_since,
            source_changes=lambda: self.registry.table.changes,
            spent=lambda: self.registry.watchman.spent,
            clock_doubt=lambda: self._pruner.doubt,
            ownership=self.ownership,
            usage=self.usage,
            replica=None if self.shipper is None else self.shipper.state,
            tracer=self.tracer,
            test_elsewhere=self.deliveries.test_elsewhere if self.ownership.shared else None,
        )

    def _stored_well(self, idle: float) -> str:
        if self._storage.damage.says:
            return f"{self._storage.damage.says}. {RESTORE}"
        if not self._storage.stands():
            return "the data folder was deleted or replaced while it was in use: put it back, or all since then is lost"
        return "" if idle < 30 else f"the writer has not moved for {idle:.0f} s"

    def _draining(self) -> str:
        if self._stopping:
            return "the service is stopping"
        # Nodes drain together: requests and streams must still find a ready one.
        drained = self.overseer.gate.drained and not self.ownership.shared
        return "no looks are made until somebody resumes them" if drained else ""

    async def run(self) -> None:
        """Run the tree until stopped. Raises Escalate if it can't be kept up, Superseded if a standby took over."""
        await self.supervisor.run()
        if not self._lost and not self._superseded:
            await self._end_shift()
        if self._superseded:
            raise Superseded(self._superseded)
        if self._lost:
            raise Escalate(self.supervisor.path, "storage", self._lost)

    async def _end_shift(self) -> None:
        """Record that all checks are stored. If storage refuses, the next start counts this run as a crash."""
        with trio.move_on_after(SHIFT_ENDS_WITHIN), suppress(StorageError):
            await self.shifts.end()

    async def _await_loss(self, child: Child) -> None:
        """Report damage; stop the tree when storage can't be written any more, which only a new process can fix."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._storage.follow)
            nursery.start_soon(self._tell_damage)
            self._lost = await self._storage.wait_ended()
            if self._lost:
                self._world.log("storage.lost", level="error", why=self._lost)
                self.supervisor.stop()
            await trio.sleep_forever()

    async def _tell_damage(self) -> None:
        """Report damage once: in the log lines and, if the log still works, as an event."""
        says = await self._storage.damage.wait()
        if self._damage_told:
            return
        self._damage_told = True
        self._world.log("storage.damaged", level="error", says=f"{says}. {RESTORE}")
        told = of_damage(says, self._settings.public_url(), self._world.now())
        with suppress(MailboxFull):
            self.recorder_box.send_nowait(Record(Harvest(SERVICE, (told,), None), Reply()))

    def stop(self, *, now: bool = False) -> None:
        """Request an ordered stop; `now` skips politeness."""
        self._stopping = True
        self.supervisor.stop(now=now)

    def starting(self) -> str:
        """Return the current step of the start."""
        part = next((child.spec.id for child in self.supervisor.children if child.state is not State.RUNNING), "")
        if part == "registry":
            return f"reading the sources, {len(self.registry.table):,} so far"
        return _STARTING.get(part, "starting its parts")

    def readiness(self) -> Mapping[str, str]:
        """Readiness checks by name; an empty string means healthy."""
        idle = trio.current_time() - self._storage.writer_moved_at()
        down = [child.path for child in self.supervisor.children if child.state is not State.RUNNING]
        return {
            "storage": self._stored_well(idle),
            "recorder": self.recorder.says(),
            "watching": self.registry.watchman.says(),
            "members": "" if self.membership is None else self.membership.silence(),
            "tree": "" if not down else f"not running: {', '.join(down)}",
            "draining": self._draining(),
        }


async def _heard(ports: Ports, alerts: Sequence[Alert]) -> None:
    """Give the sources the current alerts: they decide admitted frames and the delay of notices."""
    await ports.admission.take(alerts)
    await ports.patience.take(alerts)


def _tell(world: World, overseer: Overseer, change: Change) -> None:
    """Record a change of an actor's state; only crashes are warnings."""
    overseer.seen(change)
    if change.new in (State.BACKOFF, State.QUARANTINED):
        crash = str(change.crash)
        world.log("actor.crashed", level="warning", actor=change.path, now=str(change.new), why=crash)
    else:
        world.log("actor.state", level="debug", actor=change.path, was=str(change.old), now=str(change.new))


def _alarm(world: World, alarm: Alarm) -> None:
    world.log("sources.alarm", level="error", says=str(alarm))


async def signing_keys(world: World, storage: Storage) -> Sequence[SigningKey]:
    """Return the signing keys, the active one first; the very first start makes one."""
    found = await storage.keys.signing()
    if not found:
        await storage.keys.add_first_signing(new_signing_key(world.entropy(32), world.now()))
        found = await storage.keys.signing()
    return found


def _signing_of_looks(world: World, settings: Settings, signing: SigningKeys) -> Sign | None:
    """Return the signer of requests, None if they are not signed."""
    agent = settings.public_url()

    async def sign(method: str, url: Url) -> Sequence[tuple[str, str]]:
        signer = await signing.message_signer()
        return signer.of_request(method, url.authority, url.target.partition("?")[0], agent, int(world.wall()))

    return sign if settings.sign_looks == "on" else None


def _tracer(world: World, settings: Settings) -> Tracer | None:
    """Return the tracer, None if tracing is off."""
    if not settings.otlp_endpoint:
        return None
    return Tracer(world.wall, settings.otlp_sampling, world.metrics.spans)


def _holding(egress: Egress) -> Run:
    async def hold(child: Child) -> None:
        child.ready()
        try:
            await child.stopping.wait()
        finally:
            with trio.move_on_after(2, shield=True):
                await egress.aclose()

    return hold
