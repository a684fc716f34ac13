from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.records.event import Stored
from storage.records.identity import START, Seq, SourceId
from storage.tail import BUCKET, Tail


def stored(seq: int, size: int = 10) -> Stored:
    return Stored(Seq(seq), SourceId("s"), 1, b"x" * size)


def seqs(recent: Sequence[object] | None) -> list[int] | None:
    return None if recent is None else [each.stored.seq for each in recent]  # type: ignore[attr-defined]


async def test_a_reader_that_keeps_up_reads_from_memory() -> None:
    tail = Tail(Seq(10))
    await tail.publish([stored(11), stored(12)])
    await tail.publish([stored(15)])
    assert seqs(tail.since(Seq(10))) == [11, 12, 15]
    assert seqs(tail.since(Seq(12))) == [15]
    assert seqs(tail.since(Seq(13))) == [15]
    assert tail.since(Seq(15)) == ()
    assert tail.since(Seq(99)) == ()


async def test_a_reader_from_before_the_start_must_ask_the_log() -> None:
    tail = Tail(Seq(10))
    await tail.publish([stored(11)])
    assert tail.since(Seq(9)) is None
    assert tail.since(START) is None
    assert seqs(tail.since(Seq(10))) == [11]


async def test_the_ring_is_bounded_by_events() -> None:
    tail = Tail(most=64)
    for seq in range(1, 1_000):
        await tail.publish([stored(seq)])
        assert tail.statistics().held <= 64 + 64 // 8
    assert tail.since(Seq(1)) is None
    assert seqs(tail.since(Seq(990))) == list(range(991, 1_000))


async def test_the_ring_is_bounded_by_bytes_and_keeps_a_newest_event_of_any_size() -> None:
    tail = Tail(most_bytes=1_000)
    for seq in range(1, 100):
        await tail.publish([stored(seq, size=90)])
        assert tail.statistics().held_bytes <= 1_000 + 1_000 // 8 + 90
    await tail.publish([stored(100, size=5_000)])
    assert seqs(tail.since(Seq(99))) == [100]
    assert tail.statistics().held == 1


@pytest.mark.parametrize("wrong", [(10,), (12, 11)])
async def test_publishing_out_of_order_is_a_bug(wrong: tuple[int, ...]) -> None:
    tail = Tail(Seq(10))
    with pytest.raises(AssertionError, match="out of order"):
        await tail.publish([stored(seq) for seq in wrong])
    assert tail.head == 10


async def test_publishing_nothing_wakes_no_waiter() -> None:
    tail = Tail(Seq(1))
    with trio.move_on_after(0) as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tail.wait_past, Seq(1))
            await tail.publish([])
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert tail.statistics().waiting == 0


async def test_a_waiter_is_woken_only_by_newer_events(autojump_clock: trio.testing.MockClock) -> None:
    tail = Tail(Seq(10))
    woken: list[tuple[int, int]] = []

    async def wait(after: int) -> None:
        woken.append((after, await tail.wait_past(Seq(after))))

    async with trio.open_nursery() as nursery:
        for after in (5, 10, 20):
            nursery.start_soon(wait, after)
        await trio.sleep(1)
        assert woken == [(5, 10)]
        await tail.publish([stored(15)])
        await trio.sleep(1)
        assert woken == [(5, 10), (10, 15)]
        await tail.publish([stored(25)])
    assert woken[-1] == (20, 25)
    assert tail.statistics().waiting == 0


async def test_waiters_are_woken_a_bucket_at_a_time(autojump_clock: trio.testing.MockClock) -> None:
    """Ten thousand streams must not block the loop in one piece."""
    tail = Tail(Seq(1))
    awake = 0
    seen = [0]

    async def wait() -> None:
        nonlocal awake
        await tail.wait_past(Seq(1))
        awake += 1

    async def watch() -> None:
        while awake < 10 * BUCKET:
            seen.append(awake)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(10 * BUCKET):
            nursery.start_soon(wait)
        await trio.sleep(1)
        assert tail.statistics().waiting == 10 * BUCKET
        nursery.start_soon(watch)
        await tail.publish([stored(2)])
    # The watcher runs once a turn, at a random place: it may see two buckets at once.
    assert max(later - earlier for earlier, later in zip(seen, [*seen[1:], awake], strict=True)) <= 2 * BUCKET


async def test_a_cancelled_publisher_still_wakes_every_waiter(autojump_clock: trio.testing.MockClock) -> None:
    tail = Tail(Seq(1))
    woken: list[int] = []

    async def wait() -> None:
        woken.append(await tail.wait_past(Seq(1)))

    async with trio.open_nursery() as nursery:
        for _ in range(5 * BUCKET):
            nursery.start_soon(wait)
        await trio.sleep(1)
        with trio.CancelScope() as scope:
            scope.cancel()
            await tail.publish([stored(2)])
        assert scope.cancelled_caught
        assert seqs(tail.since(Seq(1))) == [2]
    assert woken == [2] * 5 * BUCKET


async def test_a_cancelled_waiter_is_forgotten(autojump_clock: trio.testing.MockClock) -> None:
    tail = Tail(Seq(1))
    with trio.move_on_after(1):
        await tail.wait_past(Seq(1))
    assert tail.statistics().waiting == 0
    await tail.publish([stored(2)])
    assert await tail.wait_past(Seq(1)) == 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(200, 2_000))
def test_racing_readers_have_no_gap_and_no_duplicate(seed: int, most: int, most_bytes: int) -> None:
    """Each reader joins at a random place, is sometimes slow, and reads the log when the ring is too short."""
    chance = random.Random(seed)
    log: list[Stored] = [stored(seq) for seq in range(1, 20)]
    tail = Tail(Seq(19), most=most, most_bytes=most_bytes)
    end = Seq(300)

    async def publish() -> None:
        seq = 19
        while seq < end:
            batch = [stored(seq + n, chance.randrange(1, 200)) for n in range(1, chance.randrange(2, 9))]
            log.extend(batch)
            await tail.publish(batch)
            seq = batch[-1].seq
            for _ in range(chance.randrange(4)):
                await trio.lowlevel.checkpoint()

    async def read(after: int) -> None:
        got: list[int] = []
        at = Seq(after)
        while at < end:
            recent = tail.since(at)
            if recent is None:
                page = [event.seq for event in log if event.seq > at][: chance.randrange(1, 30)]
                await trio.lowlevel.checkpoint()
            else:
                page = [each.stored.seq for each in recent]
            got += page
            at = Seq(page[-1] if page else at)
            for _ in range(chance.randrange(6)):
                await trio.lowlevel.checkpoint()
            await tail.wait_past(at) if at < end else None
        assert got == list(range(after + 1, log[-1].seq + 1))[: len(got)]
        assert got[-1] >= end

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(read, chance.randrange(20))
            nursery.start_soon(publish)

    trio.run(main)
