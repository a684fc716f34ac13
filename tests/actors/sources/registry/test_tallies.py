"""Tallies in a sweep: stored, retried, and passed to the shifts."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import pytest
import trio

from actors.coverage import Shifts
from actors.settings import Settings
from actors.sources.ports import LiveSource, Ports
from actors.sources.registry.actor import TallySweep
from storage.records import coverage
from storage.records.checks import Verdict
from storage.records.identity import Millis
from tests.storage.contract.builders import NOW, a_source, a_state
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.memory_network import MemoryNetwork, a_world

DAY = 86_400_000
A_CHILD = cast("Any", type("Child", (), {"ready": lambda self: None})())


class Bench(NamedTuple):
    """A source in storage and in memory, and the inputs of a sweep."""

    disk: Disk
    storage: InLoopStorage
    ports: Ports
    live: LiveSource
    shifts: Shifts

    def look(self, day: int, hours: int = 3) -> None:
        for hour in range(hours):
            self.live.count(Millis(NOW + day * DAY + hour * 3_600_000), Verdict.UNCHANGED)


@pytest.fixture
async def bench(autojump_clock: object, nursery: trio.Nursery) -> Bench:
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("test"))
    await storage.sources.add(a_source(), a_state(1, b""), storage.lease)
    world = a_world(MemoryNetwork(nursery), wall=NOW / 1000 + 3 * 86_400)
    shifts = Shifts(world, storage)
    await shifts.begin(A_CHILD)
    ports = Ports(world, Settings(), storage, *cast("Any", [None] * 4), shifts=shifts)
    return Bench(disk, storage, ports, LiveSource(a_source(), a_state().hot), shifts)


def taken(live: LiveSource) -> Any:
    live.unsaved = False
    return live.state_to_save()


async def test_days_that_are_over_are_put_away_and_leave_the_tally(bench: Bench) -> None:
    bench.look(0)
    bench.look(3)
    await TallySweep(bench.ports, last=False).store_finished_days([bench.live])
    days = await bench.storage.coverage.days(a_source().id, 0, 99_999)
    hours = [hour for day in days for hour in coverage.hours_of(day)]
    assert sum(hour.answered for hour in hours) == 3
    assert sum(hour.answered for hour in coverage.hours(bench.live.tally)) == 3
    assert bench.live.needs_save


async def test_days_stay_while_storage_takes_nothing(bench: Bench) -> None:
    bench.look(0)
    bench.look(3)
    before = bench.live.tally
    bench.disk.silent = "before"
    await TallySweep(bench.ports, last=False).store_finished_days([bench.live])
    assert bench.live.tally == before


@pytest.mark.parametrize("saved", [True, False])
async def test_a_state_that_was_not_stored_is_in_the_next_sweep(bench: Bench, saved: bool) -> None:
    bench.live.unsaved = True
    sweep = TallySweep(bench.ports, last=False)
    _, on_saved = sweep.batch([bench.live], taken)
    on_saved(saved)
    assert bench.live.unsaved is not saved


async def test_a_stored_tally_is_not_behind_and_reaches_the_shifts(bench: Bench) -> None:
    bench.look(3)
    sweep = TallySweep(bench.ports, last=False)
    await trio.sleep(10)
    _, heard = sweep.batch([bench.live], taken)
    sweep.close()
    assert bench.live.needs_save
    heard(True)
    assert not bench.live.needs_save
    assert bench.shifts._shifts[0].saved == NOW + 3 * DAY


async def test_a_check_while_it_is_stored_is_in_the_next_sweep(bench: Bench) -> None:
    sweep = TallySweep(bench.ports, last=False)
    bench.look(3)
    _, heard = sweep.batch([bench.live], taken)
    bench.look(3)
    heard(True)
    assert bench.live.needs_save


async def test_failed_and_unknown_checks_do_not_reach_the_shifts(bench: Bench) -> None:
    for answers in ((True, False), (True,)):
        sweep = TallySweep(bench.ports, last=False)
        await trio.sleep(10)
        slices = [sweep.batch([bench.live], taken)[1] for _ in range(2)]
        sweep.close()
        for heard, answer in zip(slices, answers, strict=False):
            heard(answer)
        assert bench.shifts._shifts[0].saved == NOW + 3 * DAY
        bench.live.unsaved = False
