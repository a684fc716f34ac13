"""Stops children at every step of their lives, with every unpleasant kind of cleanup."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
import trio

from supervision import Backoff, Child, ChildSpec, DynamicSupervisor, State


class Messy(Exception):
    pass


async def plain(child: Child) -> None:
    await trio.lowlevel.checkpoint()
    await trio.sleep(1)
    raise Messy("crashed by itself")


async def raising_finally(child: Child) -> None:
    try:
        await trio.lowlevel.checkpoint()
        await trio.sleep(1)
    finally:
        raise Messy("finally")


async def raising_in_a_nursery(child: Child) -> None:
    async def inner(delay: float) -> None:
        try:
            await trio.sleep(delay)
        finally:
            raise Messy("nursery")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(inner, 1)
        nursery.start_soon(inner, 2)
        await trio.sleep(1.5)


async def slow_shielded_cleanup(child: Child) -> None:
    try:
        await trio.sleep(1)
    finally:
        with trio.move_on_after(2, shield=True):
            await trio.sleep(0.5)
            await trio.lowlevel.checkpoint()
            raise Messy("shielded")


async def polite_then_raising(child: Child) -> None:
    with trio.move_on_after(1):
        await child.stopping.wait()
        await trio.sleep(0.2)
    raise Messy("polite")


async def swallowing(child: Child) -> None:
    try:
        await trio.sleep(1)
    except BaseException as cancelled:
        raise Messy("instead of Cancelled") from cancelled


async def never_ready(child: Child) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(raising_finally, child)
        await trio.sleep_forever()


BODIES = [
    plain,
    raising_finally,
    raising_in_a_nursery,
    slow_shielded_cleanup,
    polite_then_raising,
    swallowing,
    never_ready,
]


class StopAtStep(trio.abc.Instrument):
    """Asks the child to end before its n-th step, including steps of the tasks inside it."""

    def __init__(self, many: DynamicSupervisor, step: int, shutdown: float) -> None:
        self.many = many
        self.left = step
        self.shutdown = shutdown

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if "test_stop_anywhere" not in task.name and task.name != "many/messy":
            return
        self.left -= 1
        child = self.many.find("many/messy")
        if self.left == 0 and child is not None:
            child.request_stop(self.shutdown)


async def stopped_at(step: int, body: Callable[[Child], Awaitable[None]], shutdown: float) -> tuple[bool, Child]:
    """Return whether the step was reached, and how the child ended; assert that the other child is unharmed."""
    many = DynamicSupervisor("many", chance=random.Random(step))
    bystander = trio.Event()

    async def innocent(child: Child) -> None:
        await bystander.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await trio.testing.wait_all_tasks_blocked()
        many.start_child(ChildSpec("innocent", innocent))
        ready = 3.0 if body is never_ready else None
        many.start_child(ChildSpec("messy", body, backoff=Backoff(0.5, 0.5), ready_within=ready, shutdown=shutdown))
        instrument = StopAtStep(many, step, shutdown)
        trio.lowlevel.add_instrument(instrument)
        messy = many.child("messy")
        assert messy is not None
        with trio.move_on_after(8):
            await messy.wait_task_ended()
        trio.lowlevel.remove_instrument(instrument)
        reached = instrument.left <= 0
        if many.has("messy"):
            assert not reached, "asked to end, and still alive"
            await many.stop_child("messy")
        innocent_status = many.status("innocent")
        assert (innocent_status.state, innocent_status.restarts) == (State.RUNNING, 0)
        assert [task.name for task in many._nursery.child_tasks] == ["many/innocent"]
        many.stop()
    return reached, messy


@pytest.mark.parametrize("shutdown", [0.0, 0.1])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
async def test_p12_a_child_can_be_stopped_at_every_step_with_any_exception_in_cleanup(
    body: Callable[[Child], Awaitable[None]], shutdown: float, autojump_clock: trio.testing.MockClock
) -> None:
    messages = set()
    for step in range(1, 60):
        reached, end = await stopped_at(step, body, shutdown)
        assert end.stop_requested
        if end.crash is not None:
            messages.add(f"{end.crash.kind}: {end.crash.message}")
        if not reached:
            break
    assert step > 3
    assert any("Messy" in message for message in messages), messages


async def test_s3_an_error_raised_while_being_cancelled_is_on_record_and_harms_no_sibling(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("messy", raising_in_a_nursery))
    many.start_child(ChildSpec("other", plain))
    await trio.sleep(0.5)
    end = many.child("messy")
    assert end is not None
    await many.stop_child("messy")
    assert end.crash is not None
    assert end.crash.kind == "ExceptionGroup"
    assert end.crash.message.endswith("Messy: nursery; Messy: nursery")
    assert many.status("other").state is State.RUNNING


async def test_s3_the_group_that_passes_except_exception_is_caught_outside_the_scope(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Trio alone shows the fact behind P12: this is why there are two clauses."""
    passed_the_inner_clause = False
    outside: Exception | None = None
    try:
        with trio.move_on_after(1):
            try:
                async with trio.open_nursery() as nursery:

                    async def cleanup() -> None:
                        try:
                            await trio.sleep_forever()
                        finally:
                            raise ValueError

                    nursery.start_soon(cleanup)
                    await trio.sleep_forever()
            except Exception:
                raise AssertionError("the group holds a Cancelled, so it is no Exception") from None
            except BaseException:
                passed_the_inner_clause = True
                raise
    except Exception as error:
        outside = error
    assert passed_the_inner_clause
    assert isinstance(outside, ExceptionGroup)
