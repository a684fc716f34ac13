"""A seed fixes the order of simultaneous tasks, and each seed explores another one."""

from __future__ import annotations

from contextvars import ContextVar

import pytest
import trio
import trio._core._run as trio_run

from tests.simulation import scheduling
from tests.simulation.scheduling import HookMoved, Stuck, run


async def simultaneous() -> list[int]:
    """Sixty tasks that wake at the same instant, three times: a schedule decides ties."""
    order: list[int] = []

    async def task(number: int) -> None:
        for _ in range(3):
            await trio.sleep_until(10.0 * (1 + len(order) // 60))
            order.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(60):
            nursery.start_soon(task, number)
    return order


def test_the_same_seed_gives_the_same_order_of_simultaneous_wake_ups() -> None:
    assert run("a", simultaneous, ends=100) == run("a", simultaneous, ends=100)


def test_another_seed_gives_another_order() -> None:
    assert run("a", simultaneous, ends=100) != run("b", simultaneous, ends=100)


def test_without_the_hook_the_order_is_left_to_chance() -> None:
    """Otherwise the tests above would prove nothing."""

    async def once() -> list[int]:
        return await simultaneous()

    orders = {tuple(trio.run(once, clock=trio.testing.MockClock(autojump_threshold=0))) for _ in range(8)}
    assert len(orders) > 1


def test_a_deadlock_ends_with_the_world() -> None:
    with pytest.raises(Stuck, match="not over after 50"):
        run("a", trio.sleep_forever, ends=50)


def test_a_task_that_spins_ends_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "_MOST_READINGS", 1000)

    async def spin() -> None:
        await trio.sleep(7)
        while True:
            await trio.lowlevel.checkpoint()

    with pytest.raises(Stuck, match=r"stands still at 7\.000"):
        run("a", spin, ends=50)


@pytest.mark.parametrize("name", ["_r", "_ALLOW_DETERMINISTIC_SCHEDULING"])
def test_a_release_of_trio_without_the_hook_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delattr(trio_run, name)
    with pytest.raises(HookMoved, match=name):
        run("a", trio.sleep_forever, ends=1)


def test_the_callers_context_variables_are_not_visible() -> None:
    left = ContextVar("left", default="nothing")

    async def look() -> str:
        return left.get()

    token = left.set("by an earlier test")
    try:
        assert run("a", look, ends=1) == "nothing"
    finally:
        left.reset(token)


def test_trio_is_left_as_it_was() -> None:
    before = trio_run._r.getstate(), trio_run._ALLOW_DETERMINISTIC_SCHEDULING
    run("a", simultaneous, ends=100)
    assert (trio_run._r.getstate(), trio_run._ALLOW_DETERMINISTIC_SCHEDULING) == before
