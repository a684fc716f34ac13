"""A mailbox read with a deadline: sleepers share one timer task."""

from __future__ import annotations

import gc
import random

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervision import Mailbox
from supervision.sleeper import LEAST, Sleeper


async def test_a_read_ends_at_its_deadline_whatever_the_order_of_the_starts(autojump_clock: MockClock) -> None:
    begin, ends = trio.current_time(), {}
    after = random.Random(7).sample(range(1, 400), 200)

    async def read(seconds: int) -> None:
        assert await Mailbox[int]("box", 1).receive_by(begin + seconds) is None
        ends[seconds] = trio.current_time() - begin

    async with trio.open_nursery() as nursery:
        for seconds in after:
            nursery.start_soon(read, seconds)
    assert ends == {seconds: seconds for seconds in after}


@pytest.mark.parametrize("used", [False, True], ids=["never used", "used before"])
async def test_a_read_with_a_deadline_takes_what_comes_first(used: bool, autojump_clock: MockClock) -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    if used:
        box.send_nowait("before")
        assert await box.receive_by(trio.current_time() + 1) == "before"
    begin = trio.current_time()
    assert await box.receive_by(begin + 5) is None
    assert trio.current_time() == begin + 5
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.send, "x")
        assert await box.receive_by(trio.current_time() + 5) == "x"
    assert trio.current_time() == begin + 5
    assert await box.receive_by(begin) is None, "a deadline in the past"


async def test_a_message_in_the_tick_of_a_cancellation_or_deadline_is_taken(autojump_clock: MockClock) -> None:
    for late in (False, True):
        box: Mailbox[str] = Mailbox("box", 1)
        got: list[str | None] = []
        deadline, scope = trio.current_time() + 1, trio.CancelScope()

        async def read(box: Mailbox[str], got: list[str | None], deadline: float, scope: trio.CancelScope) -> None:
            with scope:
                got.append(await box.receive_by(deadline))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read, box, got, deadline, scope)
            await wait_all_tasks_blocked()
            if late:
                await trio.sleep_until(deadline)
            box.send_nowait("x")
            scope.cancel()
        assert got == ["x"] or (late and got == [None] and box.receive_nowait() == "x")


async def test_a_cancelled_read_takes_nothing_and_two_readers_share_the_messages(autojump_clock: MockClock) -> None:
    box: Mailbox[str] = Mailbox("box", 2)
    with trio.move_on_after(1) as scope:
        await box.receive_by(trio.current_time() + 5)
    assert scope.cancelled_caught
    got: list[str | None] = []

    async def read() -> None:
        got.append(await box.receive_by(trio.current_time() + 5))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        box.send_nowait("x")
        box.send_nowait("y")
        await wait_all_tasks_blocked()
        assert sorted(got, key=str) == ["x", "y"]


async def test_sleepers_that_were_cancelled_are_forgotten_long_before_their_time(autojump_clock: MockClock) -> None:
    for _ in range(4 * LEAST):
        with trio.CancelScope() as scope:
            scope.cancel()
            await Sleeper().sleep_until(trio.current_time() + 1e6)
    gc.collect()
    assert sum(isinstance(each, Sleeper) for each in gc.get_objects()) <= LEAST
