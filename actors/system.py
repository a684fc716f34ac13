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

from actors.app_context import AppContext, context_of
from actors.catalogue import Catalogue
from actors.coverage import ClockWatch, heartbeat_children, monitor_children
from actors.destination_kinds.table import Kinds
from actors.extras import always_on, switched_on
from actors.overseer.overseer import Journal
from actors.parts import Parts
from actors.settings import Settings
from actors.sources.importer import Importer
from actors.templates.template import Template, built_in
from actors.world import World
from storage.errors import StorageError
from storage.ownership import PRUNER
from storage.records.access import SigningKey
from storage.sql.storage import Storage
from supervision import ChildSpec, Escalate, Strategy, Supervisor, Watchdog

READY_WITHIN = 600.0  # seconds for a part that reads all of storage: slow machines with much data are no crash
SHIFT_ENDS_WITHIN = 5.0
Front = Callable[[AppContext], Sequence[ChildSpec]]


class Superseded(Exception):
    """A standby has taken over; the sentence names it and the time. This service must not restart by itself."""


class System(Parts):
    """The whole service. `await run()` until `stop()`; `context` is given to the front end. keys: the signing keys, the
    active one first. templates, kinds: default to the built-in ones. steps: a running watchdog, for the tree. version:
    the program's, shown to users. stuck: ends the process when the tree gives up and one of its tasks hangs.
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
        super().__init__(world, settings, storage, keys, kinds=kinds, journal=journal, version=version)
        self._superseded = ""
        self.context = context_of(self, built_in() if templates is None else templates)
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
