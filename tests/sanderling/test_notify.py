"""Notifications to systemd: ready after the listener, alive while the log's writer moves, stopping on a stop."""

from __future__ import annotations

import random
import signal
import socket
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from sanderling.serve import ServiceManager, manager_of, status_of, tell_manager, watchdog_seconds
from supervision import ChildSpec, Supervisor
from tests.e2e.service import a_service
from tests.support.waiting import HANG


class House:
    """A fake app context: the parts of a status, and a writer that can get stuck."""

    def __init__(self) -> None:
        self.moved_at: float | None = None
        self.stopping = False
        self.census = Counter({"ok": 1210, "rotten": 2})
        self.states: dict[str, int] = {"failing": 3, "throttled": 1, "ok": 1208}
        self.troubles: dict[str, str] = {}

    def as_doors(self) -> Any:
        return SimpleNamespace(
            overseer=SimpleNamespace(
                table=SimpleNamespace(flag_counts=lambda: self.census, states=lambda: self.states)
            ),
            readiness=lambda: self.troubles,
            draining=lambda: self.stopping,
            storage=SimpleNamespace(
                writer_moved_at=lambda: trio.current_time() if self.moved_at is None else self.moved_at
            ),
        )


async def under_a_manager(house: House, said: list[str], seconds: float, within: float | None = 60.0) -> None:
    manager = ServiceManager(lambda words: said.append(f"{trio.current_time():.0f} {words}"), within)
    (spec,) = manager.after(lambda _context: ())(house.as_doors())
    assert isinstance(spec, ChildSpec)
    tree = Supervisor("test", [spec], chance=random.Random(1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(seconds)
        house.stopping = True
        tree.stop()


async def test_ready_is_first_and_stopping_last(autojump_clock: trio.testing.MockClock) -> None:
    said: list[str] = []
    await under_a_manager(House(), said, 5)
    assert said[0].endswith(" READY=1")
    assert said[-1].endswith(" STOPPING=1\nSTATUS=Stopping.")


async def test_the_watchdog_starves_when_the_writer_is_stuck(autojump_clock: trio.testing.MockClock) -> None:
    """The loop keeps turning: a timer would still feed the watchdog."""
    said: list[str] = []
    house = House()
    house.moved_at = begun = trio.current_time()
    await under_a_manager(house, said, 100)
    fed = [float(line.split()[0]) - begun for line in said if line.endswith("WATCHDOG=1")]
    assert fed and max(fed) < 31
    assert any("STATUS=1,212 sources" in line for line in said[-3:])


async def test_the_watchdog_is_fed_three_times_within_its_patience(autojump_clock: trio.testing.MockClock) -> None:
    said: list[str] = []
    await under_a_manager(House(), said, 12, within=3.0)
    assert sum(line.endswith("WATCHDOG=1") for line in said) >= 12


async def test_no_watchdog_no_food(autojump_clock: trio.testing.MockClock) -> None:
    said: list[str] = []
    await under_a_manager(House(), said, 50, within=None)
    assert not [line for line in said if "WATCHDOG" in line]


def test_the_status_names_the_problem_on_one_line() -> None:
    house = House()
    house.troubles = {"recorder": "stuck\nfor long", "tree": ""}
    assert status_of(house.as_doors()) == "1,212 sources, 3 failing, 1 throttled, 2 rotten. recorder: stuck for long"


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({}, None),
    ],
)
def test_the_watchdog_applies_if_it_names_this_process_or_none(
    variables: dict[str, str], seconds: float | None
) -> None:
    assert watchdog_seconds(variables, 7) == seconds


def test_without_a_service_manager_nothing_is_sent() -> None:
    assert manager_of({}, 7) is None
    assert manager_of({"NOTIFY_SOCKET": "vsock:2:1"}, 7) is None


@pytest.mark.real
def test_a_manager_that_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    tell_manager(str(tmp_path / "none"), "READY=1")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.real
def test_the_abstract_namespace_is_reached(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{tmp_path}")
        manager.settimeout(HANG)
        tell_manager(f"@{tmp_path}", "READY=1")
        assert manager.recv(100) == b"READY=1"


@pytest.mark.real
async def test_a_real_service_is_ready_when_its_port_answers_and_says_when_it_stops(tmp_path: Path) -> None:
    with trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_DGRAM) as manager:
        await manager.bind(str(tmp_path / "notify"))
        told: list[str] = []
        fed = trio.Event()

        async def listen() -> None:
            while True:
                told.append((await manager.recv(4096)).decode())
                if told.count("WATCHDOG=1") == 3:
                    fed.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
            settings = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
            async with a_service(tmp_path / "data", **settings) as service:
                with trio.fail_after(HANG):
                    await fed.wait()
                assert await service.end(signal.SIGTERM) == 0
            nursery.cancel_scope.cancel()
    assert told[0] == "READY=1"
    assert "STATUS=0 sources." in told
    assert told[-1].startswith("STOPPING=1")
