from __future__ import annotations

import random

import pytest
import trio

from supervision import (
    Child,
    ChildSpec,
    DynamicSupervisor,
    Mailbox,
    NoSuchChild,
    State,
    StepFigures,
    Supervisor,
)


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def bad(child: Child) -> None:
    raise ValueError("bad")


async def test_s19_a_wedged_child_is_visible_without_its_answer(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    class Steps:
        def of(self, path: str) -> StepFigures | None:
            return StepFigures(12.0, 0.3) if path == "many/wedged" else None

    box: Mailbox[str] = Mailbox("box", 3)

    async def wedged(child: Child) -> None:
        if child.restarts == 0:
            raise ValueError("first")
        child.note("writes the letter")
        await never()

    async def never() -> None:
        with trio.CancelScope():
            await trio.Event().wait()

    many = DynamicSupervisor("many", chance=random.Random(1), steps=Steps())
    nursery.start_soon(many.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("wedged", wedged, mailbox=box))
    many.start_child(ChildSpec("fine", idle))
    await trio.sleep(10)
    box.send_nowait("a")
    box.send_nowait("b")
    status = many.status("wedged")
    assert (status.state, status.restarts, str(status.crash)) == (State.RUNNING, 1, "ValueError: first")
    assert 1 < status.since < 11
    assert status.note == "writes the letter"
    assert status.awaiting.endswith("in never")
    assert status.mailbox is not None
    assert (status.mailbox.depth, status.mailbox.bound) == (2, 3)
    assert status.steps == StepFigures(idle=12.0, slowest=0.3)
    assert many.status("fine").steps is None
    many.stop()


async def test_s19_status_of_a_child_between_restarts_and_after_its_end(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    tree = Supervisor(
        "root",
        [ChildSpec("bad", bad)],
        chance=chance,
    )
    nursery.start_soon(tree.run)
    await trio.sleep(0.1)
    assert tree.status("bad").state is State.BACKOFF
    tree.stop()
    await trio.sleep(0.1)
    gone = tree.status("root/bad")
    assert (gone.state, gone.awaiting, gone.steps, gone.mailbox) == (State.ENDED, "", None, None)
    with pytest.raises(NoSuchChild, match="no such child: nobody"):
        tree.status("nobody")
    assert repr(tree.find("root/bad")).startswith("<Child root/bad ended since ")
