from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
import trio

from supervision import (
    Alarm,
    AlreadyStarted,
    Backoff,
    Change,
    Child,
    ChildSpec,
    DynamicSupervisor,
    InvalidSpec,
    NoSuchChild,
    Restart,
    State,
    Stopping,
    Supervisor,
)


class Boom(Exception):
    pass


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def bad(child: Child) -> None:
    raise Boom("bad")


async def polite(child: Child) -> None:
    await child.stopping.wait()


async def deaf(child: Child) -> None:
    assert not child.stopping.is_set()
    await trio.sleep_forever()


@contextmanager
def widest_batch() -> Iterator[list[int]]:
    """Collect how many tasks were runnable at each turn of the loop."""
    batches: list[int] = []

    class Counting(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            batches.append(trio.lowlevel.current_statistics().tasks_runnable)

    instrument = Counting()
    trio.lowlevel.add_instrument(instrument)
    yield batches
    trio.lowlevel.remove_instrument(instrument)


async def test_s6_the_sixth_crash_in_ten_minutes_quarantines_that_child_alone(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("bad", bad))
    for name in "abc":
        many.start_child(ChildSpec(name, idle))
    await trio.sleep(300)
    status = many.status("bad")
    assert (status.state, status.restarts) == (State.QUARANTINED, 6)
    assert [many.status(name).restarts for name in "abc"] == [0, 0, 0]
    assert many.statistics().quarantined == 1


async def test_s6_quarantine_is_tried_every_30_minutes_give_or_take_a_tenth(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    lives: list[float] = []

    async def run(child: Child) -> None:
        lives.append(trio.current_time())
        raise Boom

    many = DynamicSupervisor("many", chance=random.Random(1))
    nursery.start_soon(many.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("bad", run))
    await trio.sleep(20 * 3600)
    gaps = [after - before for before, after in pairwise(lives[5:])]
    assert 36 <= len(gaps) <= 44
    assert all(1620 <= gap <= 1980 for gap in gaps)
    assert max(gaps) - min(gaps) > 60
    many.stop()


async def test_s6_a_child_that_stays_alive_after_quarantine_has_its_full_budget_again(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    lives = 0
    seventh = trio.Event()

    async def run(child: Child) -> None:
        nonlocal lives
        lives += 1
        if lives == 7:
            seventh.set()
        await trio.sleep(200 if lives == 7 else 0)
        raise Boom

    many.start_child(ChildSpec("bad", run))
    await seventh.wait()
    assert many.status("bad").state is State.RUNNING
    await trio.sleep(300)
    assert many.status("bad").state is State.QUARANTINED
    assert lives == 12, "five restarts more, and the sixth crash after the life of 200 s"


async def test_s7_the_alarm_is_raised_once_at_30_percent_of_at_least_20(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    alarms: list[Alarm] = []
    many = DynamicSupervisor("many", chance=random.Random(1), alarm=alarms.append)
    nursery.start_soon(many.run)
    await trio.sleep(1)
    for number in range(14):
        many.start_child(ChildSpec(f"good{number}", idle))
    for number in range(5):
        many.start_child(ChildSpec(f"bad{number}", bad))
    await trio.sleep(300)
    assert alarms == [], "nineteen are too few"
    many.start_child(ChildSpec("bad", bad))
    await trio.sleep(7200)
    assert len(alarms) == 1
    assert (alarms[0].troubled, alarms[0].total) == (6, 20)
    assert str(alarms[0]) == "many: 6 of 20 children are in trouble"
    assert many.statistics().alarm
    assert many.status("good0").restarts == 0, "and nobody is restarted for it"
    many.stop()


async def test_s10_children_stop_together_within_the_shared_budget(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(50):
        many.start_child(ChildSpec(f"deaf{number}", deaf, shutdown=1000))
        many.start_child(ChildSpec(f"polite{number}", polite))
    await trio.sleep(1)
    began = trio.current_time()
    many.stop()
    ends = [await many.watch(name) for name in ("polite7", "deaf7")]
    assert [round(end.at - began, 6) for end in ends] == [0.0, 3.0]
    assert len(many) == 0


@pytest.mark.real
async def test_s10_thousands_stop_in_real_time_within_the_budget(nursery: trio.Nursery) -> None:
    many = DynamicSupervisor("many", chance=random.Random(1))
    nursery.start_soon(many.run)
    await trio.testing.wait_all_tasks_blocked()
    for number in range(5_000):
        many.start_child(ChildSpec(str(number), polite if number % 2 else idle))
    await trio.testing.wait_all_tasks_blocked()
    began = time.perf_counter()
    many.stop()
    await many.watch("4999")
    assert time.perf_counter() - began < 3


async def test_s12_stop_child_returns_only_when_the_task_is_gone(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    steps: list[str] = []

    async def run(child: Child) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(2, shield=True):
                await trio.sleep(1)
            steps.append("cleaned up")

    many.start_child(ChildSpec("a", run))
    await trio.sleep(1)
    task = next(iter(many._nursery.child_tasks))
    assert task.name == "many/a"
    async with trio.open_nursery() as stoppers:
        for _ in range(2):
            stoppers.start_soon(many.stop_child, "a")
        await trio.sleep(0.5)
        with pytest.raises(AlreadyStarted):
            many.start_child(ChildSpec("a", idle))
    assert steps == ["cleaned up"]
    assert task not in many._nursery.child_tasks
    assert not many.has("a")


async def test_s12_starting_a_living_id_fails_and_so_does_starting_while_stopping(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("a", deaf))
    with pytest.raises(AlreadyStarted, match="many/a is alive"):
        many.start_child(ChildSpec("a", idle))
    await trio.sleep(1)
    many.stop()
    with pytest.raises(Stopping, match="many is stopping"):
        many.start_child(ChildSpec("b", idle))
    await many.watch("a")
    with pytest.raises(Stopping):
        many.start_child(ChildSpec("b", idle))
    with pytest.raises(NoSuchChild, match="no such child: b"):
        await many.stop_child("b")


async def test_s12_a_stopper_that_gives_up_waiting_still_has_stopped_the_child(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("a", deaf, shutdown=5))
    await trio.sleep(1)
    began = trio.current_time()
    with trio.move_on_after(1):
        await many.stop_child("a")
    assert many.has("a")
    end = await many.watch("a")
    assert end.at - began == pytest.approx(5)


@pytest.mark.parametrize("where", ["not yet run", "backoff", "quarantine"])
async def test_s12_a_child_that_is_not_running_stops_at_once(
    where: str, many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    seen = []

    async def run(child: Child) -> None:
        seen.append(child.stopping)
        raise Boom

    many.start_child(ChildSpec("a", run))
    if where != "not yet run":
        await trio.sleep(0.1 if where == "backoff" else 1000)
        assert many.status("a").state == (State.BACKOFF if where == "backoff" else State.QUARANTINED)
    began = trio.current_time()
    await many.stop_child("a")
    assert trio.current_time() == began
    assert bool(seen) == (where != "not yet run")


async def test_s14_watch_delivers_exactly_one_end_also_after_it(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    ends = []

    async def watch() -> None:
        ends.append(await many.watch("a"))

    many.start_child(ChildSpec("a", bad, restart=Restart.TEMPORARY))
    async with trio.open_nursery() as watchers:
        watchers.start_soon(watch)
        watchers.start_soon(watch)
    assert len(ends) == 2
    await watch()
    assert ends[0] is ends[1] is ends[2]
    assert (ends[0].path, ends[0].stopped, str(ends[0].crash)) == ("many/a", False, "Boom: bad")
    with pytest.raises(NoSuchChild):
        await many.watch("never")


async def test_s14_the_end_of_a_former_child_is_not_taken_for_that_of_its_successor(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("a", bad, restart=Restart.TEMPORARY))
    await many.watch("a")
    many.start_child(ChildSpec("a", idle))
    with trio.move_on_after(10) as scope:
        await many.watch("a")
    assert scope.cancelled_caught


async def test_s15_a_stop_never_makes_more_than_a_thousand_tasks_runnable(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(5_000):
        many.start_child(ChildSpec(str(number), deaf if number % 2 else idle))
    await trio.sleep(1)
    with widest_batch() as batches:
        many.stop()
        await many.watch("1")
        await trio.sleep(1)
    assert len(many) == 0
    assert 200 < max(batches) <= 1000


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
    """Python's own objects only; the bench measures the resident memory of 100,000."""
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
    # A block is 10 to 512 bytes. One traceback kept per crash would be tens of thousands of them.
    assert sys.getallocatedblocks() - before < 2_000
    crash = many.status("a").crash
    assert crash is not None
    assert (crash.kind, len(crash.message)) == ("Boom", 300)
    assert crash.frames == (crash.frames[0],)
    assert crash.frames[0].endswith(" in run")
    many.stop()


async def test_a_restarted_dynamic_supervisor_starts_with_no_children(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    many = DynamicSupervisor("many", chance=random.Random(1))
    for _ in range(2):
        async with trio.open_nursery() as inner:
            inner.start_soon(many.run)
            await trio.sleep(1)
            assert len(many) == 0
            many.start_child(ChildSpec("a", idle))
            await trio.sleep(1)
            assert repr(many) == "<DynamicSupervisor many running, 1 children>"
            inner.cancel_scope.cancel()
        assert len(many) == 0


async def test_a_dynamic_supervisor_is_a_child_with_the_path_of_one(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    changes: list[Change] = []
    many = DynamicSupervisor("ignored", chance=chance)
    tree = Supervisor("root", [ChildSpec("all", many.run, ready_within=1)], chance=chance, on_change=changes.append)
    nursery.start_soon(tree.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("x", idle))
    await trio.sleep(1)
    assert tree.status("all/x").path == "root/all/x"
    assert tree.status("root/all/x").state is State.RUNNING
    assert tree.snapshot().counts == {State.RUNNING: 2}
    assert "root/all/x" in {change.path for change in changes}
    with pytest.raises(NoSuchChild):
        tree.status("root/all/y")
    with pytest.raises(NoSuchChild):
        tree.status("root/all/x/deeper")
    tree.stop()


async def test_counts_are_right_after_every_kind_of_end(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(30):
        run = (idle, bad, polite)[number % 3]
        many.start_child(ChildSpec(str(number), run, restart=list(Restart)[number % 2]))
    await trio.sleep(20)
    for number in range(0, 30, 4):
        await many.stop_child(str(number))
    counted = Counter(row.state for row in many.snapshot())
    figures = many.statistics()
    assert figures.running == counted[State.RUNNING]
    assert figures.backoff == counted[State.BACKOFF]
    assert figures.quarantined == counted[State.QUARANTINED]
    assert figures.total == len(many) == 22


async def test_ends_are_remembered_for_a_while_only(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    async def brief(child: Child) -> None:
        pass

    for number in range(1_001):
        many.start_child(ChildSpec(str(number), brief, restart=Restart.TEMPORARY))
    await trio.sleep(1)
    assert len(many._ends) == 1_000


async def test_stop_and_quarantine_of_nonsense_are_refused(chance: random.Random) -> None:
    with pytest.raises(InvalidSpec, match="stop_budget"):
        DynamicSupervisor("d", chance=chance, stop_budget=float("inf"))
    with pytest.raises(InvalidSpec, match="quarantine"):
        DynamicSupervisor("d", chance=chance, quarantine=0)
    with pytest.raises(InvalidSpec, match="limit"):
        DynamicSupervisor("d", chance=chance, budget=(-1, 10))


async def test_a_child_may_ask_for_its_own_end(many: DynamicSupervisor, autojump_clock: trio.testing.MockClock) -> None:
    async def run(child: Child) -> None:
        await many.stop_child("a")

    many.start_child(ChildSpec("a", run))
    end = await many.watch("a")
    assert end.stopped
    assert end.crash is None


def test_importing_the_room_brings_in_trio_and_nothing_of_ours() -> None:
    ours = {"actors", "storage", "api", "sanderling", "msgspec", "httpx"}
    code = f"import supervision, sys; assert not {ours!r} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
