"""The cost of a child in counts; bench/runtime.py measures times."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc

import pytest
import trio

from supervision import (
    Backoff,
    Child,
    ChildSpec,
    DynamicSupervisor,
    Mailbox,
)


class Boom(Exception):
    pass


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def bad(child: Child) -> None:
    raise Boom("bad")


async def test_s16_a_child_is_exactly_one_task_and_no_nursery(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    for number in range(300):
        many.start_child(ChildSpec(str(number), bad if number % 3 == 0 else idle, ready_within=None))
    for _ in range(3):
        await trio.sleep(1)
        assert trio.lowlevel.current_statistics().tasks_living - before == 300
        tasks = many._nursery.child_tasks
        assert len(tasks) == 300
        assert sum(len(task.child_nurseries) for task in tasks) == 0


async def test_s16_an_idle_child_is_small(many: DynamicSupervisor, autojump_clock: trio.testing.MockClock) -> None:
    """Python objects only; the bench measures the resident memory of 100,000."""
    count = 500
    gc.collect()
    tracemalloc.start()
    for number in range(count):
        many.start_child(ChildSpec(str(number), idle))
    await trio.sleep(1)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / count < 6_000


async def test_s16_a_child_parked_at_its_mailbox_is_small(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    """An empty memory channel would add 2 KB."""
    count = 500
    gc.collect()
    tracemalloc.start()
    for number in range(count):
        box: Mailbox[object] = Mailbox(str(number), 2)

        async def wait(child: Child, box: Mailbox[object] = box) -> None:
            await box.receive()

        many.start_child(ChildSpec(str(number), wait, mailbox=box))
    await trio.sleep(1)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / count < 5_000


@pytest.mark.real
async def test_s17_ten_thousand_crashes_keep_no_traceback(nursery: trio.Nursery) -> None:
    crashes = 0
    warm, enough = trio.Event(), trio.Event()

    async def run(child: Child) -> None:
        nonlocal crashes
        crashes += 1
        if crashes == 100:
            warm.set()
        if crashes == 10_000:
            enough.set()
            await trio.sleep_forever()
        raise Boom(crashes, "x" * 1000)

    many = DynamicSupervisor("many", chance=random.Random(1), budget=(5, 1e-9))
    nursery.start_soon(many.run)
    await trio.testing.wait_all_tasks_blocked()
    many.start_child(ChildSpec("a", run, backoff=Backoff(0, 0)))
    await warm.wait()
    gc.collect()
    before = sys.getallocatedblocks()
    await enough.wait()
    gc.collect()
    # A block is 10 to 512 bytes. One stored traceback per crash would be tens of thousands of them.
    assert sys.getallocatedblocks() - before < 2_000
    crash = many.status("a").crash
    assert crash is not None
    assert (crash.kind, len(crash.message)) == ("Boom", 300)
    assert crash.frames == (crash.frames[0],)
    assert crash.frames[0].endswith(" in run")
    many.stop()
