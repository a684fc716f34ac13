from __future__ import annotations

import gc
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.long_tests import LONG, long_key


def _on_virtual_clock(fn: Any, clock: Any, instruments: Any) -> Any:
    return trio.run(fn, clock=clock or MockClock(autojump_threshold=0), instruments=instruments)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a path that does not exist: pytest-xdist would say that no tests ran."""
    for name in config.args:
        if not (config.invocation_params.dir / name.partition("::")[0]).exists():
            raise pytest.UsageError(f"there is no {name}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests and put them first, longest first; run tests on the virtual clock that want it.

    pytest-trio looks for a clock among the test's own arguments only: a fixture that takes `autojump_clock` alone would
    leave its tests on the machine's clock, where a sleep takes its time.
    """
    places = {key: place for place, key in enumerate(LONG)}
    order: dict[pytest.Item, int] = {}
    for item in items:
        key = long_key(item.nodeid)
        order[item] = len(places) if key is None else places[key]
        if key is not None:
            item.add_marker(pytest.mark.long)
        if "autojump_clock" in getattr(item, "fixturenames", ()) and item.get_closest_marker("real") is None:
            item.add_marker(pytest.mark.trio(run=_on_virtual_clock))
    items.sort(key=order.__getitem__)


def pytest_collection_finish() -> None:
    """Take the tests themselves, which stay to the end, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
