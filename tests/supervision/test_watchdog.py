from __future__ import annotations

import random
import threading
import time

import pytest
import trio

from supervision import Child, ChildSpec, DynamicSupervisor, Stall, Supervisor, Watchdog
from tests.support.waiting import HANG


class Held:
    """A clock, and a step that blocks the loop until the stall is reported."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stalls: list[Stall] = []
        self._reported = threading.Event()

    def clock(self) -> float:
        return self.now

    def report(self, stall: Stall) -> None:
        self.stalls.append(stall)
        self._reported.set()

    def hold_the_loop(self) -> None:
        self.now += 1.5
        assert self._reported.wait(HANG)
        self.now += 0.5
        time.sleep(0.05)  # time for a second report


@pytest.mark.real
async def test_s20_a_step_that_holds_the_loop_is_reported_in_time_with_path_and_stack() -> None:
    held, over = Held(), trio.Event()

    async def wedge(child: Child) -> None:
        child.ready()
        await trio.lowlevel.checkpoint()
        held.hold_the_loop()
        over.set()
        await trio.sleep_forever()

    watchdog = Watchdog(clock=held.clock, report=held.report, interval=0.005)
    specs = [ChildSpec("watchdog", watchdog.run, ready_within=1), ChildSpec("wedge", wedge)]
    tree = Supervisor("root", specs, chance=random.Random(1), steps=watchdog)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await over.wait()
        assert tree.status("wedge").steps == (2.0, 2.0)
        tree.stop()
    assert len(held.stalls) == 1, "one stall, one report"
    (stall,) = held.stalls
    assert (stall.path, stall.seconds) == ("root/wedge", 1.5)
    assert any(place.endswith("in hold_the_loop") for place in stall.stack)
    assert str(stall).startswith("root/wedge has held the loop for 1.5 s")


@pytest.mark.real
async def test_a_loop_that_is_merely_busy_is_not_reported() -> None:
    now, checked = 0.0, threading.Event()

    def clock() -> float:
        if threading.current_thread() is not threading.main_thread():
            checked.set()
        return now

    stalls: list[Stall] = []
    with Watchdog(clock=clock, report=stalls.append, limit=0.05, interval=0.001):
        for _ in range(20):
            await trio.lowlevel.checkpoint()
            now += 0.02
            checked.clear()
            assert checked.wait(HANG), "the watchdog has not checked this step"
    assert stalls == []


async def test_slow_steps_are_remembered_until_the_task_ends(nursery: trio.Nursery) -> None:
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
        now += 5
        figures = many.status("slow").steps
        assert figures == (pytest.approx(5.1), pytest.approx(0.2))
        await many.stop_child("slow")
        assert "many/slow" not in watchdog._slowest
        assert watchdog.of("many/slow") is None
        with pytest.raises(RuntimeError, match="on already"), watchdog:
            pass
    many.stop()


def test_a_watchdog_with_too_long_an_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="more often than its limit"):
        Watchdog(clock=time.perf_counter, report=print, limit=1, interval=2)


def test_no_more_than_a_thousand_slow_tasks_are_remembered_and_the_quickest_goes_first() -> None:
    dog = Watchdog(clock=time.perf_counter, report=print)
    for number in range(1_500):
        dog._record_slow(f"task {number}", float(number))
    assert set(dog._slowest.values()) == {float(number) for number in range(500, 1_500)}
