"""The set of destinations' actors: one for each to which anything is sent, under a supervisor of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import trio
from msgspec.structs import replace

from actors.delivery.actor import DestinationActor, result_of
from actors.delivery.attempt import Sender
from actors.delivery.concurrency import ConcurrencyLimiter
from actors.delivery.notice_publisher import NoticePublisher
from actors.delivery.sample import sample
from actors.delivery.traced import begun_test, put_attempt
from actors.destination_kinds.kind import Outlet
from actors.destination_kinds.table import Kinds
from actors.members.ownership import NOBODY, Ownership
from actors.messages.destinations import DestinationMessage, OutboxGrew
from actors.messages.recorder import Record
from actors.messages.views import TestResult
from actors.signatures.event import Signer
from actors.tracing.tracer import Tracer
from actors.world import World
from storage.errors import STANDSTILL
from storage.interface import Storage
from storage.interface.outbox import Claim
from storage.records.destination import Destination
from supervision import Child, ChildSpec, DynamicSupervisor, Mailbox, MailboxFull, NoSuchChild

MAILBOX_BOUND = 8
"""Messages a destination may have waiting. A nudge that finds it full is dropped: the actor is awake and will look."""
ROWS_EVERY = 0.5
"""Seconds between two looks for rows that another node has put into the outbox."""
STRAYS_EVERY = 30.0
"""Seconds between two looks for rows that nobody delivers."""
AT_ONCE = 500
PARKED = 5.0
"""Seconds between two tries to begin while storage takes nothing."""


class DeliveryRegistry:
    """Owns the mailboxes and what each actor remembers over its crashes. `base_url` is named in test deliveries.

    record: puts a harvest before the recorder without waiting; raises MailboxFull.
    """

    def __init__(
        self,
        *,
        world: World,
        storage: Storage,
        egress: Outlet,
        kinds: Kinds,
        destinations: DynamicSupervisor,
        record: Callable[[Record], None],
        base_url: str = "",
        ownership: Ownership | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self._world = world
        self._tracer = tracer
        self._storage = storage
        self.sender = Sender(kinds, egress, world)
        self._supervisor = destinations
        self._base_url = base_url
        self._ownership = Ownership() if ownership is None else ownership
        self._mailboxes: dict[str, Mailbox[DestinationMessage]] = {}
        self._actors: dict[str, DestinationActor] = {}
        self._room = ConcurrencyLimiter(egress.whereabouts)
        self._crier = NoticePublisher(world, storage, record, base_url)
        self._refreshing = trio.Lock()
        self._released = False

    async def run(self, child: Child) -> None:
        """Start the actors of all destinations and stay, so that a restart of their supervisor starts them again."""
        while True:
            try:
                await self._release()
                await self.refresh()
                break
            except STANDSTILL as error:
                self._world.log("delivery.parked", error=str(error))
                child.ready()  # the rest of the service can do without deliveries for a while
                await trio.sleep(PARKED)
        child.ready()
        async with trio.open_nursery() as nursery:
            if self._ownership.shared:
                nursery.start_soon(self._follow_views)
                nursery.start_soon(self._look_for_rows)
                nursery.start_soon(self._put_back_strays)
            await self._crier.run()

    async def _follow_views(self) -> None:
        """Start and end actors as destinations become this node's, and other nodes'."""
        view = NOBODY.number
        while True:
            view = await self._ownership.wait_moved(view)
            with suppress(*STANDSTILL):  # else whoever reads the alerts again does it
                await self.refresh()

    async def _look_for_rows(self) -> None:
        """Wake the actors for which another node's matcher has found something: nobody tells this one."""
        while True:
            await trio.sleep(ROWS_EVERY)
            with suppress(*STANDSTILL):
                for id in await self._storage.outbox.due(self._world.now()):
                    self.nudge(id)

    async def _put_back_strays(self) -> None:
        """Put back what others had claimed of destinations that are this node's.

        A destination may have changed hands while its former owner was claiming: nobody delivers such rows. What is
        still claimed at a second look is nobody's delivery under way any more.
        """
        before: frozenset[Claim] = frozenset()
        while True:
            await trio.sleep(STRAYS_EVERY)
            with suppress(*STANDSTILL):
                found: list[Claim] = []
                mine = sorted(self._actors)
                for start in range(0, len(mine), AT_ONCE):
                    part = mine[start : start + AT_ONCE]
                    found += await self._storage.outbox.claims_of_others(part, self._storage.lease)
                if still := sorted(before.intersection(found)):
                    rows = await self._storage.outbox.put_back(still, self._storage.lease)
                    self._world.log("delivery.strays", level="warning", rows=rows)
                    for id in {claim.destination for claim in still}:
                        self.nudge(id)
                before = frozenset(found)

    async def _release(self) -> None:
        """Make due again what the last process had claimed, once: later, what is claimed is in some actor's hands.

        Where nodes share the destinations, that is done for each as it becomes this node's.
        """
        if self._ownership.shared:
            self._released = True
        elif not self._released:
            rows = await self._storage.outbox.release(self._storage.lease)
            self._released = True
            self._world.log("delivery.released", level="info" if rows else "debug", rows=rows)

    async def refresh(self) -> None:
        """Bring the actors in line with the stored destinations, and wake those whose record has changed."""
        if not self._released:
            return  # `run` does it once it may
        async with self._refreshing:
            stored = {each.id: each for each in await self._storage.alerts.destinations()}
            for id in [id for id in self._actors if not self._works(stored.get(id))]:
                await self._stop(id, forget=id not in stored or not self._owns(stored[id]))
            for id, destination in stored.items():
                if self._works(destination):
                    if self._ownership.shared and id not in self._actors:
                        await self._storage.outbox.release(self._storage.lease, destination=id)
                    self._start(id)
                    if not _same(destination, self._actors[id].record):
                        self._actors[id].renew()
                        self.nudge(id)

    def _works(self, destination: Destination | None) -> bool:
        return destination is not None and destination.works and self._owns(destination)

    def _owns(self, destination: Destination) -> bool:
        """Return whether a destination is this node's: by its machine, for which there is one room."""
        return self._ownership.mine(f"machine/{urlsplit(destination.url).hostname or destination.id}")

    def mailbox(self, destination: str) -> Mailbox[DestinationMessage] | None:
        """Return the mailbox of a destination's actor; None when it has none, being paused, disabled or unknown."""
        return self._mailboxes.get(destination) if self._supervisor.has(destination) else None

    async def test_elsewhere(self, destination: Destination) -> TestResult:
        """Send a sample to a destination that another node delivers to. Raises StorageError."""
        webhook_id, body = await self._sample()
        traced = None if self._tracer is None else begun_test(self._tracer, webhook_id)
        async with self._room.place(destination.url):
            answer = await self.sender.attempt(destination, webhook_id, body, "" if traced is None else traced.header)
        if traced is not None and self._tracer is not None:
            put_attempt(self._tracer, traced, destination, answer)
        return result_of(answer)

    def record(self, destination: str) -> Destination | None:
        """Return a destination as its actor last read it; None before that, and for one that has no actor."""
        actor = self._actors.get(destination)
        return None if actor is None else actor.record

    def nudge(self, destination: str) -> None:
        """Tell a destination's actor that there may be new rows. Never waits."""
        mailbox = self._mailboxes.get(destination)
        if mailbox is not None:
            # Full, its actor has messages to read, and looks at the outbox after each of them.
            with suppress(MailboxFull):
                mailbox.send_nowait(OutboxGrew())

    def stepped(self) -> None:
        """Hear that the wall clock has been set: every actor looks again at what waits."""
        for id, actor in self._actors.items():
            actor.stepped()
            self.nudge(id)

    def _start(self, id: str) -> None:
        if self._supervisor.has(id):
            return
        mailbox = self._mailboxes.setdefault(id, Mailbox(f"destinations/{id}", MAILBOX_BOUND))
        if id not in self._actors:
            self._actors[id] = DestinationActor(
                id,
                world=self._world,
                storage=self._storage,
                sender=self.sender,
                mailbox=mailbox,
                room=self._room,
                sample=self._sample,
                owes=self._crier.owes,
                tracer=self._tracer,
            )
        self._supervisor.start_child(ChildSpec(id, self._actors[id].run, shutdown=1.0, mailbox=mailbox))

    async def _stop(self, id: str, *, forget: bool) -> None:
        """End an actor. One that may come back keeps what it has claimed; a deleted destination's rows are gone."""
        with suppress(NoSuchChild):
            await self._supervisor.stop_child(id)
        if forget:
            del self._actors[id], self._mailboxes[id]

    async def _sample(self) -> tuple[str, bytes]:
        active = (await self._storage.keys.signing())[0]
        return sample(Signer(active), self._base_url, self._world.now(), self._world.chance("delivery/sample"))


def _same(stored: Destination, known: Destination | None) -> bool:
    """Whether an actor knows what is stored, but for the time of its newest delivery, which moves by itself."""
    return known is not None and stored == replace(known, last_delivery_at=stored.last_delivery_at)
