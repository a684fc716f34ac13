"""A disk that is full when the service starts holds up deliveries alone, not the tree (found by simulation)."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from tests.delivery.rig import Rig


async def test_deliveries_begin_once_there_is_room_and_the_tree_stays_up_meanwhile(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    await rig.match("hook", "news", nudge=False)
    rig.disk.full = True
    async with rig.running():
        await trio.sleep(600)
        await rig.registry.refresh()
        assert rig.arrivals == []
        rig.disk.full = False
        await trio.sleep(10)
    assert len(rig.arrivals) == 1
