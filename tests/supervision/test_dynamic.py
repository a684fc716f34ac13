"""Quarantine, alarm, counts and nesting of the dynamic supervisor."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
import trio

from supervision import (
    Alarm,
    Child,
    ChildSpec,
    DynamicSupervisor,
    InvalidSpec,
    NoSuchChild,
    State,
    StateChange,
    Supervisor,
)


class Boom(Exception):
    pass


async def idle(child: Child) -> None:
    await trio.sleep_forever()


async def bad(child: Child) -> None:
    raise Boom("bad")


async def polite(child: Child) -> None:
    await child.stopping.wait()


async def test_s6_the_sixth_crash_in_ten_minutes_quarantines_that_child_alone(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    many.start_child(ChildSpec("bad", bad))
    for name in "abc":
        many.start_child(ChildSpec(name, idle))
    await trio.sleep(300)
    status = many.status("bad")
    assert (status.state, status.restarts) == (State.QUARANTINED, 6)
    assert [many.status(name).restarts for name in "abc"] == [0, 0, 0]
    assert many.statistics().quarantined == 1


async def test_s6_quarantine_is_tried_every_30_minutes_give_or_take_a_tenth(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    lives: list[float] = []

    async def run(child: Child) -> None:
        lives.append(trio.current_time())
        raise Boom

    many = DynamicSupervisor("many", chance=random.Random(1))
    nursery.start_soon(many.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("bad", run))
    await trio.sleep(20 * 3600)
    gaps = [after - before for before, after in pairwise(lives[5:])]
    assert 36 <= len(gaps) <= 44
    assert all(1620 <= gap <= 1980 for gap in gaps)
    assert max(gaps) - min(gaps) > 60
    many.stop()


async def test_s6_a_child_that_stays_alive_after_quarantine_has_its_full_budget_again(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    lives = 0
    seventh = trio.Event()

    async def run(child: Child) -> None:
        nonlocal lives
        lives += 1
        if lives == 7:
            seventh.set()
        await trio.sleep(200 if lives == 7 else 0)
        raise Boom

    many.start_child(ChildSpec("bad", run))
    await seventh.wait()
    assert many.status("bad").state is State.RUNNING
    await trio.sleep(300)
    assert many.status("bad").state is State.QUARANTINED
    assert lives == 12, "five restarts more, and the sixth crash after the life of 200 s"


async def test_s7_the_alarm_is_raised_once_at_30_percent_of_at_least_20(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    alarms: list[Alarm] = []
    many = DynamicSupervisor("many", chance=random.Random(1), alarm=alarms.append)
    nursery.start_soon(many.run)
    await trio.sleep(1)
    for number in range(14):
        many.start_child(ChildSpec(f"good{number}", idle))
    for number in range(5):
        many.start_child(ChildSpec(f"bad{number}", bad))
    await trio.sleep(300)
    assert alarms == [], "nineteen are too few"
    many.start_child(ChildSpec("bad", bad))
    await trio.sleep(7200)
    assert len(alarms) == 1
    assert (alarms[0].troubled, alarms[0].total) == (6, 20)
    assert str(alarms[0]) == "many: 6 of 20 children are in trouble"
    assert many.statistics().alarm
    assert many.status("good0").restarts == 0, "and nobody is restarted for it"
    many.stop()


async def test_a_restarted_dynamic_supervisor_starts_with_no_children(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    many = DynamicSupervisor("many", chance=random.Random(1))
    for _ in range(2):
        async with trio.open_nursery() as inner:
            inner.start_soon(many.run)
            await trio.sleep(1)
            assert len(many) == 0
            many.start_child(ChildSpec("a", idle))
            await trio.sleep(1)
            assert repr(many) == "<DynamicSupervisor many running, 1 children>"
            inner.cancel_scope.cancel()
        assert len(many) == 0


async def test_a_dynamic_supervisor_is_a_child_with_the_path_of_one(
    chance: random.Random, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    changes: list[StateChange] = []
    many = DynamicSupervisor("ignored", chance=chance)
    tree = Supervisor("root", [ChildSpec("all", many.run, ready_within=1)], chance=chance, on_change=changes.append)
    nursery.start_soon(tree.run)
    await trio.sleep(1)
    many.start_child(ChildSpec("x", idle))
    await trio.sleep(1)
    assert tree.status("all/x").path == "root/all/x"
    assert tree.status("root/all/x").state is State.RUNNING
    assert "root/all/x" in {change.path for change in changes}
    with pytest.raises(NoSuchChild):
        tree.status("root/all/y")
    with pytest.raises(NoSuchChild):
        tree.status("root/all/x/deeper")
    tree.stop()


async def test_counts_are_right_after_every_kind_of_end(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    for number in range(30):
        run = (idle, bad, polite)[number % 3]
        many.start_child(ChildSpec(str(number), run))
    await trio.sleep(20)
    for number in range(0, 30, 4):
        await many.stop_child(str(number))
    counted = Counter(child.state for id in map(str, range(30)) if (child := many.child(id)) is not None)
    figures = many.statistics()
    assert figures.running == counted[State.RUNNING]
    assert figures.backoff == counted[State.BACKOFF]
    assert figures.quarantined == counted[State.QUARANTINED]
    assert figures.total == len(many) == 22


async def test_stop_and_quarantine_of_nonsense_are_refused(chance: random.Random) -> None:
    with pytest.raises(InvalidSpec, match="stop_budget"):
        DynamicSupervisor("d", chance=chance, stop_budget=float("inf"))
    with pytest.raises(InvalidSpec, match="quarantine"):
        DynamicSupervisor("d", chance=chance, quarantine=0)
    with pytest.raises(InvalidSpec, match="limit"):
        DynamicSupervisor("d", chance=chance, budget=(-1, 10))
