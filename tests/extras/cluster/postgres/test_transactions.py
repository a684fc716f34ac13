"""How many transactions a webhook and an idle node cost the server, counted at the driver."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
import trio
from psycopg.pq import TransactionStatus
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.egress.failures import PostResult
from actors.matcher import Matcher
from actors.messages.workers import MatcherMessage
from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import System
from extras.cluster.members.membership import SharedOwnership
from extras.cluster.postgres.engine import LARGE, LinePool, PostgresWriter, connect
from storage.append import events_of
from storage.records.destination import Hit, Match, Outcome
from storage.records.event import MATCHED
from storage.records.identity import Millis
from storage.records.member import Says
from supervision import Mailbox
from tests.actors.delivery.rig import Arrival, Rig
from tests.actors.matcher.rig import _nothing, a_child, stamp
from tests.extras.cluster.postgres.engine.test_members import opened
from tests.storage.contract import builders
from tests.storage.contract.builders import CountingMint, a_destination, a_source, a_state, an_alert
from tests.storage.contract.test_contract_following import following
from tests.support.build import NOW, a_harvest, a_source_id
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import MemoryNetwork, a_world
from tests.support.postgres import cluster

pytestmark = pytest.mark.real
EVENTS, HOOKS = 40, ("one", "two")
IDLE = 20.0


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the first statement of each transaction of this process."""
    found: list[str] = []
    right = psycopg.Cursor.execute

    def execute(self: psycopg.Cursor[Any], query: Any, *given: Any, **more: Any) -> Any:
        if self.connection.info.transaction_status == TransactionStatus.IDLE:
            found.append(query.decode() if isinstance(query, bytes) else str(query))
        return right(self, query, *given, **more)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    yield found


async def test_a_webhook_costs_at_most_two_transactions_in_a_steady_stream(begun: list[str]) -> None:
    storage = await opened(cluster().url(cluster().fresh()), "a")
    assert isinstance(storage.ownership, SharedOwnership)
    storage.ownership.take(await storage.members.beat(Says()))
    rig = Rig(storage=storage)
    await rig.prepare(*HOOKS)
    send, posted = trio.open_memory_channel[None](len(HOOKS))

    async def receive(_: Arrival) -> PostResult:
        await send.send(None)
        return PostResult(200, 1, b"", None)

    rig.receivers.update({f"{hook}.example": receive for hook in HOOKS})
    box: Mailbox[MatcherMessage] = Mailbox("matcher", 16)
    more: dict[str, Any] = {"refresh": _nothing, "on_alerts_read": _nothing, "private_since": _nothing}
    matcher = Matcher(storage=storage, mailbox=box, nudge=rig.registry.nudge, world=rig.world, **more)

    async def stream(turns: int) -> None:
        for turn in range(turns):
            harvest = a_harvest(a_source_id(), f"price {turn}")
            await storage.log.append([harvest], storage.lease, rig.mint, stamp)
            for _ in HOOKS:
                await posted.receive()

    async with following(storage), rig.running(), trio.open_nursery() as nursery:
        nursery.start_soon(matcher.run, a_child())
        await stream(2)
        begun.clear()
        await stream(EVENTS)
        theirs = len(begun) - EVENTS  # without those that append
        nursery.cancel_scope.cancel()
    await storage.aclose()
    assert theirs <= 2 * EVENTS * len(HOOKS)


async def test_a_webhook_takes_eleven_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    trips: list[str] = []
    right = psycopg.Connection.wait

    def wait(self: psycopg.Connection[Any], *given: Any, **more: Any) -> Any:
        trips.append(threading.current_thread().name)
        return right(self, *given, **more)

    storage = await opened(cluster().url(cluster().fresh()), "a")
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    (event,) = events_of(
        await storage.log.append([builders.a_harvest(1, "news")], storage.lease, CountingMint(), builders.stamp)
    )
    known, now = await storage.alerts.destination("hook"), Millis(builders.NOW)
    monkeypatch.setattr(psycopg.Connection, "wait", wait)
    rows, hits = [Match("hook", event.seq, now)], [Hit("alert", 1, now)]
    await storage.outbox.advance(MATCHED, None, event.seq, rows, storage.lease, hits=hits)
    (claimed,) = await storage.outbox.claim("hook", now, 9, storage.lease, known=known)
    await storage.outbox.settle([Outcome("hook", claimed.seq, "sent", now, 200)], storage.lease)
    monkeypatch.undo()
    assert trips.count("postgres-write") == 11
    assert not await storage.outbox.backlog("hook")
    (attempt,) = await storage.outbox.attempts("hook", 9)
    assert attempt.result == "sent"
    await storage.aclose()


def test_a_write_that_waits_for_the_next_statement_is_counted_ordered_and_undone_with_the_rest() -> None:
    connection = connect(cluster().url(cluster().empty()))
    connection.run("CREATE TABLE one(number INT PRIMARY KEY, body BYTEA)")
    put, count = "INSERT INTO one VALUES(?, ?)", "SELECT count(*), sum(length(body)) FROM one"
    connection.begin()
    connection.execute(put, (1, b"100% of it?"))
    connection.executemany(put, [(2, b""), (3, bytes(LARGE))])  # one of them is large
    assert connection.execute(count).fetchone() == (3, 11 + LARGE)
    changed, none = connection.execute("UPDATE one SET body=''"), connection.execute("DELETE FROM one WHERE number>3")
    assert (changed.rowcount, none.rowcount, connection.changes) == (3, 0, 5)
    connection.commit()
    connection.begin()
    connection.execute("DELETE FROM one")
    connection.execute(put, (4, None))
    connection.execute(put, (4, None))
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.commit()
    connection.roll_back()
    assert connection.execute(count).fetchone() == (3, 0)
    connection.close()


class Turns:
    """Moves the virtual clock on, but never while the database works for a task."""

    def __init__(self, clock: MockClock, patch: pytest.MonkeyPatch) -> None:
        self._clock, self._pending = clock, 0
        for owner, name in ((LinePool, "visit"), (PostgresWriter, "submit")):
            patch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, right: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*given: Any, **more: Any) -> Any:
            self._pending += 1
            try:
                return await right(*given, **more)
            finally:
                self._pending -= 1

        return counted

    async def wait(self, seconds: float) -> None:
        until = trio.current_time() + seconds
        while trio.current_time() < until:
            await wait_all_tasks_blocked(0.002)
            if not self._pending:
                self._clock.jump(0.1)


async def test_an_idle_node_costs_at_most_three_transactions_a_second(
    begun: list[str], mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch, nursery: trio.Nursery
) -> None:
    storage, turns = await opened(cluster().url(cluster().fresh()), "a"), Turns(mock_clock, monkeypatch)
    world = a_world(MemoryNetwork(nursery), wall=NOW / 1000, jail=InlineJail())
    system = System(world, Settings(), storage, await signing_keys(world, storage), lambda context: [])
    async with trio.open_nursery() as running:
        running.start_soon(system.run)
        await turns.wait(10)
        begun.clear()
        await turns.wait(IDLE)
        theirs = len(begun)
        mock_clock.rate = 1.0  # the end waits for threads
        running.cancel_scope.cancel()
    await storage.aclose()
    assert IDLE <= theirs <= 3 * IDLE
