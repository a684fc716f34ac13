"""Facts of Trio that the runtime relies on, and the rules that follow; tests/rules has the rules for source code."""

from __future__ import annotations

import random

import pytest
import trio

from supervision import Child, ChildSpec, DynamicSupervisor, Escalate, Mailbox, Supervisor
from tests.support.waiting import HANG


class Boom(Exception):
    pass


async def test_p2_a_message_taken_and_cancelled_in_work_is_lost(autojump_clock: trio.testing.MockClock) -> None:
    """So mailboxes carry wake-ups and commands; data moves by a cursor that advances after the work."""
    box: Mailbox[int] = Mailbox("box", 5)
    for number in range(3):
        box.send_nowait(number)
    done: list[int] = []
    with trio.move_on_after(15):
        while True:
            number = await box.receive()
            await trio.sleep(10)
            done.append(number)
    assert done == [0]
    assert box.receive_nowait() == 2, "1 is gone"


async def test_p2_with_a_cursor_the_same_crash_loses_nothing_and_repeats_at_most_the_last(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    log = list(range(10))
    wake: Mailbox[None] = Mailbox("wake", 1)
    done: list[int] = []
    cursor = 0

    async def consume(child: Child) -> None:
        nonlocal cursor
        while True:
            while cursor < len(log):
                item = log[cursor]
                await trio.sleep(1)
                if item == 4 and child.restarts == 0:
                    raise Boom
                done.append(item)
                cursor += 1
            await wake.receive()

    many.start_child(ChildSpec("consumer", consume, mailbox=wake))
    await trio.sleep(60)
    assert done == log


async def test_p5_an_exception_that_leaves_a_task_cancels_its_siblings_and_comes_in_a_group() -> None:
    ended: list[str] = []

    async def victim() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("victim")

    async def fail() -> None:
        raise Boom

    with pytest.raises(ExceptionGroup):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(victim)
            nursery.start_soon(fail)
    assert ended == ["victim"]


async def test_p5_a_supervisor_does_neither_and_raises_one_plain_exception(
    many: DynamicSupervisor, chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    async def idle(child: Child) -> None:
        await trio.sleep_forever()

    async def fail(child: Child) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_inside)

    async def fail_inside() -> None:
        raise Boom("inside")

    many.start_child(ChildSpec("idle", idle))
    many.start_child(ChildSpec("fail", fail))
    await trio.sleep(100)
    assert many.status("idle").restarts == 0
    tree = Supervisor("root", [ChildSpec("fail", fail)], chance=chance)
    with pytest.raises(Escalate, match=r"last: ExceptionGroup: .*Boom: inside"):
        await tree.run()


async def test_p6_an_await_in_the_finally_of_a_cancelled_child_needs_a_shield_with_a_deadline(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    done: list[str] = []

    async def careless(child: Child) -> None:
        try:
            await trio.sleep_forever()
        finally:
            await trio.lowlevel.checkpoint()
            done.append("careless")

    async def careful(child: Child) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(2, shield=True):
                await trio.sleep(1)
                done.append("careful")
                await trio.sleep_forever()

    many.start_child(ChildSpec("careless", careless))
    many.start_child(ChildSpec("careful", careful))
    await trio.sleep(1)
    began = trio.current_time()
    await many.stop_child("careless")
    await many.stop_child("careful")
    assert done == ["careful"]
    assert trio.current_time() - began == 2, "and the deadline bounds it"


async def test_p7_two_producers_that_share_one_send_end_close_it_for_each_other() -> None:
    """Trio's own channel, for comparison; `test_mailbox.py` shows that a borrower cannot close a Mailbox."""
    send, receive = trio.open_memory_channel[int](2)
    with send:
        send.send_nowait(1)
    with pytest.raises(trio.ClosedResourceError):
        send.send_nowait(2)
    receive.close()


async def test_p8_the_sender_of_a_plain_channel_breaks_when_its_receiver_dies() -> None:
    send, receive = trio.open_memory_channel[int](2)
    receive.close()
    with pytest.raises(trio.BrokenResourceError):
        send.send_nowait(1)
    send.close()


@pytest.mark.real
async def test_p10_thread_work_that_was_given_up_keeps_its_slot() -> None:
    """So every kind of thread work has its own limiter, and one kind cannot starve another."""
    import threading

    release = threading.Event()
    shared = trio.CapacityLimiter(1)
    own = trio.CapacityLimiter(1)
    with trio.move_on_after(0.05):
        await trio.to_thread.run_sync(release.wait, abandon_on_cancel=True, limiter=shared)
    with trio.move_on_after(0.05) as starved:
        await trio.to_thread.run_sync(lambda: None, limiter=shared)
    assert starved.cancelled_caught
    with trio.fail_after(HANG):
        await trio.to_thread.run_sync(lambda: None, limiter=own)
    release.set()


async def test_p13_async_with_on_a_send_channel_replaces_a_real_error_by_cancelled() -> None:
    outcomes: dict[str, str] = {}
    for kind in ("async with", "with"):
        send, receive = trio.open_memory_channel[int](1)
        outcomes[kind] = "lost"
        try:
            with trio.CancelScope() as scope:
                if kind == "with":
                    with send:
                        scope.cancel()
                        raise Boom
                else:
                    async with send:
                        scope.cancel()
                        raise Boom
        except Boom:
            outcomes[kind] = "seen"
        receive.close()
    assert outcomes == {"async with": "lost", "with": "seen"}
