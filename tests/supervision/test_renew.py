"""Renewal on request uses no restart budget and restarts the children that depend on the renewed one."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.lowlevel

from supervision import (
    Child,
    ChildSpec,
    DynamicSupervisor,
    NoSuchChild,
    State,
    StateChange,
    Stopping,
    Strategy,
    Supervisor,
)
from supervision.policy import Backoff


def lives(log: list[str], name: str, *, polite: bool = False) -> Callable[[Child], Awaitable[None]]:
    async def run(child: Child) -> None:
        log.append(f"+{name}")
        child.ready()
        try:
            if polite:
                await child.stopping.wait()
                log.append(f"bye {name}")
            else:
                await trio.sleep_forever()
        finally:
            log.append(f"-{name}")

    return run


@pytest.mark.parametrize("polite", [False, True])
async def test_a_renewed_child_restarts_at_once(polite: bool, many: DynamicSupervisor, autojump_clock: object) -> None:
    log: list[str] = []
    many.start_child(ChildSpec("a", lives(log, "a", polite=polite)))
    await trio.sleep(1)
    child = many.child("a")
    assert child is not None
    for _ in range(20):  # far more than the budget
        child.restart()
        await trio.sleep(0.1)
    assert log.count("+a") == 21 and log.count("-a") == 20 and log.count("bye a") == 20 * polite
    assert (child.state, child.restarts, child.crash) == (State.RUNNING, 20, None)


async def test_a_child_that_does_not_heed_a_polite_renewal_is_cancelled(
    many: DynamicSupervisor, autojump_clock: object
) -> None:
    lived: list[float] = []

    async def run(child: Child) -> None:
        assert not child.stopping.is_set()
        lived.append(trio.current_time())
        await trio.sleep_forever()

    many.start_child(ChildSpec("a", run, shutdown=3))
    await trio.sleep(1)
    child = many.child("a")
    assert child is not None
    child.restart()
    await trio.sleep(10)
    assert [at - lived[0] for at in lived] == [0, 4]
    assert child.crash is None


async def test_a_quarantine_ends_when_it_is_released_and_says_until_when_it_lasts(
    many: DynamicSupervisor, autojump_clock: object
) -> None:
    well = False

    async def run(child: Child) -> None:
        if not well:
            raise ValueError("no")
        await trio.sleep_forever()

    many.start_child(ChildSpec("a", run))
    await trio.sleep(300)
    child = many.child("a")
    assert child is not None and child.state is State.QUARANTINED and child.resumes_at is not None
    assert 1200 < child.resumes_at - trio.current_time() < 2000
    well = True
    child.restart()
    await trio.lowlevel.checkpoint()
    await trio.testing.wait_all_tasks_blocked()
    assert (child.state, child.resumes_at) == (State.RUNNING, None)


async def test_a_crash_while_a_renewed_child_ends_is_a_crash(many: DynamicSupervisor, autojump_clock: object) -> None:
    async def run(child: Child) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("in the cleaning up")

    many.start_child(ChildSpec("a", run, backoff=Backoff(1, 1)))
    await trio.sleep(1)
    child = many.child("a")
    assert child is not None
    child.restart()
    await trio.sleep(0.1)
    assert (child.state, str(child.crash)) == (State.BACKOFF, "ValueError: in the cleaning up")


async def test_a_child_that_is_stopped_is_not_renewed(many: DynamicSupervisor, autojump_clock: object) -> None:
    log: list[str] = []
    many.start_child(ChildSpec("a", lives(log, "a")))
    await trio.sleep(1)
    child = many.child("a")
    assert child is not None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.stop_child, "a")
        await trio.lowlevel.checkpoint()
        child.restart()
    child.restart()
    assert log == ["+a", "-a"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.REST_FOR_ONE, ["-c", "-b", "+b", "+c"]),
        (Strategy.ONE_FOR_ONE, ["-b", "+b"]),
    ],
)
async def test_a_requested_restart_restarts_dependants_and_uses_no_budget(
    strategy: Strategy, expected: list[str], chance: random.Random, autojump_clock: object
) -> None:
    log: list[str] = []
    seen: list[StateChange] = []
    tree = Supervisor(
        "root",
        [ChildSpec(name, lives(log, name), ready_within=1) for name in "abc"],
        strategy=strategy,
        intensity=1,
        chance=chance,
        on_change=seen.append,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        for _ in range(5):
            log.clear()
            tree.restart_child("b")
            await trio.sleep(1)
            assert log == expected
        assert tree.status("b").restarts == 5
        assert State.BACKOFF not in [change.new for change in seen]
        with pytest.raises(NoSuchChild):
            tree.restart_child("x")
        tree.stop()
        with pytest.raises(Stopping):
            tree.restart_child("b")


async def test_two_requested_restarts_at_a_childs_end_both_happen(
    chance: random.Random, autojump_clock: object
) -> None:
    """The order of the two tasks is random, so the test repeats them."""
    log: list[str] = []
    specs = [ChildSpec(name, lives(log, name), ready_within=1) for name in "ab"]
    tree = Supervisor("root", specs, strategy=Strategy.REST_FOR_ONE, chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        for _ in range(30):
            log.clear()
            child = tree.find("root/b")
            assert child is not None
            tree.restart_child("b")
            await child.wait_task_ended()
            tree.restart_child("a")
            await trio.sleep(1)
            assert log == ["-b", "-a", "+a", "+b"]
        tree.stop()
