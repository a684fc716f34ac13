"""The simulation's engine: crashes between the two phases of a commit, and a disk that fills on demand."""

from __future__ import annotations

import random

import pytest
import trio

from storage.errors import Corrupt, DiskFull, Fenced, Unavailable
from storage.records.event import EVERYTHING, Filter
from storage.records.identity import START
from tests.storage.contract.builders import (
    CountingMint,
    a_harvest,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    an_api_key,
    stamp,
)
from tests.support.in_loop import Disk, InLoopStorage


async def a_life(disk: Disk, **ports: object) -> InLoopStorage:
    storage = InLoopStorage(disk, disk.start("life"), **ports)  # type: ignore[arg-type]
    if await storage.sources.get(a_source_id(1)) is None:
        await storage.sources.add(a_source(), a_state(), storage.lease)
    return storage


async def append(storage: InLoopStorage, *titles: str, mint: CountingMint | None = None) -> None:
    harvest = a_harvest(1, *titles, base=titles[-1].encode(), events=len(titles))
    await storage.log.append([harvest], storage.lease, mint or CountingMint(), stamp)


async def slow_disk() -> None:
    await trio.sleep(1)


async def test_a_commit_is_seen_when_it_is_durable_and_not_before(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    points: list[str] = []
    storage = await a_life(disk, sync=slow_disk, reach=points.append)
    points.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(append, storage, "a", "b")
        await trio.sleep(0.5)
        assert points == ["append/before sync"]
        assert not (await storage.log.read(START, 500, EVERYTHING)).events
        found = await storage.sources.get(a_source_id(1))
        assert found is not None
        assert found.base == b""
    assert points == ["append/before sync", "append/after sync"]
    assert len((await storage.log.read(START, 500, EVERYTHING)).events) == 2


async def test_a_crash_before_the_sync_takes_the_commit_whole(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk, sync=slow_disk)
    async with trio.open_nursery() as nursery:

        async def late() -> None:
            with pytest.raises(Fenced):
                await append(storage, "a", "b")

        nursery.start_soon(late)
        await trio.sleep(0.5)
        assert "pending=True" in repr(disk)
        disk.crash()
    again = await a_life(disk)
    assert await again.log.count() == 0
    found = await again.sources.get(a_source_id(1))
    assert found is not None
    assert (found.base, found.hot.events) == (b"", 0)


async def test_a_crash_may_leave_a_whole_commit_unannounced(autojump_clock: trio.testing.MockClock) -> None:
    """An unacknowledged write may survive a crash: both outcomes must occur."""
    outcomes = set()
    for seed in range(8):
        disk = Disk()
        storage = await a_life(disk, sync=slow_disk)

        async def late(storage: InLoopStorage = storage) -> None:
            with pytest.raises(Fenced):
                await append(storage, "a", "b")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await trio.sleep(0.5)
            disk.crash(random.Random(seed))
        again = await a_life(disk)
        found = await again.sources.get(a_source_id(1))
        assert found is not None
        outcomes.add((await again.log.count(), found.hot.events, found.base))
    assert outcomes == {(0, 0, b""), (2, 2, b"b")}


async def test_a_dead_process_writes_nothing_more(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    dead = await a_life(disk)
    disk.crash()
    alive = await a_life(disk)
    for write in (
        append(dead, "late"),
        dead.keys.add(an_api_key()),
        dead.alerts.put(an_alert()),
        dead.outbox.release(dead.lease),
        dead.outbox.release(alive.lease),  # a stolen lease does not revive it
    ):
        with pytest.raises(Fenced):
            await write
    assert await alive.log.count() == 0
    assert list(await alive.keys.all()) == []
    await append(alive, "on")
    assert await alive.log.count() == 1


async def test_a_cancelled_commit_that_has_begun_still_happens(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk, sync=slow_disk)
    with trio.move_on_after(0.5) as scope:
        await append(storage, "a")
    assert scope.cancelled_caught
    assert await storage.log.count() == 1
    assert disk.pending is None


async def test_a_sync_that_fails_leaves_nothing_pending(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk)

    async def broken() -> None:
        raise Unavailable("the disk does not answer")

    other = InLoopStorage(disk, storage.lease, sync=broken)
    with pytest.raises(Unavailable):
        await append(other, "a")
    assert disk.pending is None
    assert await storage.log.count() == 0


async def test_a_full_disk_refuses_every_write_until_there_is_room(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk)
    await append(storage, "a")
    disk.full = True
    with pytest.raises(DiskFull):
        await append(storage, "b")
    with pytest.raises(DiskFull):
        await storage.log.retain((await storage.log.bounds()).newest, 1, storage.lease)
    assert await storage.log.count() == 1
    disk.full = False
    await append(storage, "b", mint=CountingMint())
    assert await storage.log.count() == 2


async def test_a_disk_that_fills_up_during_the_sync_leaves_nothing(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk, sync=slow_disk)

    async def fill() -> None:
        await trio.sleep(0.5)
        disk.full = True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fill)
        with pytest.raises(DiskFull):
            await append(storage, "a")
    disk.full = False
    assert (await storage.log.count(), disk.pending) == (0, None)


async def test_commits_happen_in_the_order_of_arrival(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk, sync=slow_disk)
    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(append, storage, str(number))
            await trio.sleep(0.01)
    events = (await storage.log.read(START, 500, EVERYTHING)).events
    assert [event.body.count(b'"title":"%d"' % number) for number, event in enumerate(events)] == [1] * 5


async def test_the_writer_that_hangs_in_a_sync_is_seen_not_to_move(autojump_clock: trio.testing.MockClock) -> None:
    disk = Disk()
    storage = await a_life(disk)
    hanging = InLoopStorage(disk, storage.lease, sync=trio.sleep_forever)
    async with trio.open_nursery() as nursery:
        await trio.sleep(10)
        assert hanging.writer_moved_at() == trio.current_time()
        nursery.start_soon(append, hanging, "a")
        await trio.sleep(10)
        assert hanging.writer_moved_at() == pytest.approx(trio.current_time() - 10)
        nursery.cancel_scope.cancel()


async def test_a_closed_engine_refuses_writes(autojump_clock: trio.testing.MockClock) -> None:
    storage = await a_life(Disk())
    await storage.aclose()
    await storage.aclose()
    with pytest.raises(Unavailable, match="closed"):
        await append(storage, "a")


async def test_a_filtered_read_of_a_damaged_body_says_that_it_is_damaged_instead_of_leaving_it_out() -> None:
    disk = Disk()
    storage = await a_life(disk)
    await append(storage, "a", "b")
    disk.connection.execute("UPDATE log SET body=X'7B2274616773223A5B22FF225D7D' WHERE seq=(SELECT max(seq) FROM log)")
    with pytest.raises(Corrupt, match="body of event"):
        await storage.log.read(START, 10, Filter(tags=("topic:none",)))
