"""A child that ignores its cancellation does not block a restart for ever."""

from __future__ import annotations

import random

import pytest
import trio

from supervision import Child, ChildSpec, Escalate, Strategy, Supervisor
from supervision.child import CLEANUP_GRACE


class Boom(Exception):
    pass


class Two:
    """`first` crashes after a second of its first life; `second` ignores cancellation for `deaf` seconds."""

    def __init__(self, deaf: float) -> None:
        self.deaf, self.lives = deaf, 0
        self.stuck: list[tuple[float, str]] = []
        self.supervisor = Supervisor(
            "root",
            [ChildSpec("first", self._first), ChildSpec("second", self._second, shutdown=1.0)],
            strategy=Strategy.REST_FOR_ONE,
            chance=random.Random(1),
            on_stuck=lambda error: self.stuck.append((trio.current_time(), str(error))),
        )

    async def _first(self, child: Child) -> None:
        self.lives += 1
        if self.lives == 1:
            await trio.sleep(1)
            raise Boom
        await trio.sleep_forever()

    async def _second(self, child: Child) -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(self.deaf)
        await trio.sleep_forever()


async def test_r13_a_restart_gives_up_on_a_child_that_does_not_end(autojump_clock: trio.testing.MockClock) -> None:
    two, began = Two(deaf=1000), trio.current_time()
    with pytest.raises(Escalate, match="root/second: it does not end"):
        await two.supervisor.run()
    assert two.lives == 1
    ((at, why),) = two.stuck
    assert "it does not end" in why
    assert at - began < 1 + 4 * (1 + CLEANUP_GRACE)


async def test_r13_a_child_that_ends_within_its_grace_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    two = Two(deaf=1 + 1 + CLEANUP_GRACE / 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(two.supervisor.run)
        await trio.sleep(20)
        assert two.lives == 2
        two.supervisor.stop()
    assert two.stuck == []
