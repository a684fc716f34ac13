"""A pytest plug-in: record which test runs which line; later run only these tests, the fastest first.

`--touched-into FILE` writes {file: {line: [numbers of tests]}} with the tests' names and seconds. `--only-tests FILE`
runs the tests in FILE, in its order.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bench.mutants.drawing import files_of
from bench.mutants.rooms import ROOMS


class Toucher:
    """Records the lines that each test runs in its process, in all threads."""

    def __init__(self, target: Path, root: Path) -> None:
        self._target = target
        self._names = {str(root / name): name for room in ROOMS for name in files_of(room, root)}
        self._lines: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._tests: list[tuple[str, float]] = []
        self._failed: list[str] = []
        self._seen: set[tuple[str, int]] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen = set()
        began = time.monotonic()  # noqa: TID251  a bench has no World
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]  # its stubs forget that None ends it
        number = len(self._tests)
        self._tests.append((item.nodeid, time.monotonic() - began))  # noqa: TID251
        for name, line in self._seen:
            self._lines[name][line].append(number)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        found = {"tests": self._tests, "failed": self._failed, "lines": self._lines}
        self._target.write_text(json.dumps(found))

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        return None if self._names.get(frame.f_code.co_filename) is None else self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._seen.add((self._names[frame.f_code.co_filename], frame.f_lineno))
        return self._line


class Chooser:
    """Keeps only the tests of a list, in its order; a file's name means all its tests."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._place = {name: place for place, name in enumerate(wanted)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        placed = [(place, item) for item in items if (place := self._of(item)) is not None]
        items[:] = [item for _, item in sorted(placed, key=lambda each: each[0])]

    def _of(self, item: pytest.Item) -> int | None:
        return self._place.get(item.nodeid.partition("::")[0], self._place.get(item.nodeid))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--touched-into", type=Path)
    parser.addoption("--only-tests", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    if (target := config.getoption("--touched-into")) is not None:
        config.pluginmanager.register(Toucher(target, config.rootpath))
    if (wanted := config.getoption("--only-tests")) is not None:
        config.pluginmanager.register(Chooser(wanted.read_text().splitlines()))
