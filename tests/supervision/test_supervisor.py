from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
import trio

from supervision import (
    Child,
    ChildSpec,
    DynamicSupervisor,
    InvalidSpec,
    State,
    StateChange,
    Strategy,
    Supervisor,
)


class Boom(Exception):
    pass


def recorder(log: list[str], name: str, *, lives: float = 1e9) -> Callable[[Child], Awaitable[None]]:
    """A child that logs its start and end; its first life crashes after `lives` seconds."""
    remaining = [lives]

    async def run(child: Child) -> None:
        log.append(f"+{name}")
        try:
            with trio.move_on_after(remaining[0]):
                await trio.sleep_forever()
            remaining[0] = 1e9
            raise Boom(name)
        finally:
            log.append(f"-{name}")

    return run


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def deaf(child: Child) -> None:
    assert not child.stopping.is_set()
    await trio.sleep_forever()


async def crash_after_a_second(child: Child) -> None:
    await trio.sleep(1)
    raise Boom("again")


async def test_s1_a_child_is_one_task_named_by_its_path_and_every_change_is_reported(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    changes: list[StateChange] = []
    names: list[str] = []

    async def once(child: Child) -> None:
        names.append(trio.lowlevel.current_task().name)
        await trio.sleep(1)
        if child.restarts == 0:
            raise Boom("first life")
        await child.stopping.wait()

    inner = Supervisor("ignored", [ChildSpec("a", once)], chance=chance)
    tree = Supervisor("root", [ChildSpec("inner", inner.run)], chance=chance, on_change=changes.append)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(10)
        tree.stop()
    assert names == ["root/inner/a"] * 2
    told = [(c.old, c.new, str(c.crash or "")) for c in changes if c.path == "root/inner/a"]
    assert told == [
        (State.STARTING, State.RUNNING, ""),
        (State.RUNNING, State.BACKOFF, "Boom: first life"),
        (State.BACKOFF, State.RUNNING, "Boom: first life"),
        (State.RUNNING, State.STOPPING, "Boom: first life"),
        (State.STOPPING, State.ENDED, "Boom: first life"),
    ]


@pytest.mark.parametrize("crashes", [False, True])
async def test_s2_restart_after_any_exit(
    crashes: bool, chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    lives = 0

    async def run(child: Child) -> None:
        nonlocal lives
        lives += 1
        if lives == 2:
            await trio.sleep_forever()
        if crashes:
            raise Boom

    tree = Supervisor("root", [ChildSpec("a", run)], chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(5)
        tree.stop()
    assert lives == 2


async def test_s9_static_children_stop_in_reverse_each_within_its_own_budget(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    specs = [ChildSpec("deaf2", deaf, shutdown=2), ChildSpec("deaf3", deaf, shutdown=3)]
    tree = Supervisor("root", specs, chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        began = trio.current_time()
        tree.stop()
    assert 5.0 <= trio.current_time() - began <= 5.05


@pytest.mark.parametrize("how", ["asked", "cancelled"])
async def test_s11_cancelling_from_outside_has_the_order_of_a_requested_stop(
    how: str, chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    log: list[str] = []
    inner = Supervisor("in", [ChildSpec(n, recorder(log, n)) for n in "cd"], chance=chance)
    specs = [
        ChildSpec("a", recorder(log, "a")),
        ChildSpec("b", recorder(log, "b")),
        ChildSpec("inner", inner.run, ready_within=10),
        ChildSpec("e", recorder(log, "e")),
    ]
    tree = Supervisor("root", specs, chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        if how == "asked":
            tree.stop()
        else:
            nursery.cancel_scope.cancel()
    assert log == ["+a", "+b", "+c", "+d", "+e", "-e", "-d", "-c", "-b", "-a"]


async def test_s11_a_second_stop_skips_politeness_but_keeps_the_order(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    log: list[str] = []

    def polite(name: str) -> Callable[[Child], Awaitable[None]]:
        async def run(child: Child) -> None:
            await child.stopping.wait()
            try:
                await trio.sleep_forever()
            finally:
                log.append(name)

        return run

    inner = Supervisor("in", [ChildSpec(n, polite(n), shutdown=60) for n in "bc"], chance=chance)
    many = DynamicSupervisor("many", chance=chance, stop_budget=60)
    specs = [
        ChildSpec("a", polite("a"), shutdown=60),
        ChildSpec("in", inner.run, shutdown=600),
        ChildSpec("many", many.run, shutdown=60),
    ]
    tree = Supervisor("root", specs, chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        many.start_child(ChildSpec("d", polite("d")))
        await trio.sleep(1)
        began = trio.current_time()
        tree.stop()
        await trio.sleep(2)
        tree.stop(now=True)
    assert trio.current_time() - began == pytest.approx(2)
    assert log == ["d", "c", "b", "a"]


async def test_s13_ready_gates_the_next_start(chance: random.Random, autojump_clock: trio.testing.MockClock) -> None:
    log: list[tuple[str, float]] = []

    async def slow(child: Child) -> None:
        await trio.sleep(4)
        child.ready()
        log.append(("slow is ready", trio.current_time()))
        await trio.sleep_forever()

    async def second(child: Child) -> None:
        log.append(("second starts", trio.current_time()))
        await trio.sleep_forever()

    specs = [ChildSpec("slow", slow, ready_within=10), ChildSpec("second", second)]
    began = trio.current_time()
    with trio.move_on_after(60):
        await Supervisor("root", specs, chance=chance).run()
    assert log == [("slow is ready", began + 4), ("second starts", began + 4)]


async def test_s13_a_child_not_ready_in_time_has_crashed(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    tree = Supervisor("root", [ChildSpec("a", idle, ready_within=10), ChildSpec("b", idle)], chance=chance)
    states = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(9)
        states.append(tree.status("a").state)
        await trio.sleep(1.1)
        status = tree.status("a")
        states.append(status.state)
        assert str(status.crash) == "NotReady: not ready within 10 s"
        assert tree.status("b").state is State.STARTING, "it was never started"
        nursery.cancel_scope.cancel()
    assert states == [State.STARTING, State.BACKOFF]


async def test_rest_for_one_restarts_later_children(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    log: list[str] = []
    specs = [
        ChildSpec("a", recorder(log, "a")),
        ChildSpec("b", recorder(log, "b", lives=5)),
        ChildSpec("c", recorder(log, "c")),
        ChildSpec("d", recorder(log, "d")),
    ]
    tree = Supervisor("root", specs, strategy=Strategy.REST_FOR_ONE, chance=chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(60)
        assert tree.status("b").restarts == 1
        assert tree.status("c").restarts == 0
        tree.stop()
    up, crash = ["+a", "+b", "+c", "+d"], ["-b", "-d", "-c", "+b", "+c", "+d"]
    assert log == [*up, *crash, "-d", "-c", "-b", "-a"]


async def test_rest_for_one_crash_of_an_earlier_child_while_a_later_one_is_brought_up(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    log: list[str] = []

    async def never_ready(child: Child) -> None:
        log.append("+c")
        try:
            await trio.sleep_forever()
        finally:
            log.append("-c")

    specs = [
        ChildSpec("a", recorder(log, "a", lives=7)),
        ChildSpec("b", recorder(log, "b", lives=2)),
        ChildSpec("c", never_ready, ready_within=100),
        ChildSpec("d", recorder(log, "d")),
    ]
    tree = Supervisor("root", specs, strategy=Strategy.REST_FOR_ONE, chance=chance)
    with trio.move_on_after(60):
        await tree.run()
    first = ["+a", "+b", "+c"]
    assert log == [*first, "-b", "-c", "+b", "+c", "-a", "-c", "-b", *first, "-c", "-b", "-a"]


async def test_a_crash_while_stopping_does_not_restart_and_is_on_record(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    async def last(child: Child) -> None:
        await child.stopping.wait()
        await trio.sleep(3)

    tree = Supervisor(
        "root",
        [ChildSpec("bad", crash_after_a_second), ChildSpec("last", last)],
        chance=chance,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(0.5)
        tree.stop()
    status = tree.status("bad")
    assert (status.state, status.restarts, str(status.crash)) == (State.ENDED, 0, "Boom: again")


async def test_a_supervisor_can_be_run_again(chance: random.Random, autojump_clock: trio.testing.MockClock) -> None:
    log: list[str] = []
    tree = Supervisor("root", [ChildSpec("a", recorder(log, "a"))], chance=chance)
    for _ in range(2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tree.run)
            await trio.sleep(1)
            with pytest.raises(RuntimeError, match="running already"):
                await tree.run()
            tree.stop()
    tree.stop()
    assert log == ["+a", "-a"] * 2
    assert repr(tree) == "<Supervisor root idle, 0/1 alive>"


async def test_a_listener_that_raises_harms_no_child(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    def broken(change: StateChange) -> None:
        raise Boom("listener")

    tree = Supervisor("root", [ChildSpec("a", idle)], chance=chance, on_change=broken)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        assert tree.status("a").state is State.RUNNING
        assert (tree.listener.failures, str(tree.listener.crash)) == (1, "Boom: listener")
        tree.stop()


def test_children_of_the_same_name_are_refused(chance: random.Random) -> None:
    with pytest.raises(InvalidSpec, match="several children are called a"):
        Supervisor("root", [ChildSpec("a", idle), ChildSpec("a", idle)], chance=chance)
