"""The listening thread: its pauses, and its end."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import trio

from extras.cluster.postgres.engine import APART, AT_REST, Watch
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


class SlowLine:
    """A line that is ready once `opened` is set, and silent until it is cut."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.asked, self.opened, self._cut = threading.Event(), threading.Event(), threading.Event()

    def ready(self) -> Any:
        self.asked.set()
        assert self.opened.wait(HANG)
        raw = SimpleNamespace(notifies=self._notifies)
        self.connection = SimpleNamespace(run=lambda _statement: None, raw=raw, cut=self._cut.set)
        return self.connection

    def drop(self) -> None:
        self.connection = None

    def _notifies(self, **_bounds: Any) -> list[Any]:
        assert self._cut.wait(HANG)
        raise psycopg.OperationalError


async def test_a_close_during_the_first_connecting_waits_for_no_notice() -> None:
    line: Any = SlowLine()
    watch = Watch(line, (), lambda: None, lambda: True)
    watch.start()
    await trio.to_thread.run_sync(line.asked.wait)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.aclose)
        await trio.testing.wait_all_tasks_blocked()
        line.opened.set()
    watch._thread.join(HANG)
    assert not watch._thread.is_alive()


async def test_commits_are_read_less_often_while_nobody_waits_for_events() -> None:
    heard: list[bool] = []
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        heard.append(True)

    notice = SimpleNamespace(pid=7)
    raw = SimpleNamespace(notifies=lambda **_bounds: [notice])
    connection = SimpleNamespace(run=lambda _statement: None, raw=raw, cut=lambda: None)
    line: Any = SimpleNamespace(ready=lambda: connection, drop=lambda: None, connection=connection)
    watch = Watch(line, (), lambda: None, lambda: len(heard) > 1)
    watch._ends = SimpleNamespace(is_set=lambda: len(heard) == 4, wait=pause, set=lambda: None)  # type: ignore[assignment]
    await trio.to_thread.run_sync(watch._run)
    assert pauses == [AT_REST, AT_REST, APART, APART]
