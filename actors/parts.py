"""The parts of the service, wired: each is made after those it calls. `system.py` starts them as a tree."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from actors.coverage import Shifts
from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.bins import Bins, delivery_transport
from actors.destination_kinds.table import Kinds, built_in_kinds
from actors.egress.traffic import build_egress
from actors.matcher import Matcher
from actors.messages.sources import RegistryMessage
from actors.messages.workers import ImportMessage, MatcherMessage, RecorderMessage
from actors.overseer.overseer import Journal, Overseer, Readiness, StorageWatch
from actors.recorder.actor import Recorder, SigningKeys
from actors.recorder.pruner import Pruner
from actors.settings import Settings
from actors.sources.admission import Admission
from actors.sources.ports import Ports
from actors.sources.registry.actor import Registry
from actors.sources.schedule.budgets import ItemPageBudget
from actors.world import World
from storage.records.access import SigningKey
from storage.sql.storage import Storage
from supervision import DynamicSupervisor, Mailbox, Supervisor


class Parts:
    """All parts. supervisor: of their tree. stopping: the service has been asked to stop. Rest: see `System`."""

    supervisor: Supervisor
    stopping = False

    def __init__(
        self,
        world: World,
        settings: Settings,
        storage: Storage,
        keys: Sequence[SigningKey],
        *,
        kinds: Kinds | None,
        journal: Journal | None,
        version: str,
    ) -> None:
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

    def _record(self) -> None:
        world, storage, base_url, box = self.world, self.storage, self.settings.public_url(), self.recorder_box
        self.storage_watch = StorageWatch(world, storage, box, base_url, self.stop_tree)
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

    def stop_tree(self) -> None:
        self.supervisor.stop()
