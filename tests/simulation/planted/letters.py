"""Bugs of deliveries; finding them takes a correspondence: digests, secrets, order, users' changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date, timedelta, tzinfo
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from actors import signatures
from actors.delivery import actor as acting
from actors.delivery import claims as room
from actors.delivery import schedule, status
from actors.delivery import schedule as digest
from actors.delivery.actor import DestinationActor, Sender
from actors.delivery.registry import DeliveryRegistry
from actors.delivery.status import DestinationStatus
from actors.destination_kinds import webhook as hooks
from actors.destination_kinds.contract import Answer
from actors.egress.guard import Guard
from actors.hours import local_time
from actors.matcher import Matcher, StandingQueries
from actors.query import AnalysedText, EventSide, Query
from storage.append import Lease
from storage.records.destination import Delivery, Destination, Freeze, Outcome, Secret
from storage.records.identity import Millis, Seq
from storage.sql.stores import alerts, log, outbox
from storage.sql.stores.outbox import Outbox
from storage.sql.writing import Transaction

Plant = AbstractContextManager[Any]

_FIRST = """SELECT due FROM outbox WHERE destination=(SELECT key FROM destination WHERE id=?) AND claimed=0
    ORDER BY seq LIMIT 1"""
_FORGET = """DELETE FROM outbox WHERE destination=(SELECT key FROM destination WHERE id=?1)
    AND (NOT ?2 OR (claimed=0 AND attempts=0))"""
_AGAIN = """INSERT INTO outbox(destination, seq, claimed, due, first_due, attempts) VALUES(?,?,0,?,?,0)"""


def _forget(storage: Any, destination: str, *, fresh: bool) -> None:
    """Delete rows of the outbox past every lock and life; with `fresh`, only unattempted ones."""
    storage.disk.connection.execute(_FORGET, (destination, fresh))


# --- recipients of events --------------------------------------------------------------------------------------------


def tags_unread() -> Plant:
    """Alerts match by source alone: those over a tag match nothing."""
    right = StandingQueries.match

    def wrong(
        self: StandingQueries, text: AnalysedText | EventSide, source: str, tags: Sequence[str] = ()
    ) -> list[str]:
        return right(self, text, source)

    return patch.object(StandingQueries, "match", wrong)


def tags_are_everywhere() -> Plant:
    """An alert over tags alone is over the whole library, like one without sources."""
    right = StandingQueries.add

    def wrong(self: StandingQueries, id: str, query: Query, scopes: Iterable[str] = ()) -> None:
        right(self, id, query, [scope for scope in scopes if ":" not in scope])

    return patch.object(StandingQueries, "add", wrong)


# --- bodies and ids --------------------------------------------------------------------------------------------------


def _repeated_as(change: Callable[[Delivery], Delivery]) -> Plant:
    """Change the delivery for every attempt but the first."""
    right = DestinationActor._deliver

    async def wrong(self: DestinationActor, delivery: Delivery, task_status: trio.TaskStatus[None]) -> None:
        await right(self, change(delivery) if delivery.attempt > 1 else delivery, task_status)

    return patch.object(DestinationActor, "_deliver", wrong)


def encoded_again() -> Plant:
    """A retry encodes its body again, with the same content."""
    return _repeated_as(lambda it: replace(it, body=json.dumps(json.loads(it.body)).encode()))


def another_id() -> Plant:
    """A retry has another id."""
    return _repeated_as(lambda it: replace(it, event_id=it.event_id[:-1] + str(it.attempt % 10)))


def signed_at_first() -> Plant:
    """Each attempt carries the time of the first."""
    right = hooks.signed_headers
    first: dict[str, dict[str, str]] = {}

    def wrong(destination: Destination, webhook_id: str, body: bytes, world: Any) -> dict[str, str]:
        return first.setdefault(webhook_id + destination.id, right(destination, webhook_id, body, world))

    return patch.object(hooks, "signed_headers", wrong)


def old_secrets_sign_for_ever() -> Plant:
    """A secret signs for ever after its rotation."""

    def wrong(secrets: Sequence[Secret], at: Millis) -> tuple[str, ...]:
        return tuple(secret.value for secret in secrets)

    return patch.object(signatures, "live_secrets", wrong)


def old_secrets_stop_at_once() -> Plant:
    """Only the newest secret signs."""

    def wrong(secrets: Sequence[Secret], at: Millis) -> tuple[str, ...]:
        return (secrets[0].value,)

    return patch.object(signatures, "live_secrets", wrong)


# --- meaning of answers ----------------------------------------------------------------------------------------------


def redirects_are_success() -> Plant:
    """An answer below 400 counts as delivered."""
    return patch.object(Answer, "delivered", property(lambda self: self.status is not None and self.status < 400))


def silence_is_success() -> Plant:
    """A connection that was lost before the answer counts as delivered."""
    right = Sender.attempt

    async def wrong(self: Sender, destination: Destination, id: str, body: bytes) -> Answer:
        answer = await right(self, destination, id, body)
        return answer._replace(status=200) if answer.status is None and not answer.ours else answer

    return patch.object(Sender, "attempt", wrong)


def wishes_ignored() -> Plant:
    """`Retry-After` and 429 change nothing."""
    right = schedule.wait

    def wrong(answer: Answer, attempt: int, draw: float) -> float:
        return right(Answer(500, 0), attempt, draw)

    return patch.object(schedule, "wait", wrong)


def gone_is_a_failure() -> Plant:
    """410 is a failure like any other."""
    right = status.after

    def wrong(standing: DestinationStatus, answer: Answer, at: Millis) -> Any:
        return right(standing, answer._replace(status=500) if answer.status == 410 else answer, at)

    return patch.object(status, "after", wrong)


def one_success_does_not_count() -> Plant:
    """A success does not end a run of failures: sporadic failures disable a destination in the end."""
    right = status.after

    def wrong(standing: DestinationStatus, answer: Answer, at: Millis) -> Any:
        return (standing, None) if answer.delivered else right(standing, answer, at)

    return patch.object(status, "after", wrong)


def settled_before_the_post() -> Plant:
    """A delivery is settled before its request."""

    async def wrong(self: DestinationActor, delivery: Delivery, task_status: trio.TaskStatus[None]) -> None:
        record = self._record
        assert record is not None
        self._take(delivery, Answer(200, 0))
        await self._settle()
        await self._post(record, delivery.event_id, delivery.body, task_status.started)

    return patch.object(DestinationActor, "_deliver", wrong)


def checked_once() -> Plant:
    """A receiver's address is checked only once."""
    right = Guard._addresses
    met: dict[str, None] = {}

    async def wrong(self: Guard, host: str) -> tuple[str, ...]:
        if host in met:
            return tuple(await self._resolver.resolve(host))
        found = await right(self, host)
        met[host] = None
        return found

    return patch.object(Guard, "_addresses", wrong)


def tests_are_marked() -> Plant:
    """A test delivery has a header that others don't have."""
    right = hooks.signed_headers

    def wrong(destination: Destination, webhook_id: str, body: bytes, world: Any) -> dict[str, str]:
        mark = {"webhook-test": "true"} if b'"kind:test"' in body else {}
        return right(destination, webhook_id, body, world) | mark

    return patch.object(hooks, "signed_headers", wrong)


def refusals_listed_as_500() -> Plant:
    """The list of attempts shows every refusal as 500."""
    right = Outbox.settle

    async def wrong(self: Outbox, outcomes: Sequence[Outcome], lease: Lease, **more: Any) -> None:
        refused = [replace(it, status=500) if it.status is not None and it.status >= 300 else it for it in outcomes]
        await right(self, refused, lease, **more)

    return patch.object(Outbox, "settle", wrong)


# --- order and number ------------------------------------------------------------------------------------------------


def probes_never() -> Plant:
    """A failing destination gets no more attempts."""
    right = DestinationActor._slots

    def wrong(self: DestinationActor) -> int:
        return 0 if self._status.state == "failing" else right(self)

    return patch.object(DestinationActor, "_slots", wrong)


def probes_in_crowds() -> Plant:
    """A failing destination gets as many parallel requests as before."""
    right = DestinationActor._slots

    def wrong(self: DestinationActor) -> int:
        return 4 if right(self) else 0

    return patch.object(DestinationActor, "_slots", wrong)


@contextmanager
def too_many_at_once() -> Iterator[None]:
    """Six requests to a destination run at once."""
    with patch.object(acting, "MOST_IN_FLIGHT", 6), patch.object(room, "MOST_PER_URL", 6):
        yield


def no_room_to_mind() -> Plant:
    """There is no limit of requests to a machine, or in all."""
    most = 10_000
    return patch.multiple(room, MOST_REQUESTS=most, MOST_SLOW=most, MOST_ADDITIONAL=most, MOST_PER_HOST=most)


def slow_ones_take_all() -> Plant:
    """Receivers that stall may use the whole limit."""
    return patch.multiple(room, MOST_SLOW=room.MOST_REQUESTS, MOST_ADDITIONAL=room.MOST_REQUESTS)


@contextmanager
def older_ones_first() -> Iterator[None]:
    """A delivery that waits for a retry holds up all newer ones."""
    claim = Outbox.claim

    async def wrong(
        self: Outbox, destination: str, now: Millis, limit: int, lease: Lease, *, digests: bool = False, **more: Any
    ) -> Sequence[Delivery]:
        due = await first_due(self, destination, digests=digests)
        if due is None or due > now:
            return ()
        return await claim(self, destination, now, limit, lease, digests=digests, **more)

    async def first_due(self: Outbox, destination: str, *, digests: bool = False) -> Millis | None:
        due = await self._first(int, _FIRST, destination)
        return None if due is None else Millis(due)

    with patch.object(Outbox, "claim", wrong), patch.object(Outbox, "next_due", first_due):
        yield


# --- digests ---------------------------------------------------------------------------------------------------------


def in_two_digests() -> Plant:
    """Events of a digest are gathered once more."""
    right = outbox._freeze

    def wrong(
        transaction: Transaction, key: int, taken: Sequence[tuple[Seq, bytes]], end: Millis, freeze: Freeze
    ) -> None:
        right(transaction, key, taken, end, freeze)
        transaction.executemany(_AGAIN, [(key, seq, end, end) for seq, _ in taken[:-1][:1]])

    return patch.object(outbox, "_freeze", wrong)


def frozen_by_elapsed_days() -> Plant:
    """A day has 24 hours, even at a clock change."""

    def wrong(day: date, hour: int, zone: tzinfo) -> Millis:
        first = date(2026, 1, 1)
        offset = local_time(Millis(1_767_268_800_000), zone).utcoffset() or timedelta()
        return Millis(
            1_767_225_600_000 + ((day - first).days * 24 + hour) * 3_600_000 - round(offset.total_seconds()) * 1000
        )

    return patch.object(digest, "_day_start", wrong)


# --- users' changes --------------------------------------------------------------------------------------------------


def quiet_hours_drop() -> Plant:
    """Deliveries due in quiet hours are lost."""
    right = DestinationActor._update_quiet

    def wrong(self: DestinationActor) -> None:
        right(self)
        if self._quiet is not None:
            _forget(self._storage, self._id, fresh=True)

    return patch.object(DestinationActor, "_update_quiet", wrong)


def quiet_hours_unheard() -> Plant:
    """Quiet hours hold nothing."""
    return patch.object(DestinationActor, "_quiet_at", lambda self, at: None)


def disabled_drops() -> Plant:
    """Deliveries that wait for a disabled destination are lost."""
    right = DeliveryRegistry._stop

    async def wrong(self: DeliveryRegistry, id: str, *, is_removed: bool) -> None:
        await right(self, id, is_removed=is_removed)
        _forget(self._storage, id, fresh=False)

    return patch.object(DeliveryRegistry, "_stop", wrong)


@contextmanager
def edits_lose() -> Iterator[None]:
    """A change of alerts drops committed events that are not yet matched durably."""

    async def wrong(self: Matcher) -> None:
        at = max(self._at, await self._storage.alerts.changed_at())
        self._reset(self._saved)
        self._at = at
        await self._save(settled=True)
        await self._read_alerts()
        await self._refresh()

    with patch.object(Matcher, "_change", wrong):
        yield


def disabling_unreported() -> Plant:
    """There is no notice of a disabled destination."""
    right = status.with_status

    def wrong(destination: Destination, standing: DestinationStatus, news: Any, matched: Any) -> Destination:
        quiet = standing.state == "disabled" and destination.state != "disabled"
        found = right(destination, standing, news, matched)
        return replace(found, owes=destination.owes) if quiet else found

    return patch.object(status, "with_status", wrong)


def debts_paid_late() -> Plant:
    """A paid notice is owed once more."""
    right = alerts.clear_notice
    told: dict[str, None] = {}

    def wrong(transaction: Transaction, debtor: str, pays: Callable[[str | None], bool]) -> bool:
        if debtor in told:
            return right(transaction, debtor, pays)
        owed: list[bool] = []

        def asked(debt: str | None) -> bool:
            owed.append(pays(debt))
            return False

        right(transaction, debtor, asked)
        if any(owed):
            told[debtor] = None
        return any(owed)

    return patch.object(log, "clear_notice", wrong)
