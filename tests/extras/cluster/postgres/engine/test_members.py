"""Several services on one database: membership follows PostgreSQL's clock, which the tests stop and move."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import count

import psycopg
import pytest
import trio

from extras.cluster.members.view_change import KEPT, LEASE
from extras.cluster.postgres import database
from extras.cluster.postgres.engine import PostgresMembers
from extras.cluster.postgres.server import SharedClock
from sanderling.real_world import monotonic, wall
from storage.errors import Fenced
from storage.records.identity import Seq
from storage.records.member import LEFT, Says
from storage.secrets import SIZE, Vault
from storage.sql.storage import Storage
from tests.storage.contract.builders import an_api_key
from tests.support.postgres import cluster
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
SAYS = Says()
MOMENT = "CREATE OR REPLACE FUNCTION moment() RETURNS FLOAT8 LANGUAGE sql VOLATILE AS $$%s$$"


@pytest.fixture
def url() -> Iterator[str]:
    url = cluster().url(cluster().fresh())
    body = stop_clock(url)
    yield url
    with psycopg.connect(url, autocommit=True) as other:
        other.execute((MOMENT % body).encode())


@pytest.fixture
async def three(url: str) -> AsyncIterator[tuple[Storage, Storage, Storage]]:
    first, second, third = [await opened(url, name) for name in ("a", "b", "c")]
    yield first, second, third
    for each in (first, second, third):
        await each.aclose()


def stop_clock(url: str) -> str:
    """Stop the database's clock; return the original function."""
    with psycopg.connect(url, autocommit=True) as other:
        (body,) = other.execute("SELECT prosrc FROM pg_proc WHERE proname='moment'").fetchone() or ("",)
    passes(url, 0)
    return str(body)


async def opened(url: str, owner: str, *, shares: bool = True) -> Storage:
    clock = partial(next, count(wall(), 0.05))
    vault = Vault(bytes(SIZE))
    named = {"vault": vault, "clock": clock, "owner": owner, "warn": lambda _: None, "safe": (), "shares": shares}
    return await database.open_postgres(url, **named)  # type: ignore[arg-type]


def passes(url: str, seconds: float) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        (now,) = other.execute("SELECT moment()").fetchone() or (0.0,)
        other.execute((MOMENT % f"SELECT {now + seconds}::float8").encode())


async def all_inside(url: str, *storages: Storage) -> tuple[str, ...]:
    for storage in storages:
        view = await storage.members.beat(SAYS)
    assert set(view.inside()) >= {storage.members.me for storage in storages}
    return view.inside()


async def test_a_beating_member_joins_and_raises_the_view_by_one(
    three: tuple[Storage, Storage, Storage],
) -> None:
    first, second, third = three
    numbers = [(await each.members.beat(Says(sources=index))).number for index, each in enumerate(three)]
    assert numbers == [1, 2, 3]
    view = await first.members.view()
    assert view.inside() == tuple(sorted(each.members.me for each in three))
    assert [view.member(each.members.me).says.sources for each in three] == [0, 1, 2]  # type: ignore[union-attr]
    assert len({member.timeline for member in view.members}) == 1
    assert abs(view.at - wall()) < 60
    assert first.members.me != second.members.me != third.members.me


async def test_a_late_member_is_removed_and_joins_again(url: str, three: tuple[Storage, Storage, Storage]) -> None:
    await all_inside(url, *three)
    first, second, late = three
    for _ in range(2):
        passes(url, 2)
        for storage in (first, second):
            await storage.members.beat(SAYS)
    passes(url, 2)  # the late lease has expired; the others have beaten for a whole one
    view = await first.members.beat(SAYS)
    assert view.inside() == tuple(sorted((first.members.me, second.members.me)))
    gone = view.member(late.members.me)
    assert gone is not None and not gone.left
    assert (await second.members.beat(SAYS)).number == view.number, "the second one finds nothing to do"
    assert late.members.me in (await late.members.beat(SAYS)).inside()


async def test_after_an_outage_no_member_is_removed(url: str, three: tuple[Storage, Storage, Storage]) -> None:
    inside = await all_inside(url, *three)
    passes(url, 60)
    first, second, third = three
    number = (await first.members.view()).number
    for _ in range(3):  # the most that the first one back can do within a lease
        assert (await first.members.beat(SAYS)).inside() == inside
    await second.members.beat(SAYS)
    view = await third.members.beat(SAYS)
    assert (view.inside(), view.number) == (inside, number)


async def test_an_outage_shorter_than_a_lease_removes_no_member(
    url: str, three: tuple[Storage, Storage, Storage]
) -> None:
    first, second, third = three
    inside = await all_inside(url, *three)
    for _ in range(3):
        passes(url, 2)
        await all_inside(url, *three)
    with psycopg.connect(url, autocommit=True) as other:  # one had beaten earlier than the others
        other.execute("UPDATE member SET until=until-1 WHERE id=%s", (third.members.me,))
    passes(url, LEASE - 0.5)
    for storage in (first, second, third):
        assert (await storage.members.beat(SAYS)).inside() == inside


async def test_a_leaving_member_is_out_at_once_and_does_not_rejoin(
    url: str, three: tuple[Storage, Storage, Storage]
) -> None:
    await all_inside(url, *three)
    first, leaving, _ = three
    before = (await first.members.view()).number
    await leaving.members.leave()
    view = await first.members.view()
    gone = view.member(leaving.members.me)
    assert leaving.members.me not in view.inside() and view.number == before + 1
    assert gone is not None and gone.left and gone.until == LEFT
    await leaving.members.beat(SAYS)
    # A beat that was under way, from a member that did not know yet that it had left.
    late = PostgresMembers(leaving._beats, leaving.members.me, lambda: Seq(0), lambda: None)  # type: ignore[attr-defined]
    await late.beat(SAYS)
    assert (await first.members.beat(SAYS)).inside() == view.inside()


async def test_many_members_that_beat_at_once_agree(url: str, three: tuple[Storage, Storage, Storage]) -> None:
    async def beat(storage: Storage) -> None:
        for _ in range(10):
            await storage.members.beat(SAYS)

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            for storage in three:
                nursery.start_soon(beat, storage)
    view = await three[0].members.view()
    assert len(view.inside()) == 3
    assert view.number <= 3, "the number rises with a change only"


async def test_the_rows_of_long_ago_go(url: str, three: tuple[Storage, Storage, Storage]) -> None:
    first, second, third = three
    await all_inside(url, first, second)
    await second.members.leave()
    passes(url, KEPT + 1)
    await first.members.beat(SAYS)
    view = await third.members.beat(SAYS)
    assert [member.id for member in view.members] == sorted((first.members.me, third.members.me))


async def test_a_start_that_owns_the_data_alone_fences_off_those_that_share_them(
    url: str, three: tuple[Storage, Storage, Storage]
) -> None:
    for number, each in enumerate(three):
        await each.keys.add(an_api_key(f"k{number}"))
    alone = await opened(url, "alone", shares=False)
    with pytest.raises(Fenced):
        await three[2].keys.add(an_api_key("late"))
    await alone.keys.add(an_api_key("alone"))
    again = await opened(url, "again")
    with pytest.raises(Fenced):
        await alone.keys.add(an_api_key("too late"))
    await again.keys.add(an_api_key("again"))
    await alone.aclose()
    await again.aclose()


async def test_a_drain_is_in_the_view_of_all_until_it_is_ended(
    url: str, three: tuple[Storage, Storage, Storage]
) -> None:
    first, second, third = three
    await all_inside(url, first, second)
    assert not (await first.members.view()).drained
    await second.members.drain(on=True)
    assert (await first.members.beat(SAYS)).drained and (await third.members.beat(SAYS)).drained
    await first.members.drain(on=True)
    await third.members.drain(on=False)
    assert not (await first.members.beat(SAYS)).drained


async def test_nodes_with_skewed_clocks_use_the_time_of_the_database(
    url: str, three: tuple[Storage, Storage, Storage]
) -> None:
    first, second, _ = three
    clocks = [SharedClock(lambda off=off: wall() + off, monotonic) for off in (-40.0, 3.5)]
    for storage, clock in zip((first, second), clocks, strict=True):
        pool, me = storage._beats, storage.members.me  # type: ignore[attr-defined]
        view = await PostgresMembers(pool, me, lambda: Seq(0), lambda: None, clock=clock).beat(SAYS)
        assert abs(clock() - view.at) < 30
    assert abs(clocks[0]() - clocks[1]()) < 30, "their own differ by more"
