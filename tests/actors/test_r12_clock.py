from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import trio

from actors.coverage import EVERY, ClockWatch


@pytest.mark.parametrize("step", [3600.0, -3600.0, 86_400.0])
async def test_r12_a_step_is_noticed_once_and_a_drift_is_none(step: float, autojump_clock: object) -> None:
    ahead, heard, lines = [0.0], [0], []
    world: Any = SimpleNamespace(
        wall=lambda: 1e9 + trio.current_time() * 1.0005 + ahead[0],
        log=lambda name, **fields: lines.append((name, round(fields["seconds"]))),
    )

    def stepped() -> None:
        heard[0] += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ClockWatch(world, stepped).run, None)
        await trio.sleep(EVERY * 10)
        assert heard[0] == 0
        ahead[0] = step
        await trio.sleep(EVERY * 3)
        nursery.cancel_scope.cancel()
    assert heard[0] == 1
    assert lines == [("clock.stepped", round(step))]
