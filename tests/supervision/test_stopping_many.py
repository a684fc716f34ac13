"""How many children end: together, one by one, and the reports of their ends."""

from __future__ import annotations

import random
import time

import pytest
import trio
import trio.lowlevel
from trio.testing import wait_all_tasks_blocked

from supervision import (
    AlreadyStarted,
    Child,
    ChildSpec,
    DynamicSupervisor,
    NoSuchChild,
    State,
    Stopping,
)
from tests.supervision.batches import batch_sizes, ended


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


async def test_s10_children_stop_together_within_the_shared_budget(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(50):
        many.start_child(ChildSpec(f"deaf{number}", deaf, shutdown=1000))
        many.start_child(ChildSpec(f"polite{number}", polite))
    await trio.sleep(1)
    began = trio.current_time()
    both = [child for name in ("polite7", "deaf7") if (child := many.child(name)) is not None]
    many.stop()
    for child in both:
        await child.wait_task_ended()
    assert [round(child.since - began, 6) for child in both] == [0.0, 3.0]
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
    await ended(many, "4999")
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
    await ended(many, "a")
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
    end = await ended(many, "a")
    assert end.since - began == pytest.approx(5)


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


async def test_s15_a_stop_never_makes_more_than_a_thousand_tasks_runnable(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(5_000):
        many.start_child(ChildSpec(str(number), deaf if number % 2 else idle))
    await trio.sleep(1)
    with batch_sizes() as batches:
        many.stop()
        await ended(many, "1")
        await trio.sleep(1)
    assert len(many) == 0
    assert 200 < max(batches) <= 1000


async def test_a_child_may_ask_for_its_own_end(many: DynamicSupervisor, autojump_clock: trio.testing.MockClock) -> None:
    async def run(child: Child) -> None:
        await many.stop_child("a")

    many.start_child(ChildSpec("a", run))
    end = await ended(many, "a")
    assert end.stop_requested
    assert end.crash is None


async def test_s10_a_stop_over_its_budget_stops_every_child(nursery: trio.Nursery) -> None:
    """On a machine so slow that the budget ends before every child was asked."""
    now = 0.0

    class Slow(trio.abc.Clock):
        def start_clock(self) -> None:
            pass

        def current_time(self) -> float:
            nonlocal now
            now += 0.01
            return now

        def deadline_to_sleep_time(self, deadline: float) -> float:
            return 0

    async def main() -> None:
        many = DynamicSupervisor("many", chance=random.Random(1), stop_budget=0.1)
        async with trio.open_nursery() as inner:
            inner.start_soon(many.run)
            await many.wait_running()
            for number in range(3_000):
                many.start_child(ChildSpec(str(number), deaf if number % 2 else idle))
            await trio.lowlevel.checkpoint()
            many.stop()
        assert len(many) == 0

    await trio.to_thread.run_sync(lambda: trio.run(main, clock=Slow()))


async def test_a_stop_is_over_as_soon_as_the_last_child_is(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    async def slow(child: Child) -> None:
        await child.stopping.wait()
        await trio.sleep(1)

    many = DynamicSupervisor("many", chance=chance, stop_budget=1000)
    with trio.CancelScope() as ended:
        async with trio.open_nursery() as inner:
            inner.start_soon(many.run)
            await wait_all_tasks_blocked()
            for number in range(3):
                many.start_child(ChildSpec(f"slow{number}", slow, shutdown=1000))
            await trio.sleep(1)
            began = trio.current_time()
            many.stop()
    assert not ended.cancelled_caught
    assert trio.current_time() - began == 1.0
