"""Several services on one database: their writes have one order, and none undoes another's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, LiteralString

import psycopg
import pytest
import trio
from msgspec.structs import replace

from extras.cluster.members.membership import SharedOwnership, Sharing
from extras.cluster.postgres.engine import _LOCKS, PostgresWriter
from storage.append import events_of
from storage.errors import CursorMoved, Duplicate, StateMoved
from storage.records.destination import Destination, Match, Outcome, Portion
from storage.records.event import EVERYTHING
from storage.records.identity import START, Millis, Seq
from storage.records.source import Version
from storage.sql.storage import Storage
from storage.sql.writing import Ticket
from tests.extras.cluster.postgres.engine.test_members import opened
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_destination,
    a_harvest,
    a_signing_key,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    stamp,
)
from tests.storage.contract.test_contract_following import following
from tests.storage.contract.test_contract_stories import Teller, watched
from tests.support.postgres import cluster
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


@pytest.fixture
async def three() -> AsyncIterator[tuple[Storage, Storage, Storage]]:
    url = cluster().url(cluster().fresh())
    first, second, third = [await opened(url, name) for name in ("a", "b", "c")]
    yield first, second, third
    for each in (first, second, third):
        await each.aclose()


async def test_positions_rise_in_the_order_of_commits_over_all_starts_and_a_third_sees_each_once(
    three: tuple[Storage, Storage, Storage],
) -> None:
    a, b, reader = three
    for number in (1, 2):
        await a.sources.add(a_source(number), a_state(number), a.lease)

    async def write(storage: Storage, number: int) -> None:
        mint = CountingMint()
        for turn in range(60):
            await storage.log.append([a_harvest(number, f"{number} {turn}")], storage.lease, mint, stamp)

    seen: list[Seq] = []

    async def watch() -> None:
        head = START
        while len(seen) < 120:
            head = await reader.tail.wait_past(head)
            seen[:] = [recent.stored.seq for recent in reader.tail.since(START) or ()]

    async with following(reader), trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        nursery.start_soon(write, a, 1)
        nursery.start_soon(write, b, 2)
    kept = (await reader.log.read(START, 500, EVERYTHING)).events
    assert seen == [event.seq for event in kept] == sorted(set(seen)) and len(seen) == 120
    assert {event.source for event in kept} == {a_source_id(1), a_source_id(2)}


async def test_a_harvest_from_a_state_that_another_start_has_replaced_is_refused_alone(
    three: tuple[Storage, Storage, Storage],
) -> None:
    a, b, _ = three
    for number in (1, 2):
        await a.sources.add(a_source(number), a_state(number), a.lease)
    await b.sources.update(a_source(1, title="other"), b.lease, Version(77), before=None)
    answers = await a.log.append([a_harvest(1, "stale"), a_harvest(2, "good")], a.lease, CountingMint(), stamp)
    assert isinstance(answers[0], StateMoved) and len(events_of(answers)) == 1


async def test_a_url_added_on_two_nodes_is_one_source_and_an_edit_compares_with_its_start(
    three: tuple[Storage, Storage, Storage],
) -> None:
    a, b, _ = three
    refused: list[Duplicate] = []

    async def add(storage: Storage, number: int) -> None:
        try:
            source = a_source(number, url="https://one.example/feed")
            await storage.sources.add(source, a_state(number), storage.lease)
        except Duplicate as error:
            refused.append(error)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(add, a, 1)
        nursery.start_soon(add, b, 2)
    assert len(refused) == 1
    known = refused[0].existing
    await b.sources.update(a_source(1, id=known.id, url=known.url, title="b"), b.lease, Version(5), before=known)
    with pytest.raises(StateMoved):
        await a.sources.update(a_source(1, id=known.id, url=known.url, title="a"), a.lease, Version(6), before=known)
    with pytest.raises(StateMoved):
        await a.sources.delete(known.id, a.lease, before=known)


def sharing_of(storage: Storage) -> Sharing:
    assert isinstance(storage.ownership, SharedOwnership) and storage.ownership.sharing is not None
    return storage.ownership.sharing


async def test_twins_added_by_two_starts_at_once_are_stored_once(three: tuple[Storage, Storage, Storage]) -> None:
    a, b, _ = three
    for turn in range(10):
        known = (await sharing_of(a).newest()).change
        found: list[str] = []

        async def add(storage: Storage, number: int, url: str, known: int = known, found: list[str] = found) -> None:
            source = a_source(number, url=url, watch_url=url)
            detection = replace(source.detection, final_url=url)
            try:
                await storage.sources.add(replace(source, detection=detection), a_state(number), storage.lease, known)
                found.append("made")
            except Duplicate as duplicate:
                found.append(duplicate.existing.id)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add, a, 2 * turn, f"https://twin{turn}.example/feed")
            nursery.start_soon(add, b, 2 * turn + 1, f"http://www.twin{turn}.example/feed/")
        assert sorted(found) in ([a_source_id(2 * turn), "made"], [a_source_id(2 * turn + 1), "made"])
    assert len(await a.sources.page(None, 100)) == 10


async def test_changes_of_sources_are_read_in_order_each_by_its_last(three: tuple[Storage, Storage, Storage]) -> None:
    a, b, reader = three
    assert (await sharing_of(reader).newest()).change == 0
    for number in (1, 2, 3):
        await a.sources.add(a_source(number), a_state(number), a.lease)
    first = await sharing_of(reader).changes(0, 500)
    assert [change.source for change in first] == [a_source_id(number) for number in (1, 2, 3)]
    assert all(change.watched is not None and change.watched.base == b"" for change in first)
    await b.sources.update(a_source(1, title="new"), b.lease, Version(9), before=None)
    await b.sources.delete(a_source_id(2), b.lease)
    await a.log.append([a_harvest(3, "news")], a.lease, CountingMint(), stamp)
    later = await sharing_of(reader).changes(first[-1].number, 500)
    assert [change.source for change in later] == [a_source_id(number) for number in (1, 2, 3)]
    assert [change.watched and change.watched.source.title for change in later][:2] == ["new", None]
    assert later[-1].number == (await sharing_of(reader).newest()).change
    assert len(await sharing_of(reader).changes(0, 2)) == 2 and not await sharing_of(reader).changes(
        later[-1].number, 2
    )


async def test_a_claim_of_one_start_is_not_settled_by_another(three: tuple[Storage, Storage, Storage]) -> None:
    a, b, _ = three
    await a.sources.add(a_source(), a_state(), a.lease)
    await a.alerts.put(an_alert())
    await a.alerts.put_destination(a_destination())
    (event,) = events_of(await a.log.append([a_harvest(1, "news")], a.lease, CountingMint(), stamp))
    await a.outbox.advance("matcher", None, event.seq, [Match("hook", event.seq, Millis(NOW))], a.lease)
    sent = Outcome("hook", event.seq, "sent", Millis(NOW), status=200, latency_ms=1)
    (claimed,) = await a.outbox.claim("hook", Millis(NOW), 9, a.lease)
    assert not await b.outbox.claim("hook", Millis(NOW), 9, b.lease)
    await b.outbox.settle([sent], b.lease)
    assert await b.outbox.backlog("hook") == 1
    assert await b.outbox.release(b.lease, destination="hook") == 1
    (again,) = await b.outbox.claim("hook", Millis(NOW), 9, b.lease)
    await a.outbox.settle([sent], a.lease)
    assert await a.outbox.backlog("hook") == 1 and again.event_id == claimed.event_id
    await b.outbox.settle([sent], b.lease)
    assert await a.outbox.backlog("hook") == 0


async def test_two_first_starts_at_once_make_one_signing_key(three: tuple[Storage, Storage, Storage]) -> None:
    async with trio.open_nursery() as nursery:
        for number, storage in enumerate(three):
            nursery.start_soon(partial(storage.keys.add_first_signing, a_signing_key(f"k{number}")))
    assert len(await three[0].keys.signing()) == 1
    assert await three[1].keys.public() == []


Work = Callable[[Storage], Awaitable[object]]


def digest(bodies: Sequence[bytes]) -> tuple[str, bytes]:
    return f"digest of {len(bodies)}", b""


async def freezes(storage: Storage) -> object:
    return await storage.outbox.freeze("hook", Portion(Millis(0), Millis(NOW + 9), 500, 1 << 20), digest, storage.lease)


async def claims(storage: Storage) -> object:
    return len(await storage.outbox.claim("hook", Millis(NOW), 9, storage.lease))


async def test_starts_that_append_in_turn_find_each_others_stories(three: tuple[Storage, Storage, Storage]) -> None:
    mint = CountingMint()
    a, b, c = [Teller(each, mint) for each in three]
    await watched(a.storage)
    for title in range(5):
        (first,) = await a.tell(1, title)
        assert await b.tell(2, title) == await c.tell(3, title) == [first]


async def advances(storage: Storage) -> object:
    try:
        await storage.outbox.advance("matcher", Seq(5), Seq(6), [], storage.lease)
    except CursorMoved:
        return "moved"
    return await storage.outbox.cursor("matcher")


async def enqueues(storage: Storage) -> object:
    return await storage.outbox.enqueue([Match("hook", Seq(1 << 40), Millis(NOW))], storage.lease)


@pytest.mark.parametrize(
    ("work", "held", "other", "comes_to"),
    [
        (
            freezes,
            "SELECT 1 FROM destination FOR UPDATE",
            "DELETE FROM outbox WHERE seq<(SELECT max(seq) FROM outbox)",
            1,
        ),
        (claims, "SELECT 1 FROM destination FOR UPDATE", "UPDATE outbox SET claimed=77", 0),
        (advances, "SELECT 1 FROM cursor FOR UPDATE", "UPDATE cursor SET seq=9", "moved"),
        (enqueues, "SELECT 1", "DELETE FROM destination", 0),
    ],
)
async def test_a_write_based_on_a_read_waits_for_a_concurrent_writer(
    work: Work, held: LiteralString, other: LiteralString, comes_to: object
) -> None:
    url = cluster().url(cluster().fresh())
    storage = await opened(url, "a")
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    events = events_of(await storage.log.append([a_harvest(1, "a", "b", "c")], storage.lease, CountingMint(), stamp))
    await storage.outbox.enqueue([Match("hook", event.seq, Millis(NOW)) for event in events], storage.lease)
    await storage.outbox.advance("matcher", None, Seq(5), [], storage.lease)
    found: list[object] = []

    async def do() -> None:
        found.append(await work(storage))

    with psycopg.connect(url) as another, psycopg.connect(url, autocommit=True) as watching, trio.fail_after(HANG):
        another.execute(held)
        another.execute(other)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(do)
            while not watching.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() > (0,):  # type: ignore[operator]  # a count is a row  # noqa: ASYNC110 - of another process
                await trio.sleep(0.01)
            another.commit()
    assert found == [comes_to]
    await storage.aclose()


async def test_a_destination_that_is_held_keeps_no_row_that_refers_to_it_waiting() -> None:
    """A foreign key takes FOR KEY SHARE: behind FOR UPDATE, nodes waited for each other until PostgreSQL ended one."""
    url = cluster().url(cluster().fresh())
    storage = await opened(url, "a")
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    with psycopg.connect(url) as holder, psycopg.connect(url) as referring:
        for statement in _LOCKS.values():
            cursor = holder.execute(f"{statement} FOR NO KEY UPDATE".replace("?", "%s").encode(), (["hook"],))
            assert cursor.rowcount == ("destination" in statement)
        referring.execute("SELECT 1 FROM destination WHERE id='hook' FOR KEY SHARE NOWAIT")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            referring.execute("SELECT 1 FROM destination WHERE id='hook' FOR NO KEY UPDATE NOWAIT")
    await storage.aclose()


async def test_an_alert_is_deleted_with_its_destinations_in_the_order_in_which_all_are_locked() -> None:
    """The cascade deletes them in the order of their making: it met another node's locks from the other side."""
    url = cluster().url(cluster().fresh())
    storage = await opened(url, "a")
    await storage.alerts.put(an_alert())
    for name in ("b", "a"):
        await storage.alerts.put_destination(a_destination(name))
    with psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as watching, trio.fail_after(HANG):
        other.execute("SELECT 1 FROM destination WHERE id='a' FOR KEY SHARE")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(storage.alerts.delete, an_alert().id)
            while not watching.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() > (0,):  # type: ignore[operator]  # a count is a row  # noqa: ASYNC110 - of another process
                await trio.sleep(0.01)
            other.execute("SELECT 1 FROM destination WHERE id='b' FOR KEY SHARE NOWAIT")
            other.commit()
    assert await storage.alerts.destinations() == []
    await storage.aclose()


async def test_nodes_that_change_the_same_rows_in_another_order_never_deadlock(
    three: tuple[Storage, Storage, Storage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread commits all waiting calls in one transaction; it used to lock rows in the order of calls."""
    a, b, _ = three
    ended: list[BaseException] = []
    right = PostgresWriter._attempt

    def attempt(self: PostgresWriter, tickets: Sequence[Ticket[Any]]) -> None:
        try:
            right(self, tickets)
        except psycopg.errors.DeadlockDetected as error:
            ended.append(error)
            raise

    monkeypatch.setattr(PostgresWriter, "_attempt", attempt)
    names = [f"hook{number}" for number in range(8)]
    await a.alerts.put(an_alert())
    for name in names:
        await a.alerts.put_destination(a_destination(name))
    for turn in range(25):

        def later(it: Destination, at: int = turn) -> Destination:
            return replace(it, updated_at=Millis(NOW + at))

        async with trio.open_nursery() as nursery:
            for storage, order in ((a, names), (b, names[::-1])):
                for name in order:
                    nursery.start_soon(storage.alerts.edit_destination, name, later)
    assert ended == []
