from __future__ import annotations

import gc
import os
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import settings
from trio.testing import MockClock

from tests.long_tests import LONG, has_long, long_key

# Property tests draw the same examples each time. No deadline: on a busy machine it would fail for no reason.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

MEMORY, NEEDED = "/dev/shm", 2 << 30


def _temporary_files_in_memory() -> None:
    """Put temporary files into a memory file system that may run programs: disk waits take half of a test's time."""
    try:
        there = os.statvfs(MEMORY)
    except OSError:
        return
    if there.f_bavail * there.f_frsize > NEEDED and not there.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK):
        os.environ.setdefault("TMPDIR", MEMORY)  # noqa: TID251  for the programs that tests start, too
        tempfile.tempdir = None


_temporary_files_in_memory()


def _on_virtual_clock(fn: Any, clock: Any, instruments: Any) -> Any:
    return trio.run(fn, clock=clock or MockClock(autojump_threshold=0), instruments=instruments)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a path that does not exist: pytest-xdist would report that no tests ran."""
    for name in config.args:
        if not (config.invocation_params.dir / name.partition("::")[0]).exists():
            raise pytest.UsageError(f"there is no {name}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without tests for `-m long` or `-m "not long"`: importing them all slows each worker."""
    wanted = config.getoption("markexpr")
    if wanted not in ("long", "not long") or not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    left_out = not has_long(name) if wanted == "long" else long_key(name) is not None
    return True if left_out and collection_path.match("test_*.py") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests and put them first, longest first; set the virtual clock where a test uses it.

    pytest-trio looks for a clock among the test's own arguments only: with `autojump_clock` in a fixture alone, a test
    would run on the machine's clock and really sleep.
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
    """Exempt the collected tests, which live to the end, from garbage collection."""
    gc.collect()
    gc.freeze()


_run = count(1)


def pytest_runtest_logfinish() -> None:
    """Also exempt later reports, caches and modules: simulated worlds collect garbage often."""
    if next(_run) % 300 == 0:
        gc.collect()
        gc.freeze()
