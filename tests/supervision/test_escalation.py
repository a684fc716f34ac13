"""Escalation through supervisors, and the point where one gives up."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
import trio

from supervision import (
    Backoff,
    Child,
    ChildSpec,
    Escalate,
    NoSuchChild,
    State,
    StateChange,
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


async def deaf(child: Child) -> None:
    assert not child.stopping.is_set()
    await trio.sleep_forever()


async def crash_after_a_second(child: Child) -> None:
    await trio.sleep(1)
    raise Boom("again")


async def test_s3_keyboard_interrupt_and_system_exit_pass_the_supervisor(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    for error in (KeyboardInterrupt, SystemExit):
        log: list[str] = []

        async def run(child: Child, error: type[BaseException] = error) -> None:
            await trio.sleep(1)
            raise error

        specs = [ChildSpec("a", recorder(log, "a")), ChildSpec("b", run), ChildSpec("c", recorder(log, "c"))]
        with pytest.raises(BaseExceptionGroup) as caught:
            await Supervisor("root", specs, chance=chance).run()
        assert caught.group_contains(error)
        assert log == ["+a", "+c", "-c", "-a"], "the siblings are stopped in order even then"


async def test_s4_too_many_restarts_stop_all_in_order_and_raise_one_plain_escalation(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    log: list[str] = []
    specs = [
        ChildSpec("a", recorder(log, "a")),
        ChildSpec("bad", crash_after_a_second),
        ChildSpec("c", recorder(log, "c")),
    ]
    with pytest.raises(Escalate) as caught:
        await Supervisor("root", specs, chance=chance).run()
    assert (caught.value.path, caught.value.child) == ("root", "bad")
    assert caught.value.reason == "needs more than 3 restarts in 30 s; last: Boom: again"
    assert log == ["+a", "+c", "-c", "-a"]
    assert caught.value.__context__ is None


async def test_s4_restarts_far_apart_never_escalate(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    async def run(child: Child) -> None:
        await trio.sleep(11)
        raise Boom

    tree = Supervisor("root", [ChildSpec("a", run)], intensity=3, period=30, chance=chance)
    with trio.move_on_after(10_000):
        await tree.run()
    with pytest.raises(NoSuchChild):
        tree.status("b")
    assert tree.status("a").restarts > 100


async def test_s4_two_levels_make_at_most_16_restarts(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    restarts = 0

    def count(change: StateChange) -> None:
        nonlocal restarts
        restarts += change.new is State.BACKOFF

    async def bad(child: Child) -> None:
        raise Boom

    inner = Supervisor("inner", [ChildSpec("bad", bad)], chance=chance)
    tree = Supervisor("root", [ChildSpec("inner", inner.run)], period=60, chance=chance, on_change=count)
    with pytest.raises(Escalate) as caught:
        await tree.run()
    assert restarts <= 16
    assert "last: Escalate: root/inner/bad: needs more than 3 restarts" in caught.value.reason


async def test_s5_a_root_that_gives_up_is_gone_within_its_budgets(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    """Inside the runtime; `tests/sanderling/test_serve.py` checks the exit code of a process."""
    specs = [
        ChildSpec("log", deaf, shutdown=5),
        ChildSpec("bad", crash_after_a_second, backoff=Backoff(0, 0)),
        ChildSpec("web", deaf, shutdown=4),
    ]
    began = trio.current_time()
    with pytest.raises(Escalate, match="root/bad"):
        await Supervisor("root", specs, period=60, chance=chance).run()
    assert trio.current_time() - began == pytest.approx(4 + 4 + 5)


async def test_s4_a_child_that_only_ever_returns_is_given_up_with_these_words(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    async def returns(child: Child) -> None:
        child.ready()
        await trio.sleep(1)

    with pytest.raises(Escalate) as caught:
        await Supervisor("root", [ChildSpec("bad", returns)], chance=chance).run()
    assert caught.value.reason == "needs more than 3 restarts in 30 s; it returned"
