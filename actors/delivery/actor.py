"""A destination's life: wait for a due delivery or a nudge, claim it, post it, store the outcome.

The claim is durable before the POST and the outcome after it, so a crash in between repeats the same id with the same
bytes. New events start in order, oldest first; a failed one returns to the outbox with its own retry time and blocks no
other. At most four requests run at once, one while the destination is failing. In a digest mode the actor claims
digests (see `schedule.py`). A test delivery takes the same path, with a sample event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING

import trio
from msgspec.structs import replace

from actors.coverage import EVERY, ClockSteps
from actors.delivery import status as lifecycle
from actors.delivery.claims import Claims, ConcurrencyLimiter, DigestCollector
from actors.delivery.schedule import BREATHER, LONGEST_RETRY_AFTER, latest, outcome, quiet_until, verdict
from actors.destination_kinds.contract import Answer
from actors.destination_kinds.kind import Consent, DeliveryPayload, DeliveryTransport, masked
from actors.destination_kinds.table import Kinds
from actors.egress.failures import Blame, CheckFailed
from actors.errors import UrlRefused
from actors.messages.views import TestResult
from actors.messages.workers import DestinationMessage, OutboxGrew, TestDelivery
from actors.observer import NO_ATTEMPT, Attempt
from actors.signatures import Signer
from actors.world import World
from storage.errors import STANDSTILL, DestinationMoved, StorageError
from storage.records.destination import WEBHOOK, Delivery, Destination, Notice
from storage.records.event import MATCHED, Event
from storage.records.identity import COUNTER_BITS, START, Millis, Seq, id_of, rfc3339, seq_at
from storage.sql.storage import Storage
from storage.sql.stores.alerts import Alerts
from supervision import Child, Mailbox

if TYPE_CHECKING:
    import random


_CONNECT_TIMEOUT = 5.0  # seconds without an answer that make a failure a timeout


class Sender:
    """Sends to destinations of any kind, through a transport. alerts: for the names of alerts in messages to people."""

    def __init__(self, kinds: Kinds, transport: DeliveryTransport, world: World, alerts: Alerts | None = None) -> None:
        self._kinds, self._transport, self._world, self._alerts = kinds, transport, world, alerts

    async def attempt(self, destination: Destination, id: str, body: bytes, attempt: Attempt = NO_ATTEMPT) -> Answer:
        """Send a body once. Every failure is an answer, with masked secrets: a receiver's response is shown and stored.
        If cancelled, the body may or may not have arrived.
        """
        return masked(await self._send(destination, id, body, attempt), destination)

    async def invite(self, consent: Consent, destination: Destination, about: str) -> Answer:
        send = partial(consent.invite, self._transport, destination, about, self._world)
        return masked(await self._guarded(send), destination)

    async def _send(self, destination: Destination, id: str, body: bytes, attempt: Attempt) -> Answer:
        kind = self._kinds.get(destination.kind)
        if kind is None:
            reason = f"there is no kind {destination.kind} here: its file is missing or invalid"
            return Answer(None, 0, reason, ours=True)
        transport = attempt.transport(self._transport) if kind.id == WEBHOOK else self._transport
        alerts = self._alerts if kind.limits is not None else None
        try:
            alert = await alerts.get(destination.alert_id) if alerts is not None else None
        except StorageError as error:  # not without its name: a repeated message has the same words
            return Answer(None, 0, f"its alert could not be read: {error}", ours=True)
        payload = DeliveryPayload(id, body, alert)
        return await self._guarded(partial(kind.send, transport, destination, payload, self._world))

    async def _guarded(self, send: Callable[[], Awaitable[Answer]]) -> Answer:
        start = trio.current_time()

        def failed(reason: str, *, ours: bool = False) -> Answer:
            waited = trio.current_time() - start
            return Answer(None, round(1000 * waited), reason, timeout=waited >= _CONNECT_TIMEOUT, ours=ours)

        try:
            return await send()
        except CheckFailed as error:
            return failed(error.reason, ours=error.blame is Blame.LOCAL)
        except UrlRefused as error:
            return failed(error.words)


CONTENT = "This is a test delivery. It has the shape and both signatures of a live one; its event is in no stream."


def sample(signer: Signer, base_url: str, now: Millis, chance: random.Random) -> tuple[str, bytes]:
    id = id_of(Seq(seq_at(now) + chance.randrange(1 << COUNTER_BITS)), chance.getrandbits(59))
    event = Event(
        schema=f"{base_url}/schemas/stream-event/1.json",
        id=id,
        source_id=id_of(seq_at(now), chance.getrandbits(59)),
        source_type="html",
        source_url=base_url,
        url=base_url,
        title="Test delivery",
        summary="Test delivery",
        author="",
        content=CONTENT,
        content_hash="sha256:" + sha256(CONTENT.encode()).hexdigest(),
        simhash=0,
        tags=("kind:test",),
        published_at=None,
        fetched_at=rfc3339(now),
        emitted_at=rfc3339(now),
        schema_version=1,
    )
    return id, signer.sign(event, now)


MOST_IN_FLIGHT = 4
MOST_CLAIMED = 32
LONGEST_SLEEP = 3600.0  # seconds until a sleeping actor rechecks the wall clock, which may have been set
RECHECK_INTERVAL = 1.0  # seconds until an actor with requests under way checks for newly due rows
RETRY_INTERVAL = 5.0  # seconds between attempts to write while storage is unavailable


class DestinationActor:
    """One destination. The registry owns the mailbox. `sample` makes a test's event, `limiter` bounds all posts,
    `enqueue_notice` takes the id of a record that owes a new notice.
    """

    def __init__(
        self,
        destination: str,
        *,
        world: World,
        storage: Storage,
        sender: Sender,
        mailbox: Mailbox[DestinationMessage],
        limiter: ConcurrencyLimiter,
        sample: Callable[[], Awaitable[tuple[str, bytes]]],
        enqueue_notice: Callable[[str], None],
    ) -> None:
        self._id, self._world, self._storage, self._sender = destination, world, storage, sender
        self._mailbox, self._limiter, self._sample = mailbox, limiter, sample
        self._enqueue_notice = enqueue_notice
        self._chance = world.chance(f"delivery/{destination}")
        self._claims = Claims(destination, world, storage)
        self._settling = trio.Lock()
        self._record: Destination | None = None
        self._status = lifecycle.DestinationStatus()
        self._notice: Notice | None = None
        self._steps = ClockSteps(lambda: world.now() / 1000)
        self._notice_after = 0
        self._clock_set_back = False
        self._begin()

    def _begin(self) -> None:
        """Start a run: unfinished claims of an earlier one come first. `_is_drained`: the last claim left no due row.
        `_next_due_at`: when the next other row than `_has_new_rows` is due, inf for none; unknown once passed.
        """
        self._queue = deque(self._claims.held.values())
        self._in_flight = 0
        self._has_finished = self._is_drained = False
        self._wait_scope = trio.CancelScope()
        self._parked: StorageError | None = None
        self._has_new_rows, self._next_due_at = False, 0.0
        self._quiet: Millis | None = None
        self._is_stale, self._clamp_at = True, 0.0
        self._digests = DigestCollector(self._world, self._storage, self._chance)

    async def run(self, child: Child) -> None:
        self._begin()
        await self._settle()
        while True:
            if await self._fill():
                # Only an actor with requests needs a nursery: thousands of destinations are idle.
                async with trio.open_nursery() as nursery:
                    await self._dispatch(nursery)
            else:
                pause = await self._until_due()
                child.note(self._describe())
                await self._wait(pause)

    async def _dispatch(self, nursery: trio.Nursery) -> None:
        while True:
            while self._queue and self._in_flight < self._slots() and not self._parked:
                self._in_flight += 1
                # `start`, not `start_soon`: the scheduler alone would not keep new events in order.
                await nursery.start(self._deliver, self._queue.popleft())
            if not self._in_flight:
                return
            await self._wait(RECHECK_INTERVAL)
            await self._fill()

    # --- claiming ------------------------------------------------------------------------------------------------

    async def _fill(self) -> bool:
        """Claim due deliveries before the queue runs dry; return whether there is one to send."""
        self._apply_clock_step()
        self._update_quiet()
        runs_dry = not self._is_drained and (len(self._queue) < MOST_IN_FLIGHT or not self._slots())
        if runs_dry or self._parked or self._is_stale:
            parked = self._parked
            try:
                settling = self._settling.locked()
                if not settling:  # else those outcomes go along with the claim
                    await self._write()
                await self._refill()
                if self._parked is parked and not settling:  # else an outcome may not be stored
                    self._parked = None
            except STANDSTILL as error:
                self._park(error)
        return bool(self._queue) and self._slots() > 0 and not self._parked

    async def _refill(self) -> None:
        has_new_rows = self._has_new_rows and not (self._is_stale or self._parked or self._is_digest())
        self._has_new_rows = False
        if not has_new_rows:
            self._is_stale, self._next_due_at = False, 0.0  # an edit during the read makes it stale again
            await self._read()
        await self._claims.release_unconfirmed()
        self._update_quiet()
        await self._clamp()
        await self._report_failing()
        if self._record is not None and self._slots():
            await self._digests.freeze_closed(self._record)
            most = MOST_IN_FLIGHT if self._is_digest() else MOST_CLAIMED  # a digest is large
            known = self._record if has_new_rows else None
            try:
                claimed = await self._claims.claim(most, digests=self._is_digest(), known=known)
            except DestinationMoved:
                self._is_stale = True
                await self._refill()
                return
            self._queue += claimed
            self._has_new_rows = len(claimed) == most  # there are probably more
            self._is_drained = not self._has_new_rows
            if self._queue:
                self._world.reach("delivery/after claim")

    async def _clamp(self) -> None:
        """At a start, after a step and each hour: cap waits that a wrong clock has set."""
        tick = trio.current_time()
        if self._record is None or tick < self._clamp_at:
            return
        now, retry_after = self._world.now(), 0.0 if self._clock_set_back else LONGEST_RETRY_AFTER
        self._clamp_at = tick

        def longest(attempts: int) -> Millis:
            due = latest(attempts, now, retry_after)
            return self._quiet_at(due) or due

        rows = await self._storage.outbox.clamp(self._id, now, longest, self._storage.lease)
        if self._clamp_at == tick:  # else the clock has been set in the meantime
            self._clamp_at, self._clock_set_back = tick + LONGEST_SLEEP, False
        if rows:
            self._next_due_at = 0.0
            self._world.log("delivery.clamped", destination_id=self._id, rows=rows)

    def on_clock_step(self) -> None:
        self._clamp_at, self._is_stale = 0.0, True

    def invalidate(self) -> None:
        self._is_stale = True

    def _park(self, error: StorageError) -> None:
        """Send nothing while storage is unavailable: outcomes could not be stored, and deliveries would repeat."""
        if self._parked is None:
            self._world.log("delivery.parked", destination_id=self._id, error=str(error))
        self._parked = error

    @property
    def record(self) -> Destination | None:
        """The destination as this actor last read or wrote it."""
        return self._record

    async def _read(self) -> None:
        """Read the record again: URL or secrets may differ, or it may have been paused or resumed."""
        known, self._record = self._record, await self._storage.alerts.destination(self._id)
        if known is not None and self._record is not None and _is_digest(known) != _is_digest(self._record):
            # Claimed deliveries that have not started go in the new mode.
            self._claims.give_up(self._queue)
            self._queue.clear()
        if self._record is not None and (known is None or known.state != self._record.state):
            # Another writer has changed the state. Our own status may be ahead of both records: ignore it.
            self._status = lifecycle.status_of(self._record)

    def _update_quiet(self) -> None:
        self._quiet = self._quiet_at(self._world.now())

    def _quiet_at(self, at: Millis) -> Millis | None:
        return quiet_until(None if self._record is None or self._is_digest() else self._record.quiet_hours, at)

    async def _report_failing(self) -> None:
        """Report a lasting run of failures, which no single answer triggers."""
        if self._record is None or self._status.state != "failing":
            return
        alert = await self._storage.alerts.get(self._record.alert_id)
        if alert is not None:
            self._notice_after = alert.notice_after
            self._apply_clock_step()
            status, notice = lifecycle.with_due_notice(self._status, self._world.now(), self._notice_after)
            self._set_status(status, notice)
            await self._write()

    def _apply_clock_step(self) -> None:
        """Before measuring a run of failures, remove a clock step from it. After a step back, clamp again."""
        step = self._steps.take_step()
        self._status = lifecycle.shifted(self._status, step)
        if step < -BREATHER:
            self._clock_set_back = True
            self.on_clock_step()

    def _set_status(self, status: lifecycle.DestinationStatus, notice: Notice | None) -> None:
        self._status, self._notice = status, notice or self._notice
        if notice is not None:
            self._world.log(f"delivery.{notice}", destination_id=self._id)

    def _slots(self) -> int:
        record = self._record
        if record is None or not record.enabled or self._quiet is not None:
            return 0
        return {"active": MOST_IN_FLIGHT, "failing": 1, "disabled": 0}[self._status.state]

    def _is_digest(self) -> bool:
        return self._record is not None and _is_digest(self._record)

    # --- waiting -------------------------------------------------------------------------------------------------

    async def _until_due(self) -> float:
        times: list[float | None] = [lifecycle.next_notice(self._status, self._notice_after)]
        longest = LONGEST_SLEEP
        if self._parked:
            return RETRY_INTERVAL
        if self._quiet is not None:
            times += [self._quiet]
        elif self._slots():
            try:
                if self._next_due_at <= self._world.now():
                    waits = await self._storage.outbox.next_due(self._id, digests=self._is_digest())
                    self._next_due_at = inf if waits is None else waits
                times += [self._next_due_at, self._digests.next_close]
                longest = LONGEST_SLEEP if self._next_due_at == inf else EVERY
            except STANDSTILL as error:
                self._park(error)
                return RETRY_INTERVAL
        else:
            return LONGEST_SLEEP
        due = min((at for at in times if at is not None), default=None)
        return longest if due is None else min(longest, max(0.0, (due - self._world.now()) / 1000))

    def _describe(self) -> str:
        if self._parked:
            return "parked: storage takes nothing"
        return "quiet" if self._quiet is not None else "waiting" if self._slots() else "disabled"

    async def _wait(self, seconds: float) -> None:
        """Wait for a message, the end of a request, or `seconds`."""
        message = None
        if not self._has_finished:
            with trio.move_on_after(seconds) as self._wait_scope:
                message = await self._mailbox.receive()
        if message is not None or not self._has_finished:
            self._is_drained = False
        self._has_finished = False
        with suppress(trio.WouldBlock):
            while isinstance(message, OutboxGrew):  # one claim for all of them
                self._has_new_rows, message = True, None
                message = self._mailbox.receive_nowait()
        if isinstance(message, TestDelivery):
            await self._test(message)

    async def _test(self, message: TestDelivery) -> None:
        with message.reply:
            try:
                await self._read()
                webhook_id, body = await self._sample()
            except STANDSTILL as error:
                message.reply.fail(error)
                return
            if self._record is not None:
                attempt = self._world.observer.attempt_test(webhook_id)
                answer = await self._post(self._record, webhook_id, body, attempt)
                retried = await self._retry_now(answer) if answer.delivered else 0
                message.reply.answer(replace(result_of(answer), retried=retried))

    async def _retry_now(self, answer: Answer) -> int:
        """End a run of failures after a good test: its deliveries are due now. Return how many were waiting."""
        now, retried, self._next_due_at = self._world.now(), 0, 0.0  # look again what is due
        self._set_status(*lifecycle.after(self._status, answer, now))
        try:
            retried = await self._storage.outbox.clamp(self._id, now, lambda _: now, self._storage.lease)
        except STANDSTILL as error:
            self._park(error)
        await self._settle()
        return retried

    # --- delivering ----------------------------------------------------------------------------------------------

    async def _deliver(self, delivery: Delivery, task_status: trio.TaskStatus[None]) -> None:
        record = self._record
        assert record is not None
        attempt = self._world.observer.attempt(delivery)
        answer = await self._post(record, delivery.event_id, delivery.body, attempt, task_status.started)
        self._take(delivery, answer)
        if answer.delivered:
            self._world.reach("delivery/after 2xx")
        await self._settle(may_wait=True)

    async def _post(
        self, record: Destination, id: str, body: bytes, attempt: Attempt, on_slot: Callable[[], None] = lambda: None
    ) -> Answer:
        """Post when there is a slot; `on_slot` is called then. Waiting for the slot is part of the attempt."""
        async with self._limiter.slot(record.url):
            on_slot()
            answer = await self._sender.attempt(record, id, body, attempt)
        attempt.ended(record, answer)
        return answer

    def _take(self, delivery: Delivery, answer: Answer) -> None:
        """Turn an answer into an outcome and a status in one step, so that a crash loses both or neither."""
        now = self._world.now()
        self._apply_clock_step()
        result = outcome(delivery, answer, now, self._chance.random())
        self._count_metrics(delivery, answer, now)
        if result.retry_at is not None:
            result = replace(result, retry_at=self._quiet_at(result.retry_at) or result.retry_at)
            self._next_due_at = min(self._next_due_at, result.retry_at or 0)
        self._claims.record(result)
        self._set_status(*lifecycle.after(self._status, answer, now))
        self._in_flight -= 1
        self._has_finished = True
        self._wait_scope.cancel()

    def _count_metrics(self, delivery: Delivery, answer: Answer, now: Millis) -> None:
        metrics = self._world.metrics
        metrics.attempts.add(answer.outcome)
        metrics.attempt_time.observe(answer.latency_ms / 1000)
        metrics.settled.add(verdict(answer, delivery.attempt))
        if answer.delivered:
            metrics.delivery_delay.observe(max(0, now - delivery.first_due) / 1000)

    async def _settle(self, *, may_wait: bool = False) -> None:
        try:
            await self._write(may_wait=may_wait)
        except STANDSTILL as error:
            self._park(error)

    async def _write(self, *, may_wait: bool = False) -> None:
        """Store outcomes and status; one who waited for the lock finds its own stored. Raises DiskFull, Unavailable."""
        async with self._settling:
            await self._claims.write(may_wait=may_wait)
            record, status = self._record, self._status
            if record is not None and (self._notice is not None or not lifecycle.is_stored(record, status)):
                await self._save_state(status, self._notice)

    async def _save_state(self, status: lifecycle.DestinationStatus, notice: Notice | None) -> None:
        """Store a change of state on the current record, which the front end edits as well."""
        # All matches up to this position are in the outbox, even of a destination that now gets no more.
        matched = await self._storage.outbox.cursor(MATCHED) or START
        edit = self._storage.alerts.edit_destination
        self._record = await edit(self._id, lambda it: lifecycle.with_status(it, status, notice, matched))
        if notice is not None:
            self._enqueue_notice(self._id)
            if self._notice is notice:  # else a newer notice came up
                self._notice = None


def result_of(answer: Answer) -> TestResult:
    result = {"sent": "sent", "retry": "retry", "given_up": "terminal"}[verdict(answer, 1)]
    detail = answer.error or f"the receiver answered {answer.status}"
    return TestResult(result, answer.status, answer.latency_ms, detail, answer.excerpt)


def _is_digest(destination: Destination) -> bool:
    return destination.delivery_mode != "instant"
