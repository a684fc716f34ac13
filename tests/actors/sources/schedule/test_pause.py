"""The pause switch: how soon the sources that waited are checked again."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from actors.sources.schedule.pause import SPREAD, PauseSwitch


async def waits(count: int, interval: float) -> list[float]:
    """Return the waits of so many sources after a pause."""
    switch, found = PauseSwitch(), list[float]()
    switch.park(True)

    async def wait(draw: float) -> None:
        found.append(await switch.wait_open(draw, interval))

    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(wait, (number + 1) / count)
        await trio.testing.wait_all_tasks_blocked()
        switch.park(False)
    return found


@pytest.mark.parametrize(
    ("count", "interval", "latest"),
    [(12, 900.0, 1.2), (12, 0.5, 0.5), (10_000, 900.0, SPREAD), (10_000, 30.0, 30.0), (1, 900.0, 0.1)],
)
async def test_a_few_sources_are_checked_at_once_and_many_within_a_minute(
    count: int, interval: float, latest: float, autojump_clock: MockClock
) -> None:
    """Twelve sources with an interval of 2 s once waited for up to a minute after a database outage."""
    assert max(await waits(count, interval)) == pytest.approx(latest)


async def test_a_source_that_stops_waiting_does_not_count() -> None:
    switch = PauseSwitch()
    switch.close()
    for _ in range(3):
        with trio.move_on_after(0):
            await switch.wait_open(1.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(switch.wait_open, 1.0)
        await trio.testing.wait_all_tasks_blocked()
        switch.open()
    assert switch._window == pytest.approx(0.1)


async def test_an_open_switch_lets_every_check_begin_at_once() -> None:
    assert await PauseSwitch().wait_open(1.0) == 0.0
