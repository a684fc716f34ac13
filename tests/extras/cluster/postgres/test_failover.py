"""PostgreSQL fails over, with and without the last commits: the report, and that no position is used twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import psycopg
import pytest
import trio

from extras.cluster.members.view_change import LEASE
from storage.errors import Unavailable
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.records.member import Says
from storage.sql.storage import Storage
from tests.extras.cluster.postgres.engine.test_members import all_inside, opened, passes, stop_clock
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_state, stamp
from tests.storage.contract.test_contract_following import following
from tests.support.postgres import Pair, a_pair
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
SAYS = Says()
DATABASE = "events"


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = a_pair()
    made.primary.run(f"CREATE DATABASE {DATABASE} TEMPLATE template0 STRATEGY wal_log")
    yield made
    made.end()


@pytest.fixture
async def two(pair: Pair) -> AsyncIterator[tuple[Storage, Storage]]:
    first, second = await opened(pair.url(DATABASE), "a"), await opened(pair.url(DATABASE), "b")
    stop_clock(pair.url(DATABASE))
    yield first, second
    await first.aclose()
    await second.aclose()


async def write(storage: Storage, mint: CountingMint, number: int, *titles: str) -> Sequence[Seq]:
    """Append events of a source in its stored state, one commit each; return their positions."""
    seqs = []
    for title in titles:
        harvest = a_harvest(number, title)
        (answer,) = await storage.log.append([harvest], storage.lease, mint, stamp)
        assert isinstance(answer, Sequence)
        seqs += [event.seq for event in answer]
    return seqs


async def kept(storage: Storage) -> Sequence[Seq]:
    return [event.seq for event in (await storage.log.read(START, 500, EVERYTHING)).events]


async def again(storage: Storage) -> None:
    """Beat until the server answers."""
    with trio.fail_after(HANG):
        while True:
            try:
                await storage.members.beat(SAYS)
            except Unavailable:
                await trio.sleep(0.05)
            else:
                return


async def test_after_a_failover_that_lost_commits_no_position_repeats_and_each_node_knows_the_loss(
    pair: Pair, two: tuple[Storage, Storage]
) -> None:
    first, second = two
    await all_inside(pair.url(DATABASE), first, second)
    await first.sources.add(a_source(1), a_state(1), first.lease)
    mint = CountingMint()
    async with following(first), following(second):
        before = await write(first, mint, 1, "replicated")
        await caught_up(pair)
        pair.standby.stop("fast")
        lost = await write(first, mint, 1, "lost 1", "lost 2")
        await first.tail.wait_past(Seq(lost[-1] - 1))
        with trio.fail_after(HANG):
            await second.tail.wait_past(Seq(lost[-1] - 1))
        pair.fail_over()
        await again(first)
        assert first.members.failover is not None and first.members.failover.lost
        assert first.members.failover == (before[-1], lost[-1])
        assert first.tail.since(before[-1]) is None  # readers no longer get the lost events
        # The other node has not reported its readers' position yet, so nothing is written.
        slow = CountingMint()
        with pytest.raises(Unavailable, match="1 of the nodes"):
            await write(first, slow, 1, "too early")
        await again(second)
        assert second.members.failover == (before[-1], lost[-1])
        anew = await write(first, slow, 1, "found again")  # a mint without memory of earlier positions
    assert anew[0] > lost[-1]
    assert await kept(second) == [*before, *anew]


async def test_a_member_that_never_says_how_far_it_was_holds_the_log_for_a_lease_only(
    pair: Pair, two: tuple[Storage, Storage]
) -> None:
    first, second = two
    await all_inside(pair.url(DATABASE), first, second)
    await first.sources.add(a_source(1), a_state(1), first.lease)
    await caught_up(pair)
    pair.standby.stop("fast")
    pair.fail_over()
    await again(first)
    with pytest.raises(Unavailable):
        await write(first, CountingMint(), 1, "too early")
    passes(pair.url(DATABASE), LEASE + 1)
    await first.members.beat(SAYS)  # its lease has expired too: it must beat for a whole one before it removes others
    with pytest.raises(Unavailable):
        await write(first, CountingMint(), 1, "still too early")
    with psycopg.connect(pair.url(DATABASE), autocommit=True) as other:
        other.execute("UPDATE member SET since=since-%s WHERE id=%s", (LEASE + 1, first.members.me))
    assert (await first.members.beat(SAYS)).inside() == (first.members.me,)
    assert len(await write(first, CountingMint(), 1, "on")) == 1
    assert first.members.failover is not None and not first.members.failover.lost


async def test_a_failover_to_a_standby_that_commits_wait_for_loses_nothing(
    pair: Pair, two: tuple[Storage, Storage]
) -> None:
    first, second = two
    await all_inside(pair.url(DATABASE), first, second)
    pair.wait_for_standby()
    await first.sources.add(a_source(1), a_state(1), first.lease)
    mint = CountingMint()
    written = await write(first, mint, 1, *(f"event {number}" for number in range(20)))
    pair.fail_over()
    pair.standby.follow(pair.primary)  # without a standby, no commit would end
    for storage in two:
        await again(storage)
        assert storage.members.failover is not None and not storage.members.failover.lost
    assert await kept(second) == written


async def test_the_way_back_to_a_primary_that_was_left_behind_is_refused(
    pair: Pair, two: tuple[Storage, Storage]
) -> None:
    first, second = two
    await all_inside(pair.url(DATABASE), first, second)
    await first.sources.add(a_source(1), a_state(1), first.lease)
    await caught_up(pair)
    pair.fail_over()
    await again(first)
    pair.primary.stop()
    pair.standby.start()  # the old primary is not fenced off: the address leads to it again
    with pytest.raises(Unavailable, match="left behind by a failover"), trio.fail_after(HANG):
        while True:
            try:
                await write(first, CountingMint(), 1, "nowhere")
            except Unavailable as error:
                if "left behind" in str(error):
                    raise
                await trio.sleep(0.05)


async def test_a_start_that_owns_the_data_alone_waits_for_no_member_of_before(pair: Pair) -> None:
    both = [await opened(pair.url(DATABASE), name) for name in ("a", "b")]
    await all_inside(pair.url(DATABASE), *both)
    for storage in both:
        await storage.aclose()
    await caught_up(pair)
    pair.fail_over()
    alone = await opened(pair.url(DATABASE), "c", shares=False)
    try:
        await alone.sources.add(a_source(1), a_state(1), alone.lease)
        assert len(await write(alone, CountingMint(), 1, "on")) == 1
    finally:
        await alone.aclose()


async def caught_up(pair: Pair) -> None:
    """Wait until the standby has all commits."""
    query = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn=pg_current_wal_lsn()"
    with trio.fail_after(HANG), psycopg.connect(pair.primary.url(), autocommit=True) as other:
        while (other.execute(query).fetchone() or (0,))[0] != 1:  # noqa: ASYNC110 - it is another process
            await trio.sleep(0.02)
