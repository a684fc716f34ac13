"""Restarting a child and all that started after it, with crashes at any moment."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
import trio

from supervision import Backoff, Child, ChildSpec, State, Strategy, Supervisor

NAMES = "abcde"


class Boom(Exception):
    pass


class Stage:
    """Children with random delays and lives, and the order that every start must keep."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.alive: list[str] = []
        self.ended = dict.fromkeys(NAMES, -1.0)
        self.started = 0
        self.calm = False

    def actor(self, name: str) -> Callable[[Child], Awaitable[None]]:
        async def run(child: Child) -> None:
            assert [other for other in self.alive if other >= name] == [], "what comes after it has ended first"
            down = set(NAMES[: NAMES.index(name)]) - set(self.alive)
            assert all(self.ended[other] == trio.current_time() for other in down), "what comes before it was up"
            self.alive.append(name)
            self.started += 1
            try:
                await trio.sleep(self.chance.choice((0, 0, 0.5, 1, 3)))
                child.ready()
                if not self.calm and self.chance.random() < 0.6:
                    if self.chance.random() < 0.5:
                        await trio.sleep(self.chance.choice((0, 0.5, 1, 2)))
                    raise Boom
                await child.stopping.wait()
                await trio.sleep(self.chance.choice((0, 0.5, 9)))
            finally:
                with trio.move_on_after(1, shield=True):
                    await trio.sleep(self.chance.choice((0, 0.5)))
                self.alive.remove(name)
                self.ended[name] = trio.current_time()

        return run


@pytest.mark.parametrize("seed", range(60))
async def test_order_holds_at_every_start_and_all_are_up_in_the_end(
    seed: int, autojump_clock: trio.testing.MockClock
) -> None:
    stage = Stage(seed)
    backoff = Backoff(stage.chance.choice((0.0, 0.5)), 0.5)
    specs = [ChildSpec(name, stage.actor(name), ready_within=2, shutdown=1, backoff=backoff) for name in NAMES]
    tree = Supervisor("root", specs, strategy=Strategy.REST_FOR_ONE, intensity=10**6, chance=stage.chance)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(50)
        stage.calm = True
        await trio.sleep(500)
        assert stage.started > len(NAMES)
        wrong = {name: str(tree.status(name).crash) for name in NAMES if "Assertion" in str(tree.status(name).crash)}
        assert wrong == {}
        if all(tree.status(name).state is State.RUNNING for name in NAMES):
            assert "".join(stage.alive) == NAMES
        else:  # a child that keeps drawing 3 s is never ready within its 2
            assert any("NotReady" in str(tree.status(name).crash) for name in NAMES)
        tree.stop()
    assert stage.alive == []


async def test_a_child_that_crashes_in_the_step_in_which_it_becomes_ready_is_restarted(
    chance: random.Random, autojump_clock: trio.testing.MockClock
) -> None:
    async def brief(child: Child) -> None:
        await trio.sleep(1)
        child.ready()
        if child.restarts == 0:
            raise Boom
        await trio.sleep_forever()

    async def idle(child: Child) -> None:
        await trio.sleep_forever()

    tree = Supervisor(
        "root",
        [ChildSpec("brief", brief, ready_within=5), ChildSpec("next", idle)],
        strategy=Strategy.REST_FOR_ONE,
        chance=chance,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(10)
        assert tree.status("brief").state is State.RUNNING
        assert tree.status("next").state is State.RUNNING
        tree.stop()
