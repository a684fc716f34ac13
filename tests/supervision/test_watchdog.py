from __future__ import annotations

import random
import time

import pytest
import trio

from supervision import Child, ChildSpec, DynamicSupervisor, Stall, Supervisor, Watchdog


def hold_the_loop(seconds: float) -> None:
    time.sleep(seconds)


@pytest.mark.real
async def test_s20_a_step_that_holds_the_loop_is_reported_in_time_with_path_and_stack() -> None:
    stalls: list[tuple[float, Stall]] = []
    chance = random.Random(1)
    blocked_at = 0.0

    async def wedge(child: Child) -> None:
        nonlocal blocked_at
        child.ready()
        await trio.sleep(0.1)
        blocked_at = time.perf_counter()
        hold_the_loop(2)
        await trio.sleep_forever()

    watchdog = Watchdog(clock=time.perf_counter, report=lambda stall: stalls.append((time.perf_counter(), stall)))
    specs = [ChildSpec("watchdog", watchdog.run, ready_within=1), ChildSpec("wedge", wedge)]
    tree = Supervisor("root", specs, chance=chance, steps=watchdog)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(2.5)
        steps = tree.status("wedge").steps
        assert steps is not None
        assert 1.9 < steps.slowest < 4
        assert steps.idle < 4
        assert tree.snapshot().page(0, 1)[0].path == "root/wedge"
        tree.stop()
    assert len(stalls) == 1, "one stall, one report"
    reported_at, stall = stalls[0]
    assert reported_at - blocked_at < 2.5
    assert stall.path == "root/wedge"
    assert stall.seconds >= 1
    assert any(place.endswith("in hold_the_loop") for place in stall.stack)
    assert str(stall).startswith("root/wedge has held the loop for 1.")


@pytest.mark.real
async def test_a_loop_that_is_merely_busy_is_not_reported() -> None:
    stalls: list[Stall] = []
    with Watchdog(clock=time.perf_counter, report=stalls.append, limit=0.05, interval=0.01):
        until = time.perf_counter() + 0.3
        while time.perf_counter() < until:
            await trio.lowlevel.checkpoint()
    assert stalls == []


async def test_slow_steps_are_remembered_as_long_as_the_task_lives(nursery: trio.Nursery) -> None:
    now = 0.0

    def clock() -> float:
        return now

    async def slow(child: Child) -> None:
        nonlocal now
        now += 0.2
        await trio.lowlevel.checkpoint()
        now += 0.1
        await trio.sleep_forever()

    watchdog = Watchdog(clock=clock, report=print)
    many = DynamicSupervisor("many", chance=random.Random(1), steps=watchdog)
    with watchdog:
        nursery.start_soon(many.run)
        await trio.testing.wait_all_tasks_blocked()
        many.start_child(ChildSpec("slow", slow))
        await trio.testing.wait_all_tasks_blocked()
        assert watchdog.slow() == {"many/slow": pytest.approx(0.2)}
        now += 5
        figures = many.status("slow").steps
        assert figures == (pytest.approx(5.1), pytest.approx(0.2))
        await many.stop_child("slow")
        assert "many/slow" not in watchdog.slow()
        assert watchdog.of("many/slow") is None
        with pytest.raises(RuntimeError, match="on already"), watchdog:
            pass
    many.stop()


def test_a_watchdog_that_looks_too_seldom_is_refused() -> None:
    with pytest.raises(ValueError, match="more often than its limit"):
        Watchdog(clock=time.perf_counter, report=print, limit=1, interval=2)


def test_no_more_than_a_thousand_slow_tasks_are_remembered_and_the_quickest_goes_first() -> None:
    dog = Watchdog(clock=time.perf_counter, report=print)
    for number in range(1_500):
        dog._remember(f"task {number}", float(number))
    assert set(dog._slowest.values()) == {float(number) for number in range(500, 1_500)}
