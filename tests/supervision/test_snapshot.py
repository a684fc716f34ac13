from __future__ import annotations

import json
import random
from types import SimpleNamespace

import pytest
import trio

from supervision import (
    Child,
    ChildSpec,
    DynamicSupervisor,
    Mailbox,
    NoSuchChild,
    Restart,
    Snapshot,
    State,
    StepFigures,
    Supervisor,
)
from supervision.snapshot import SLICE, Picture


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def bad(child: Child) -> None:
    raise ValueError("bad")


def record(path: str, state: State = State.RUNNING, *, restarts: int = 0, attention: bool = False) -> SimpleNamespace:
    return SimpleNamespace(
        path=path, state=state, since=0.0, restarts=restarts, crash=None, attention=attention, remark=""
    )


def picture(*slices: list[SimpleNamespace], slow: dict[str, float] | None = None) -> Snapshot:
    made = Picture()
    for part in slices:
        made.add(part)
    return made.finish(0.0, slow or {})


def test_s21_the_worst_come_first() -> None:
    rows = [
        record("fine"),
        record("ended", State.ENDED),
        record("slow"),
        record("starting", State.STARTING),
        record("slower"),
        record("attention", attention=True),
        record("backoff", State.BACKOFF),
        record("backoff often", State.BACKOFF, restarts=9),
        record("quarantined", State.QUARANTINED),
        record("stopping", State.STOPPING),
    ]
    shot = picture(rows[:4], rows[4:], slow={"slow": 0.1, "slower": 0.9})
    assert [row.path for row in shot] == [
        "quarantined",
        "backoff often",
        "backoff",
        "attention",
        "slower",
        "slow",
        "stopping",
        "starting",
        "ended",
        "fine",
    ]
    assert shot.counts[State.BACKOFF] == 2
    assert sum(shot.counts.values()) == len(shot) == 10


def test_s18_a_large_picture_is_paged_and_counted() -> None:
    total = 3 * SLICE
    rows = [record(f"many/{number}") for number in range(total - 1)] + [record("many/bad", State.BACKOFF)]
    shot = picture(*(rows[start : start + SLICE] for start in range(0, total, SLICE)))
    assert shot.counts == {State.RUNNING: total - 1, State.BACKOFF: 1}
    page = shot.page(0, 200)
    assert (len(page), page[0].path, page[1].path) == (200, "many/bad", "many/0")
    assert [row.path for row in shot.page(total - 2, 200)] == [f"many/{total - 3}", f"many/{total - 2}"]
    assert json.loads(json.dumps(page[0])) == ["many/bad", "backoff", 0.0, 0, None, False, ""]
    assert repr(shot) == "<Snapshot of 30000 children: 29999 running, 1 backoff>"


async def test_s18_a_snapshot_is_frozen_and_covers_the_whole_tree(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    many = DynamicSupervisor("many", chance=chance)
    specs = [ChildSpec("many", many.run, ready_within=1), ChildSpec("web", idle)]
    tree = Supervisor("root", specs, chance=chance)
    nursery.start_soon(tree.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("x", idle))
    many.start_child(ChildSpec("y", bad))
    await trio.sleep(0.1)
    shot = tree.snapshot()
    many.start_child(ChildSpec("z", idle))
    await trio.sleep(0.1)
    assert [row.path for row in shot] == ["root/many/y", "root/many", "root/many/x", "root/web"]
    assert str(shot.page(0, 1)[0].crash) == "ValueError: bad"
    later = await tree.wait_snapshot()
    assert len(later) == 5
    tree.stop()


async def test_s18_a_sliced_read_lets_others_run_between_the_slices(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    tree = Supervisor("root", [ChildSpec(name, idle) for name in "abcdef"], chance=chance)
    nursery.start_soon(tree.run)
    await trio.sleep(1)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as inner:
            inner.start_soon(other)
            await trio.lowlevel.checkpoint()
            before = turns
            await tree.wait_snapshot()
            assert turns - before >= 5
            scope.cancel()
    tree.stop()


async def test_s19_a_wedged_child_is_visible_without_its_answer(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    class Steps:
        def of(self, path: str) -> StepFigures | None:
            return StepFigures(12.0, 0.3) if path == "many/wedged" else None

        def slow(self) -> dict[str, float]:
            return {"many/wedged": 0.3}

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
    assert [row.path for row in many.snapshot()] == ["many/wedged", "many/fine"]
    many.stop()


async def test_s19_status_of_a_child_between_restarts_and_after_its_end(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    tree = Supervisor(
        "root",
        [ChildSpec("bad", bad), ChildSpec("gone", bad, restart=Restart.TEMPORARY)],
        chance=chance,
    )
    nursery.start_soon(tree.run)
    await trio.sleep(0.1)
    assert tree.status("bad").state is State.BACKOFF
    gone = tree.status("root/gone")
    assert (gone.state, gone.awaiting, gone.steps, gone.mailbox) == (State.ENDED, "", None, None)
    with pytest.raises(NoSuchChild, match="no such child: nobody"):
        tree.status("nobody")
    assert repr(tree.find("root/bad")).startswith("<Child root/bad backoff since ")
    tree.stop()


async def test_s21_a_child_can_ask_for_attention(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    async def broken(child: Child) -> None:
        child.attention = True
        await trio.sleep_forever()

    many.start_child(ChildSpec("fine", idle))
    many.start_child(ChildSpec("broken", broken))
    await trio.sleep(1)
    assert [row.path for row in many.snapshot()] == ["many/broken", "many/fine"]
