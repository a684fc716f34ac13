"""The ping to a monitor: sent on schedule while healthy, withheld otherwise, late by one interval at most."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
import trio

from actors.coverage import AGAIN, MonitorCalls
from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.url import Url, parse_url
from actors.settings import Settings
from supervision import ChildSpec, Supervisor
from tests.support.memory_network import MemoryNetwork, a_world

EVERY = 60.0
SECRET = "https://hc.test/ping/k3y0fMonitor"


class Monitor:
    """A monitor. times: when pings arrived. status: its answer, 0 for no answer."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.status = 200

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        assert (str(url.text), dict(headers), body, method) == (SECRET, {}, b"", "GET")
        self.times.append(trio.current_time())
        if not self.status:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, "nobody answers")
        return PostResult(self.status, 1, b"", None)


class Watched:
    """A service with a heartbeat, on a virtual clock. lines: its log."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.monitor, self.failing, self.lines = Monitor(), "", list[tuple[str, dict[str, Any]]]()
        world = a_world(MemoryNetwork(nursery), log=lambda event, **more: self.lines.append((event, more)))
        self.world = world
        heartbeat = MonitorCalls(world, self.monitor, parse_url(SECRET), EVERY, lambda: {"tree": "", "x": self.failing})
        self.tree = Supervisor("test", [ChildSpec("heartbeat", heartbeat.run)], chance=random.Random(0))
        nursery.start_soon(self.tree.run)

    def gaps(self) -> list[float]:
        """Return the seconds between pings."""
        return [later - earlier for earlier, later in zip(self.monitor.times, self.monitor.times[1:], strict=False)]


async def test_signs_come_at_even_times_while_all_is_well(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        watched = Watched(nursery)
        await trio.sleep(10 * EVERY)
        watched.tree.stop()
    assert set(watched.gaps()) == {EVERY} and len(watched.monitor.times) == 10
    assert watched.world.metrics.heartbeats.values == {("sent",): 10}
    assert watched.lines == []


async def test_none_comes_while_something_is_wrong_and_the_next_soon_after(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        watched = Watched(nursery)
        await trio.sleep(EVERY)
        watched.failing = "the disk is full"
        await trio.sleep(20 * EVERY)
        quiet = len(watched.monitor.times)
        watched.failing = ""
        well_at = trio.current_time()
        await trio.sleep(2 * EVERY)
        watched.tree.stop()
    assert quiet == 1
    assert watched.monitor.times[1] - well_at <= AGAIN
    assert [event for event, _ in watched.lines] == ["heartbeat.withheld", "heartbeat.sent"]
    assert watched.lines[0][1] == {"level": "warning", "host": "hc.test", "says": "the disk is full"}


@pytest.mark.parametrize("status", [0, 404, 503, 302])
async def test_an_undelivered_call_is_repeated_once_and_reported(autojump_clock: object, status: int) -> None:
    async with trio.open_nursery() as nursery:
        watched = Watched(nursery)
        watched.monitor.status = status
        await trio.sleep(3 * EVERY)
        tries = len(watched.monitor.times)
        watched.monitor.status = 200
        await trio.sleep(3 * EVERY)
        watched.tree.stop()
    assert tries == 6 and watched.gaps()[:2] == [AGAIN, EVERY - AGAIN]
    assert [event for event, _ in watched.lines] == ["heartbeat.failed", "heartbeat.sent"]
    assert SECRET not in repr(watched.lines)


async def test_a_slow_monitor_shifts_nothing(autojump_clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    async with trio.open_nursery() as nursery:
        watched = Watched(nursery)
        answer = watched.monitor.post

        async def slow(*args: Any, **more: Any) -> PostResult:
            await trio.sleep(14)
            return await answer(*args, **more)

        monkeypatch.setattr(watched.monitor, "post", slow)
        await trio.sleep(5 * EVERY)
        watched.tree.stop(now=True)
    assert set(watched.gaps()) == {EVERY}


def test_an_address_of_another_sort_is_refused() -> None:
    with pytest.raises(ValueError, match="heartbeat_url: write an address"):
        Settings(heartbeat_url="ftp://hc.test")
    assert "k3y0f" not in repr(Settings(heartbeat_url=SECRET))
