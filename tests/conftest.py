from __future__ import annotations

import gc
from typing import Any

import pytest
import trio
from trio.testing import MockClock


def _on_virtual_clock(fn: Any, clock: Any, instruments: Any) -> Any:
    return trio.run(fn, clock=clock or MockClock(autojump_threshold=0), instruments=instruments)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a test whose fixtures want the virtual clock on that clock.

    pytest-trio looks for a clock among the test's own arguments only: a fixture that takes `autojump_clock` alone would
    leave its tests on the machine's clock, where a sleep takes its time.
    """
    for item in items:
        if "autojump_clock" in getattr(item, "fixturenames", ()) and item.get_closest_marker("real") is None:
            item.add_marker(pytest.mark.trio(run=_on_virtual_clock))


def pytest_collection_finish() -> None:
    """Take the tests themselves, which stay to the end, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
