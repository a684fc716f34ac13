"""The set of destinations' actors: one for each working destination, under a separate supervisor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import trio

from actors.delivery.actor import DestinationActor, Sender, result_of, sample
from actors.delivery.claims import ConcurrencyLimiter
from actors.delivery.status import NoticePublisher
from actors.destination_kinds.kind import DeliveryTransport
from actors.destination_kinds.table import Kinds
from actors.messages.views import TestResult
from actors.messages.workers import DestinationMessage, OutboxGrew, Record
from actors.signatures import Signer
from actors.world import World
from storage.errors import STANDSTILL
from storage.records.destination import Destination
from storage.sql.storage import Storage
from supervision import Child, ChildSpec, DynamicSupervisor, Mailbox, MailboxFull, NoSuchChild

MAILBOX_BOUND = 8
"""Messages that may wait for a destination. A nudge beyond that is dropped: the actor is awake and will check."""
RETRY_INTERVAL = 5.0  # seconds between attempts to begin while storage is unavailable


class DeliveryRegistry:
    """Owns the mailboxes and each actor's memory across crashes. record: never waits; raises MailboxFull."""

    def __init__(
        self,
        *,
        world: World,
        storage: Storage,
        egress: DeliveryTransport,
        kinds: Kinds,
        destinations: DynamicSupervisor,
        record: Callable[[Record], None],
        base_url: str = "",
    ) -> None:
        self._world, self._storage = world, storage
        self._ownership, self._base_url = storage.ownership, base_url
        self.sender = Sender(kinds, egress, world, storage.alerts)
        self._supervisor = destinations
        self._mailboxes: dict[str, Mailbox[DestinationMessage]] = {}
        self._actors: dict[str, DestinationActor] = {}
        self._limiter = ConcurrencyLimiter(egress.last_address)
        self._notices = NoticePublisher(world, storage, record, base_url)
        self._refreshing = trio.Lock()
        self._released = False

    async def run(self, child: Child) -> None:
        """Start the actors of all destinations and stay, so that a restart of their supervisor starts them again."""
        while True:
            try:
                if self._ownership.shared:  # then each destination's claims are released as it becomes this node's
                    self._released = True
                elif not self._released:  # the previous process's claims: later ones belong to running actors
                    rows = await self._storage.outbox.release(self._storage.lease)
                    self._released = True
                    self._world.log("delivery.released", level="info" if rows else "debug", rows=rows)
                await self.refresh()
                break
            except STANDSTILL as error:
                self._world.log("delivery.parked", error=str(error))
                child.ready()  # the rest of the service can do without deliveries for a while
                await trio.sleep(RETRY_INTERVAL)
        child.ready()
        await self._notices.run()

    async def refresh(self) -> None:
        """Start and stop actors to match the stored destinations, and wake those whose record has changed."""
        if not self._released:
            return  # `run` does it once it may
        async with self._refreshing:
            stored = {each.id: each for each in await self._storage.alerts.destinations()}
            for id in [id for id in self._actors if not self._is_active(stored.get(id))]:
                await self._stop(id, is_removed=id not in stored or not self._owns(stored[id]))
            for id, destination in stored.items():
                if self._is_active(destination):
                    if self._ownership.shared and id not in self._actors:
                        await self._storage.outbox.release(self._storage.lease, destination=id)
                    self._start(id)
                    if not destination.is_as(self._actors[id].record):
                        self._actors[id].invalidate()
                        self.nudge(id)

    def _is_active(self, destination: Destination | None) -> bool:
        return destination is not None and destination.works and self._owns(destination)

    def _owns(self, destination: Destination) -> bool:
        """Return whether a destination is this node's. Ownership goes by machine, so that one limiter covers each."""
        return self._ownership.owns(f"machine/{urlsplit(destination.url).hostname or destination.id}")

    def mailbox(self, destination: str) -> Mailbox[DestinationMessage] | None:
        """Return the mailbox of a destination's actor; None if it is paused, disabled or unknown."""
        return self._mailboxes.get(destination) if self._supervisor.has(destination) else None

    async def test_without_actor(self, destination: Destination) -> TestResult:
        """Send a sample to a destination without an actor here. Raises StorageError."""
        webhook_id, body = await self._sample()
        attempt = self._world.observer.attempt_test(webhook_id)
        async with self._limiter.slot(destination.url):
            answer = await self.sender.attempt(destination, webhook_id, body, attempt)
        attempt.ended(destination, answer)
        return result_of(answer)

    def ids(self) -> list[str]:
        return sorted(self._actors)

    def record(self, destination: str) -> Destination | None:
        """Return a destination as its actor last read it; None before that, or without an actor."""
        actor = self._actors.get(destination)
        return None if actor is None else actor.record

    def nudge(self, destination: str) -> None:
        """Notify a destination's actor of possible new rows. Never waits."""
        mailbox = self._mailboxes.get(destination)
        if mailbox is not None:
            # If full, the actor has messages to read, and checks the outbox after each.
            with suppress(MailboxFull):
                mailbox.send_nowait(OutboxGrew())

    def on_clock_step(self) -> None:
        for id, actor in self._actors.items():
            actor.on_clock_step()
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
                limiter=self._limiter,
                sample=self._sample,
                enqueue_notice=self._notices.enqueue,
            )
        self._supervisor.start_child(ChildSpec(id, self._actors[id].run, shutdown=1.0, mailbox=mailbox))

    async def _stop(self, id: str, *, is_removed: bool) -> None:
        """Stop an actor. Unless forgotten, it keeps its claims for a restart; a deleted destination's rows are gone."""
        with suppress(NoSuchChild):
            await self._supervisor.stop_child(id)
        if is_removed:
            del self._actors[id], self._mailboxes[id]

    async def _sample(self) -> tuple[str, bytes]:
        active = (await self._storage.keys.signing())[0]
        return sample(Signer(active), self._base_url, self._world.now(), self._world.chance("delivery/sample"))
