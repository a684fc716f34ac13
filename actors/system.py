"""The composition root: wires the parts, each after those it calls, and starts them as a tree in the same order.

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
from actors.catalogue import Catalogue
from actors.coverage import ClockWatch, Shifts, heartbeat_children, monitor_children
from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.bins import Bins, delivery_transport
from actors.destination_kinds.table import Kinds, built_in_kinds
from actors.egress.traffic import build_egress
from actors.extras import always_on, switched_on
from actors.matcher import Matcher
from actors.messages.sources import RegistryMessage
from actors.messages.workers import ImportMessage, MatcherMessage, RecorderMessage
from actors.overseer.overseer import Figures, Journal, Overseer, Readiness, StorageWatch
from actors.recorder.actor import Recorder, SigningKeys
from actors.recorder.pruner import Pruner
from actors.settings import Settings
from actors.sources.admission import Admission
from actors.sources.importer import Importer
from actors.sources.ports import Ports
from actors.sources.registry.actor import Registry
from actors.sources.schedule.budgets import ItemPageBudget
from actors.templates.instantiation import Templates
from actors.templates.template import Template, built_in
from actors.world import World
from storage.errors import StorageError
from storage.ownership import PRUNER
from storage.records.access import SigningKey
from storage.sql.storage import Storage
from supervision import ChildSpec, DynamicSupervisor, Escalate, Mailbox, Strategy, Supervisor, Watchdog

READY_WITHIN = 600.0  # seconds for a part that reads all of storage: slow machines with much data are no crash
SHIFT_ENDS_WITHIN = 5.0
Front = Callable[[AppContext], Sequence[ChildSpec]]


class Superseded(Exception):
    """A standby has taken over; the sentence names it and the time. This service must not restart by itself."""


class System:
    """The whole service. `await run()` until `stop()`; `context` is given to the front end. keys: the signing keys, the
    active one first. templates, kinds: default to the built-in ones. steps: a running watchdog, for the tree. version:
    the program's, shown to users. stuck: ends the process when the tree gives up and one of its tasks hangs.
    stopping: the service has been asked to stop.
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
        self.world, self.settings, self.storage, self.version = world, settings, storage, version
        self.kinds = built_in_kinds() if kinds is None else kinds
        self.recorder_box: Mailbox[RecorderMessage] = Mailbox("recorder", 1024)
        self.matcher_box: Mailbox[MatcherMessage] = Mailbox("matcher", 64)
        self.registry_box: Mailbox[RegistryMessage] = Mailbox("registry", 256)
        self.importer_box: Mailbox[ImportMessage] = Mailbox("importer", 16)
        self.signing = SigningKeys(storage, keys)
        self._record()
        self._notify()
        self._watch()
        self._match()
        self._oversee(journal or Journal())
        self._superseded, self.stopping = "", False
        self.context = self._context(built_in() if templates is None else templates)
        self.supervisor = Supervisor(
            "sanderling",
            [*self._with_extras(self._children()), *front(self.context)],
            strategy=Strategy.REST_FOR_ONE,
            intensity=3,
            period=60.0,
            chance=world.chance("supervision/root"),
            on_change=self.overseer.on_state_change,
            steps=steps,
            on_stuck=stuck,
        )

    def _record(self) -> None:
        world, storage, base_url, box = self.world, self.storage, self.settings.public_url(), self.recorder_box
        self.storage_watch = StorageWatch(world, storage, box, base_url, self._stop_tree)
        self.shifts = Shifts(world, storage, storage.ownership.me or "")
        self.pruner = Pruner(world, self.settings, storage, storage.tail.head)
        chance = world.chance("recorder/ids")
        self.recorder = Recorder(
            world=world, storage=storage, signing=self.signing, base_url=base_url, mailbox=box, chance=chance
        )

    def _notify(self) -> None:
        world, settings = self.world, self.settings
        signer = self.signing.signer_of_checks(world, settings.public_url()) if settings.sign_looks == "on" else None
        self.egress = build_egress(world, settings, signer)
        self.destinations = DynamicSupervisor("destinations", chance=world.chance("supervision/destinations"))
        bins = Bins(world, self.storage, settings.public_url())
        self.deliveries = DeliveryRegistry(
            world=world,
            storage=self.storage,
            egress=delivery_transport(self.egress, bins, settings.contact),
            kinds=self.kinds,
            destinations=self.destinations,
            record=self.recorder_box.send_nowait,
            base_url=settings.public_url(),
        )

    def _watch(self) -> None:
        world, settings = self.world, self.settings
        self.sources = DynamicSupervisor(
            "sources",
            chance=world.chance("supervision/sources"),
            alarm=lambda alarm: world.log("sources.alarm", level="error", says=str(alarm)),
        )
        self.ports = Ports(
            world,
            settings,
            self.storage,
            self.egress,
            self.recorder_box,
            Admission(self.storage.alerts),
            trio.CapacityLimiter(settings.looks_at_once),
            shifts=self.shifts,
            item_page_budget=ItemPageBudget(settings.follow_all_per_hour),
        )
        self.registry = Registry(self.ports, self.sources, self.registry_box)

    def _match(self) -> None:
        self.matcher = Matcher(
            storage=self.storage,
            mailbox=self.matcher_box,
            nudge=self.deliveries.nudge,
            refresh=self.deliveries.refresh,
            on_alerts_read=self.ports.take_alerts,
            private_since=self.registry.table.stored_private_since,
            world=self.world,
        )

    def _oversee(self, journal: Journal) -> None:
        self.overseer = Overseer(
            self.world,
            lambda: self.supervisor,
            sources=self.sources,
            table=self.registry.table,
            destinations=self.destinations,
            deliveries=self.deliveries,
            pause_switch=self.ports.pause_switch,
            members=self.storage.members,
            journal=journal,
            started_at=self.world.now(),
            version=self.version,
        )
        self.readiness = Readiness(
            self.storage,
            self.recorder,
            self.registry,
            self.overseer,
            children=lambda: self.supervisor.children,
            stopping=lambda: self.stopping,
        )

    def _context(self, catalogue: Catalogue[Template]) -> AppContext:
        deliveries, matcher, registry, signing = self.deliveries, self.matcher, self.registry, self.signing
        world, settings, storage = self.world, self.settings, self.storage
        return AppContext(
            world=world,
            settings=settings,
            storage=storage,
            registry=self.registry_box,
            matcher=self.matcher_box,
            destination=deliveries.mailbox,
            jwks=signing.published,
            look_keys=signing.directory if settings.sign_looks == "on" else None,
            signer=signing.signer,
            shifts=self.shifts,
            readiness=self.readiness,
            overdue=lambda: registry.overdue_monitor.last.overdue,
            lag=matcher.lag,
            kinds=self.kinds,
            invite=deliveries.sender.invite,
            overseer=self.overseer,
            figures=Figures(world, storage, self.overseer, registry.overdue_monitor, matcher.lag).read,
            templates=Templates(world, settings.registry_base, storage, self.registry_box, catalogue),
            draining=lambda: self.stopping,
            importer=self.importer_box,
            alert_changes=matcher.changes,
            private_since=registry.table.private_since,
            source_changes=lambda: registry.table.changes,
            spent=lambda: registry.overdue_monitor.check_rate,
            clock_doubt=lambda: self.pruner.clock_doubt,
            test_without_actor=deliveries.test_without_actor,
        )

    def _children(self) -> Sequence[ChildSpec]:
        """Return the tree in start order, without the front end."""
        world, settings, only_here = self.world, self.settings, self.storage.ownership.while_owned
        importer = Importer(world, self.registry_box, self.importer_box)
        node, sources = self.storage.ownership.me or settings.public_url(), self.overseer.sources_at_work
        return [
            ChildSpec("storage", self.storage_watch.run),
            ChildSpec("log", self.recorder.run, ready_within=10, mailbox=self.recorder_box),
            ChildSpec("shifts", self.shifts.run, ready_within=READY_WITHIN),
            ChildSpec("egress", self.egress.run, ready_within=10),
            *world.observer.children(self.egress, version=self.version, node=node),
            ChildSpec("parsers", world.jail.run),
            ChildSpec("destinations", self.destinations.run, ready_within=10),
            ChildSpec("deliveries", self.deliveries.run, ready_within=READY_WITHIN),
            ChildSpec("matcher", self.matcher.run, ready_within=READY_WITHIN, mailbox=self.matcher_box),
            ChildSpec("sources", self.sources.run, ready_within=10),
            ChildSpec("registry", self.registry.run, ready_within=READY_WITHIN, mailbox=self.registry_box),
            ChildSpec("importer", importer.run, mailbox=self.importer_box),
            ChildSpec("pruner", only_here(PRUNER, self.pruner.run)),
            ChildSpec("clock", ClockWatch(world, self.deliveries.on_clock_step).run),
            *monitor_children(world, settings, self.egress, self.readiness),
            *heartbeat_children(
                world, settings, self.storage, self.recorder_box, readiness=self.readiness, sources=sources
            ),
        ]

    def _with_extras(self, children: Sequence[ChildSpec]) -> Sequence[ChildSpec]:
        parts = [part for extra in always_on() for part in extra.parts(self)]
        return [spec for child in children for spec in (child, *(spec for after, spec in parts if after == child.id))]

    def _stop_tree(self) -> None:
        self.supervisor.stop()

    def give_way(self, why: str) -> None:
        """Stop: another service has taken over, and this one's writes are refused."""
        self._superseded = why
        self.stop(now=True)

    async def run(self) -> None:
        """Run the tree until stopped. Raises Escalate if it can't be kept up, Superseded if a standby took over."""
        await self.supervisor.run()
        if not self.storage_watch.loss and not self._superseded:
            # If storage refuses, the next start counts this run as a crash.
            with trio.move_on_after(SHIFT_ENDS_WITHIN), suppress(StorageError):
                await self.shifts.end()
        if self._superseded:
            raise Superseded(self._superseded)
        if self.storage_watch.loss:
            raise Escalate(self.supervisor.path, "storage", self.storage_watch.loss)

    def stop(self, *, now: bool = False) -> None:
        """Request an ordered stop; `now` skips politeness."""
        self.stopping = True
        self.supervisor.stop(now=now)
