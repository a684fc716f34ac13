from __future__ import annotations

import trio

from supervision import Latest
from supervision.latest import WAKE_SLICE
from tests.supervision.batches import batch_sizes


async def test_p4_a_slow_reader_misses_values_but_never_the_last(autojump_clock: trio.testing.MockClock) -> None:
    slot = Latest(0)
    seen: list[int] = []

    async def reader() -> None:
        version = 0
        while not seen or seen[-1] < 100:
            version, value = await slot.wait_newer(version)
            seen.append(value)
            await trio.sleep(10)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        for value in range(1, 101):
            await trio.sleep(1)
            slot.set(value)
    assert seen[-1] == 100
    assert len(seen) <= 12


async def test_a_reader_that_is_behind_does_not_wait() -> None:
    slot = Latest("old")
    slot.set("new")
    assert await slot.wait_newer(0) == (1, "new")


async def test_s15_one_change_never_makes_more_than_a_thousand_tasks_runnable() -> None:
    slot = Latest(0)
    woken = 0

    async def waiter() -> None:
        nonlocal woken
        version, _ = await slot.wait_newer(0)
        woken += 1
        with trio.move_on_after(0.01):
            await slot.wait_newer(version)

    async with trio.open_nursery() as nursery:
        for _ in range(3_500):
            nursery.start_soon(waiter)
        await trio.testing.wait_all_tasks_blocked()
        with batch_sizes() as batches:
            slot.set(1)
            while woken < 3_500:
                await trio.lowlevel.checkpoint()
    assert WAKE_SLICE <= max(batches) <= WAKE_SLICE + 1


async def test_waiters_that_leave_or_come_during_a_wave_neither_stop_it_nor_keep_it_going() -> None:
    slot = Latest(0)
    woken = 0

    async def waiter(scope: trio.CancelScope) -> None:
        nonlocal woken
        with scope:
            version, _ = await slot.wait_newer(0)
            woken += 1
            await slot.wait_newer(version)

    async with trio.open_nursery() as nursery:
        scopes = [trio.CancelScope() for _ in range(2_500)]
        for scope in scopes:
            nursery.start_soon(waiter, scope)
        await trio.testing.wait_all_tasks_blocked()
        slot.set(1)
        for scope in scopes[::2]:
            scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert woken >= 1_250, "all that stayed"
        assert repr(slot) == "<Latest version 1, 1250 waiting>"
        nursery.cancel_scope.cancel()


async def test_a_second_change_during_a_wave_still_reaches_everyone() -> None:
    slot = Latest(0)
    last: list[int] = []

    async def waiter() -> None:
        version = 0
        while version < 2:
            version, value = await slot.wait_newer(version)
        last.append(value)

    async with trio.open_nursery() as nursery:
        for _ in range(2_500):
            nursery.start_soon(waiter)
        await trio.testing.wait_all_tasks_blocked()
        slot.set(1)
        await trio.lowlevel.checkpoint()
        slot.set(2)
    assert last == [2] * 2_500
