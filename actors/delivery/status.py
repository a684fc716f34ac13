"""The status of a destination, failing or disabled, and the notices about it.

    state \\ sign   success    failure                   gone (410)
    active         active     failing at the 5th         disabled
    failing        active     disabled after 120 h       disabled
    disabled       disabled   disabled                   disabled

Only an unbroken run of failures counts: one success in 120 hours keeps a destination alive. A failure of this machine
(no network) says nothing about the receiver, and neither does skipped time: if the clock is set forward, or the machine
slept, the run's start moves by as much. Only a person resumes a disabled destination.

A run of failures causes at most two notices before the end: when the destination has been failing for its alert's
`notice_after`, and half-way to being disabled. They depend on time, not on attempts, which may be a day apart by then.

A destination's change of state and its owed notice are one write; the notice and the end of the debt are another (see
`Harvest.debtor`). So each is reported once, over any crash; in between this keeps trying. It never waits for the
recorder, because the recorder's commits come back here as deliveries.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.destination_kinds.contract import Answer
from actors.messages.workers import Record
from actors.notices import destination_notice
from actors.world import World
from storage.errors import STANDSTILL
from storage.records.destination import Destination, Notice
from storage.records.identity import SERVICE, Millis, Seq
from storage.records.source import Harvest
from storage.sql.storage import Storage
from supervision import MailboxFull, Reply

FAILURES = 5  # failures in a row that make a destination failing; from then on it gets one request at a time
PATIENCE = 120 * 3_600_000  # milliseconds of failures that disable a destination; at half of it there is a notice

State = Literal["active", "failing", "disabled"]


class DestinationStatus(Struct, frozen=True):
    """A destination's state. since, failures, notices: start, length and notices so far of the run of failures."""

    state: State = "active"
    since: Millis | None = None
    failures: int = 0
    notices: int = 0


def status_of(destination: Destination) -> DestinationStatus:
    if destination.state != "failing" or destination.failing_since is None:
        return DestinationStatus(destination.state)
    return DestinationStatus("failing", destination.failing_since, FAILURES, destination.told)


def after(status: DestinationStatus, answer: Answer, at: Millis) -> tuple[DestinationStatus, Notice | None]:
    """Return the status after an answer, and the notice that it triggers at once: disabled."""
    if status.state == "disabled" or answer.ours:
        return status, None
    if answer.delivered:
        return DestinationStatus(), None
    since = at if status.since is None else min(at, status.since)
    failures = status.failures + 1
    if answer.gone or at - since >= PATIENCE:
        return DestinationStatus("disabled", since, failures, status.notices), "destination_disabled"
    state: State = "failing" if failures >= FAILURES else status.state
    return DestinationStatus(state, since, failures, status.notices), None


def next_notice(status: DestinationStatus, notice_after: int) -> Millis | None:
    """Return when a run's next notice is due, by its alert's `notice_after` in seconds; None if all were sent."""
    if status.state != "failing" or status.since is None:
        return None
    times = sorted({min(1000 * notice_after, PATIENCE // 2), PATIENCE // 2})
    return Millis(status.since + times[status.notices]) if status.notices < len(times) else None


def with_due_notice(
    status: DestinationStatus, at: Millis, notice_after: int
) -> tuple[DestinationStatus, Notice | None]:
    """Return the status at a moment without an answer, and its notice. Overdue notices become one."""
    if (status.since or 0) > at:  # a clock that was ahead has set a later time
        status = replace(status, since=at)
    updated = status
    while (due := next_notice(updated, notice_after)) is not None and due <= at:
        updated = replace(updated, notices=updated.notices + 1)
    return updated, None if updated == status else "destination_failing"


def shifted(status: DestinationStatus, seconds: float) -> DestinationStatus:
    """Return a status after a step of the clock forward; after a step back, `with_due_notice` corrects it."""
    if status.since is None or seconds <= 0:
        return status
    return replace(status, since=status.since + round(1000 * seconds))


def is_stored(destination: Destination, status: DestinationStatus) -> bool:
    since = status.since if status.state == "failing" else destination.failing_since
    return (destination.state, destination.told, destination.failing_since) == (status.state, status.notices, since)


def with_status(
    destination: Destination, status: DestinationStatus, notice: Notice | None, matched: Seq
) -> Destination:
    """Return the record with its state and owed notice, and the start of a run of failures once it counts as failing.
    matched: the matcher's position; a disabled destination misses later matches.
    """
    if is_stored(destination, status):
        return destination  # an earlier, unconfirmed write has succeeded
    if status.state == "active":
        return replace(destination, state="active", failing_since=None, told=0, owes=None)
    owing = destination.owes if notice is None else notice
    if status.state == "disabled":
        destination = destination.missing(matched)
    return replace(destination, state=status.state, failing_since=status.since, told=status.notices, owes=owing)


AGAIN = 30.0  # seconds until an uncommitted notice is sent again


class NoticePublisher:
    """Publishes owed notices. `record` is the recorder's mailbox, and raises MailboxFull."""

    def __init__(self, world: World, storage: Storage, record: Callable[[Record], None], base_url: str) -> None:
        self._world, self._storage, self._record, self._base_url = world, storage, record, base_url
        self._owing: dict[str, None] = {}
        self._wakeup = trio.Event()

    def enqueue(self, destination: str) -> None:
        """Mark a destination as owing a notice. Never waits."""
        self._owing[destination] = None
        self._wakeup.set()

    async def run(self) -> None:
        """Send owed notices, those of earlier runs first, until cancelled."""
        for destination in await self._storage.alerts.destinations():
            if destination.owes is not None:
                self.enqueue(destination.id)
        while True:
            self._wakeup = trio.Event()
            owing, self._owing = self._owing, {}
            for id in owing:
                with suppress(*STANDSTILL):  # it still owes: retry later
                    stored = await self._storage.alerts.destination(id)
                    if stored is None or stored.owes is None:
                        continue
                    lines = await self._storage.outbox.attempts(id, 1)
                    report = destination_notice(stored, lines[0] if lines else None, self._base_url, self._world.now())
                    with suppress(MailboxFull):
                        self._record(Record(Harvest(SERVICE, (report,), None, debtor=id), Reply()))
                self._owing[id] = None
            with trio.move_on_after(AGAIN if self._owing else float("inf")):
                await self._wakeup.wait()
