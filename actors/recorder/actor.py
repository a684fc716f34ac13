"""The recorder: takes waiting messages, commits them in one transaction, and acknowledges.

Order is the promise here. A harvest is acknowledged only after its events are durable; ids are minted inside the
transaction, so their order is the order of commit. Storage shows readers the committed events, whether or not this
actor is alive to acknowledge them. If it is cancelled or crashes, the result of taken, unfinished messages is *unknown*
to their senders: their requests end as Unanswered, and they read their state back from storage. The mailbox outlives
the actor, so messages not yet taken wait for its next life.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from functools import partial

import trio

from actors.messages.workers import Record, RecorderMessage, SaveStates
from actors.recorder.event_builder import Identifiers, build
from actors.recorder.signing import SigningKeys
from actors.recorder.stories import SameStories
from actors.signatures.event import Signer
from actors.world import World
from storage.append import Answer, events_of
from storage.errors import STANDSTILL, DiskFull, StorageError
from storage.records.event import Draft, Stored
from storage.records.identity import Seq, SourceId
from storage.records.tiers import Kind, tier_of
from storage.sql.storage import Storage
from supervision import Child, Mailbox, MailboxFull

_OURS = {Kind.NOTICE: "notice", Kind.HEARTBEAT: "heartbeat"}
MOST_MESSAGES = 512
PARKED = 2.0
"""Seconds between attempts while storage accepts no writes."""
REFUSAL_FOR = 120.0
"""Seconds to report a refusal: by then a sender has tried again, and a success has cleared it."""
FULL = "the disk is full, and nothing is recorded: free some room"
AWAY = "the storage does not answer, and nothing is recorded"
STUCK_AFTER = 3.0
"""Seconds in one commit after which the service is no longer ready; a lock times out after 5 or 10 s."""


class Recorder:
    """The only writer of the log. mailbox: belongs to the composition root."""

    def __init__(
        self,
        *,
        world: World,
        storage: Storage,
        signing: SigningKeys,
        base_url: str,
        mailbox: Mailbox[RecorderMessage],
        chance: random.Random,
    ) -> None:
        self._world, self._storage, self._mailbox, self._signing = world, storage, mailbox, signing
        self._base_url = base_url
        self._stories = SameStories()
        self._mint = Identifiers(world.now, chance.getrandbits)
        self._busy_since: float | None = None
        self._refusal: tuple[float, str] | None = None
        self._is_unavailable = False

    async def run(self, child: Child) -> None:
        """Commit batches until stopped; a graceful stop first commits all waiting messages."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wake_at_stop, child.stopping)
            child.ready()
            while not child.stopping.is_set():
                await self._commit(self._with_waiting([await self._receive()]))
            while batch := self._with_waiting([]):
                await self._commit(batch)

    async def _wake_at_stop(self, stopping: trio.Event) -> None:
        await stopping.wait()
        with contextlib.suppress(MailboxFull):  # full: it is about to be read anyway
            self._mailbox.send_nowait(SaveStates(()))

    async def _receive(self) -> RecorderMessage:
        """Wait for a message. While storage does not answer, test it with an empty one: no other actor writes."""
        with trio.move_on_after(PARKED if self._is_unavailable else float("inf")):
            return await self._mailbox.receive()
        return SaveStates(())

    def _with_waiting(self, batch: list[RecorderMessage]) -> list[RecorderMessage]:
        """Add all waiting messages, without waiting for more: the group of a group commit."""
        while len(batch) < MOST_MESSAGES:
            try:
                batch.append(self._mailbox.receive_nowait())
            except trio.WouldBlock:
                break
        return batch

    def fault(self) -> str:
        """Return the problem as a sentence, "" if healthy; the actor must make progress, not only run."""
        if self._refusal is not None and trio.current_time() - self._refusal[0] < REFUSAL_FOR:
            return self._refusal[1]
        since, waiting = self._busy_since, self._mailbox.statistics().depth
        stuck = 0.0 if since is None else trio.current_time() - since
        return f"no commit has ended for {stuck:.0f} s, and {waiting} messages wait" if stuck > STUCK_AFTER else ""

    async def _commit(self, batch: Sequence[RecorderMessage]) -> None:
        self._busy_since = trio.current_time()
        try:
            await self._write(batch)
        finally:
            self._busy_since = None

    async def _write(self, batch: Sequence[RecorderMessage]) -> None:
        records = [message for message in batch if isinstance(message, Record)]
        sweeps = [message for message in batch if isinstance(message, SaveStates)]
        states = [state for sweep in sweeps for state in sweep.states]
        jars = [jar for sweep in sweeps for jar in sweep.jars]
        self._world.reach("recorder/before commit")
        try:
            if records:
                await self._append(records)
            if states or jars or (self._is_unavailable and not records):
                await self._storage.log.save_states(states, self._storage.lease, jars)
            if self._refusal is not None and (records or states or jars or self._is_unavailable):
                self._refusal, self._is_unavailable = None, False
                self._world.log("recorder.goes_on")
            _notify_sweeps(sweeps, stored=True)
        except STANDSTILL as error:
            # The senders read the stored state and check again; readers are not affected.
            full = isinstance(error, DiskFull)
            event, reason = ("recorder.disk_full", FULL) if full else ("recorder.parked", f"{AWAY} ({error})")
            self._world.log(event, level="debug" if self._refusal else "error", error=str(error), harvests=len(records))
            self._refusal, self._is_unavailable = (trio.current_time(), reason), not full
            for record in records:
                record.reply.fail(error)
            _notify_sweeps(sweeps, stored=False)
            await trio.sleep(PARKED)
        except StorageError as error:
            for record in records:
                record.reply.fail(error)
            raise

    async def _append(self, records: Sequence[Record]) -> None:
        stamp, began = partial(self._stamp, await self._signing.signer()), trio.current_time()
        try:
            harvests, lease = [record.harvest for record in records], self._storage.lease
            answers = await self._storage.log.append(harvests, lease, self._mint, stamp, self._stories)
        except StorageError:
            raise
        except Exception as error:
            # A draft that cannot be encoded must not take the other sources' harvests with it.
            if len(records) == 1:
                only = records[0]
                self._world.log("recorder.harvest_refused", source_id=only.harvest.source, error=repr(error)[:300])
                only.reply.fail(error)
            else:
                for record in records:
                    await self._append([record])
            return
        self._world.reach("recorder/after commit")
        self._count(len(records), trio.current_time() - began, events_of(answers))
        self._world.observer.committed(records, answers, began)
        acknowledge(records, answers)

    def _count(self, harvests: int, seconds: float, events: Sequence[Stored]) -> None:
        metrics = self._world.metrics
        metrics.commit_size.observe(harvests)
        metrics.commit_time.observe(seconds)
        for event in events:
            if event.kind != Kind.PRACTICE:
                metrics.events.add(_OURS.get(event.kind) or tier_of(event.kind) or "other")

    def _stamp(self, signer: Signer, seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
        now = self._world.now()
        return signer.sign(build(event_id, source, draft, self._base_url, now), now)


def _notify_sweeps(sweeps: Sequence[SaveStates], *, stored: bool) -> None:
    for sweep in sweeps:
        if sweep.on_saved is not None:
            sweep.on_saved(stored)


def acknowledge(records: Sequence[Record], answers: Sequence[Answer]) -> None:
    for record, answer in zip(records, answers, strict=True):
        if isinstance(answer, StorageError):
            record.reply.fail(answer)
        else:
            record.reply.answer(answer)
