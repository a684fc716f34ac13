"""The composition root: builds the tree of actors from settings, a World and opened storage, in start order.

Each actor starts after those it depends on. The tree stops in reverse: the front end first, then sources, matcher,
deliveries, and last the log, so that drafts under way are still committed. A crash restarts the actor and all that
started after it (rest_for_one). No actors wait for each other in a cycle: `tests/rules/test_actor_graph.py` draws the
graph from the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import trio

from actors.app_context import AppContext
from actors.bins import Bins
from actors.build import BUILD
from actors.catalogue.catalogue import Catalogue
from actors.clock import ClockWatch
from actors.delivery.outlets import LoopbackOutlet
from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.table import Kinds, built_in_kinds
from actors.egress.traffic import build_egress
from actors.extras import switched_on
from actors.heartbeat.beat import HeartbeatWriter
from actors.heartbeat.monitor import monitored
from actors.importing import Importer
from actors.matcher.actor import Matcher
from actors.messages.sources import RegistryMessage
from actors.messages.workers import ImportMessage, MatcherMessage, RecorderMessage
from actors.overseer.figures import Figures
from actors.overseer.journal import Journal
from actors.overseer.overseer import Overseer
from actors.pruner import Pruner
from actors.readiness import Readiness, StorageWatch
from actors.recorder.actor import Recorder
from actors.settings import Settings
from actors.shifts import Shifts
from actors.signing import SigningKeys
from actors.sources.admission import Admission
from actors.sources.ports import Ports
from actors.sources.registry.actor import Registry
from actors.sources.schedule.budgets import HopBudget
from actors.templates.catalogue import built_in
from actors.templates.instantiation import Templates
from actors.templates.template import Template
from actors.world import World
from extras.cluster.members.membership import Membership
from extras.cluster.members.ownership import HEARTBEAT, PRUNER, Ownership
from extras.cluster.members.usage import Usage
from extras.cluster.replica.shipper import Shipper
from storage.errors import StorageError
from storage.records.alert import Alert
from storage.records.key import SigningKey
from storage.records.member import Says
from storage.sql.storage import Storage
from supervision import (
    Change,
    Child,
    ChildSpec,
    DynamicSupervisor,
    Escalate,
    Mailbox,
    State,
    Strategy,
    Supervisor,
    Watchdog,
)

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
        observers = [extra.observer(world, settings) for extra in switched_on(settings) if extra.observer is not None]
        world = replace(world, observer=observers[0]) if observers else world
        self._world, self._settings, self.storage, self._version = world, settings, storage, version
        self._stopping, self._superseded = False, ""
        self._kinds = built_in_kinds() if kinds is None else kinds
        self.recorder_box: Mailbox[RecorderMessage] = Mailbox("recorder", 1024)
        self.matcher_box: Mailbox[MatcherMessage] = Mailbox("matcher", 64)
        self.registry_box: Mailbox[RegistryMessage] = Mailbox("registry", 256)
        self.importer_box: Mailbox[ImportMessage] = Mailbox("importer", 16)
        base_url, me = settings.public_url(), None if storage.sharing is None else storage.members.me
        self.ownership = Ownership(me)
        self.usage = Usage(shared=self.ownership.shared)
        self.shifts = Shifts(world, storage, me or "")
        signing = SigningKeys(storage, keys)
        sign = signing.signer_of_checks(world, base_url) if settings.sign_looks == "on" else None
        self.egress = build_egress(world, settings, sign)
        # Storage at the bottom: one recorder writes the log.
        self._watch = StorageWatch(world, storage, self.recorder_box, base_url, self.stop_tree)
        self.shipper = self._shipper()
        self.recorder = self._recorder(signing)
        self._pruner = Pruner(world, settings, storage, storage.tail.head)
        # Deliveries: one actor for each destination.
        self.destinations = DynamicSupervisor("destinations", chance=world.chance("supervision/destinations"))
        self.outlet = LoopbackOutlet(self.egress, Bins(world, storage, base_url), settings.contact)
        self.deliveries = self._deliveries()
        # Sources: one actor for each, which sends what it finds to the recorder.
        self.sources = DynamicSupervisor(
            "sources",
            chance=world.chance("supervision/sources"),
            alarm=lambda alarm: world.log("sources.alarm", level="error", says=str(alarm)),
        )
        self._ports = self._source_ports()
        self.registry = Registry(self._ports, self.sources, self.registry_box)
        # The matcher, between the log and the deliveries.
        self.matcher = self._matcher()
        # The operator's view over all of it.
        self.overseer = self._overseer(journal or Journal())
        self.figures = self._figures()
        self.membership = None if me is None else self._membership()
        self.readiness = self._readiness()
        self.context = self._context(signing, built_in() if templates is None else templates)
        self.supervisor = self._supervised([*self._children(), *front(self.context)], steps, stuck)

    def _supervised(
        self, children: Sequence[ChildSpec], steps: Watchdog | None, stuck: Callable[[Escalate], None] | None
    ) -> Supervisor:
        return Supervisor(
            "sanderling",
            children,
            strategy=Strategy.REST_FOR_ONE,
            intensity=3,
            period=60.0,
            chance=self._world.chance("supervision/root"),
            on_change=self._on_change,
            steps=steps,
            on_stuck=stuck,
        )

    def _children(self) -> Sequence[ChildSpec]:
        """Return the tree in start order, without the front end."""
        world, settings = self._world, self._settings
        importer = Importer(world, self.registry_box, self.importer_box)
        node = self.ownership.me or settings.public_url()
        return [
            ChildSpec("storage", self._watch.run),
            *([] if self.shipper is None else [ChildSpec("replica", self.shipper.run, ready_within=READY_WITHIN)]),
            ChildSpec("log", self.recorder.run, ready_within=10, mailbox=self.recorder_box),
            ChildSpec("shifts", self.shifts.run, ready_within=READY_WITHIN),
            *([] if self.membership is None else [ChildSpec("members", self.membership.run, shutdown=5.0)]),
            ChildSpec("egress", self.egress.run, ready_within=10),
            *world.observer.children(self.egress, version=self._version, node=node),
            ChildSpec("parsers", world.jail.run),
            *([] if world.browser is None else [ChildSpec("browser", self._browse, ready_within=READY_WITHIN)]),
            ChildSpec("destinations", self.destinations.run, ready_within=10),
            ChildSpec("deliveries", self.deliveries.run, ready_within=READY_WITHIN),
            ChildSpec("matcher", self.matcher.run, ready_within=READY_WITHIN, mailbox=self.matcher_box),
            ChildSpec("sources", self.sources.run, ready_within=10),
            ChildSpec("registry", self.registry.run, ready_within=READY_WITHIN, mailbox=self.registry_box),
            ChildSpec("importer", importer.run, mailbox=self.importer_box),
            ChildSpec("pruner", self.ownership.only_here(PRUNER, self._pruner.run)),
            ChildSpec("clock", ClockWatch(world, self.deliveries.stepped).run),
            *monitored(world, settings, self.egress, self.readiness),
            *self._heartbeat_events(),
        ]

    def _recorder(self, signing: SigningKeys) -> Recorder:
        return Recorder(
            world=self._world,
            storage=self.storage,
            signing=signing,
            base_url=self._settings.public_url(),
            mailbox=self.recorder_box,
            chance=self._world.chance("recorder/ids"),
        )

    def _deliveries(self) -> DeliveryRegistry:
        return DeliveryRegistry(
            world=self._world,
            storage=self.storage,
            egress=self.outlet,
            kinds=self._kinds,
            destinations=self.destinations,
            record=self.recorder_box.send_nowait,
            base_url=self._settings.public_url(),
            ownership=self.ownership,
        )

    def _source_ports(self) -> Ports:
        return Ports(
            self._world,
            self._settings,
            self.storage,
            self.egress,
            self.recorder_box,
            Admission(self.storage.alerts),
            trio.CapacityLimiter(self._settings.looks_at_once),
            ownership=self.ownership,
            shifts=self.shifts,
            hops=HopBudget(self._settings.follow_all_per_hour),
        )

    def _matcher(self) -> Matcher:
        return Matcher(
            storage=self.storage,
            mailbox=self.matcher_box,
            nudge=self.deliveries.nudge,
            refresh=self.deliveries.refresh,
            heard=self._on_alerts,
            private_since=self.registry.table.was_private_since,
            world=self._world,
            ownership=self.ownership,
        )

    def _overseer(self, journal: Journal) -> Overseer:
        return Overseer(
            self._world,
            lambda: self.supervisor,
            sources=self.sources,
            table=self.registry.table,
            destinations=self.destinations,
            deliveries=self.deliveries,
            gate=self._ports.gate,
            members=self.storage.members,
            journal=journal,
            started_at=self._world.now(),
            version=self._version,
        )

    def _figures(self) -> Figures:
        return Figures(
            self._world,
            self.storage,
            self.overseer,
            self.registry.watchman,
            self.matcher.lag,
            ownership=self.ownership,
            replica=None if self.shipper is None else self.shipper.state,
        )

    async def _browse(self, child: Child) -> None:
        assert self._world.browser is not None
        await self._world.browser.run(child, connect=self.egress.guard.connect)

    def _heartbeat_events(self) -> Sequence[ChildSpec]:
        if not self._settings.heartbeat_event:
            return ()
        writer = HeartbeatWriter(
            self._world,
            self.storage,
            self.recorder_box,
            self.readiness,
            self.overseer.sources_at_work,
            every=self._settings.heartbeat_event,
            base_url=self._settings.public_url(),
        )
        return (ChildSpec("heartbeats", self.ownership.only_here(HEARTBEAT, writer.run)),)

    def _shipper(self) -> Shipper | None:
        objects, shipping = self._world.replica, self.storage.shipping
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
            self.storage.members,
            self.ownership,
            self.usage,
            says=self._says,
            gate=self._ports.gate,
        )

    def _readiness(self) -> Readiness:
        return Readiness(
            self.storage,
            self.recorder,
            self.registry,
            self.overseer,
            self.ownership,
            self.membership,
            children=lambda: self.supervisor.children,
            stopping=lambda: self._stopping,
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

    async def _on_alerts(self, alerts: Sequence[Alert]) -> None:
        """Give the sources the current alerts: they decide admitted frames and the delay of notices."""
        await self._ports.admission.take(alerts)
        await self._ports.patience.take(alerts)

    def _on_change(self, change: Change) -> None:
        """Record a change of an actor's state; only crashes are warnings."""
        self.overseer.seen(change)
        if change.new in (State.BACKOFF, State.QUARANTINED):
            crash = str(change.crash)
            self._world.log("actor.crashed", level="warning", actor=change.path, now=str(change.new), why=crash)
        else:
            self._world.log("actor.state", level="debug", actor=change.path, was=str(change.old), now=str(change.new))

    def _context(self, signing: SigningKeys, catalogue: Catalogue[Template]) -> AppContext:
        return AppContext(
            world=self._world,
            settings=self._settings,
            storage=self.storage,
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
            templates=Templates(self._world, self._settings.registry_base, self.storage, self.registry_box, catalogue),
            draining=lambda: self._stopping,
            importer=self.importer_box,
            alert_changes=self.matcher.changes,
            callbacks=self.egress.callbacks,
            private_since=self.registry.table.private_since,
            source_changes=lambda: self.registry.table.changes,
            spent=lambda: self.registry.watchman.spent,
            clock_doubt=lambda: self._pruner.doubt,
            ownership=self.ownership,
            usage=self.usage,
            replica=None if self.shipper is None else self.shipper.state,
            test_elsewhere=self.deliveries.test_elsewhere if self.ownership.shared else None,
        )

    async def run(self) -> None:
        """Run the tree until stopped. Raises Escalate if it can't be kept up, Superseded if a standby took over."""
        await self.supervisor.run()
        if not self._watch.lost and not self._superseded:
            await self._end_shift()
        if self._superseded:
            raise Superseded(self._superseded)
        if self._watch.lost:
            raise Escalate(self.supervisor.path, "storage", self._watch.lost)

    async def _end_shift(self) -> None:
        """Record that all checks are stored. If storage refuses, the next start counts this run as a crash."""
        with trio.move_on_after(SHIFT_ENDS_WITHIN), suppress(StorageError):
            await self.shifts.end()

    def stop_tree(self) -> None:
        """Stop the tree, though nobody asked for it."""
        self.supervisor.stop()

    def stop(self, *, now: bool = False) -> None:
        """Request an ordered stop; `now` skips politeness."""
        self._stopping = True
        self.supervisor.stop(now=now)
