"""Shifts across clock steps, failing storage, stops and crashes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import trio
import trio.testing

from actors.coverage import EVERY, Shifts
from storage.errors import Unavailable
from storage.records.coverage import UNSTORED, Record, Shift
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.memory_network import MemoryNetwork, a_world

START = 1_780_000_000.0


class ChildReady:
    """A supervised child without a supervisor."""

    def ready(self) -> None:
        """Ignore."""


A_CHILD: Any = ChildReady()


class Machine:
    """A disk, an adjustable clock, and consecutive runs."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.disk, self.ahead, self._nursery = Disk(), 0.0, nursery
        self.world = replace(a_world(MemoryNetwork(nursery)), wall=lambda: START + self.ahead + trio.current_time())

    async def start(self) -> tuple[Shifts, Storage, trio.CancelScope]:
        storage = InLoopStorage(self.disk, self.disk.start("test"))
        shifts, scope = Shifts(self.world, storage), trio.CancelScope()

        async def live() -> None:
            with scope:
                await shifts.run(A_CHILD)

        self._nursery.start_soon(live)
        await trio.testing.wait_all_tasks_blocked()
        return shifts, storage, scope

    def now(self) -> Millis:
        return self.world.now()


def spans(record: Record) -> list[tuple[float, float, str]]:
    """Return the unknown spans, in seconds since the start."""
    return [(span.start / 1000 - START, span.end / 1000 - START, span.why) for span in record.unknown]


async def test_coverage_of_the_running_process_is_complete(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, *_ = await machine.start()
    await trio.sleep(5 * EVERY)
    record, until = await shifts.record()
    assert (record.begins, until, spans(record)) == (START * 1000, machine.now(), [])


async def test_after_a_crash_all_since_the_last_sweep_is_unknown(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, _, life = await machine.start()
    await trio.sleep(300)
    shifts.end_sweep(shifts.begin_sweep())
    await trio.sleep(EVERY + 1)  # stored with the next check
    life.cancel()
    await trio.sleep(40)
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert spans(record) == [(300, 401, "crash")]


async def test_after_an_orderly_stop_nothing_is_unknown(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, _, life = await machine.start()
    await trio.sleep(300)
    life.cancel()
    shifts.end_sweep(shifts.begin_sweep(last=True))
    await shifts.end()
    await trio.sleep(40)
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert spans(record) == []
    assert [(a / 1000 - START, b / 1000 - START) for a, b in record.resting] == [(300, 340)]


async def test_a_stop_with_an_unstored_last_sweep_is_not_orderly(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, _, life = await machine.start()
    shifts.end_sweep(shifts.begin_sweep())
    await trio.sleep(300)
    life.cancel()
    shifts.begin_sweep(last=True)
    await shifts.end()
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert spans(record) == [(0, 300, "crash")]


async def test_a_clock_step_is_noticed_within_a_minute_and_on_request(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    shifts, *_ = await machine.start()
    await trio.sleep(5 * EVERY + 10)
    machine.ahead = 3600
    record, _ = await shifts.record()
    assert spans(record) == [(300, 3910, "clock")]
    machine.ahead = 3600.5  # a slewed clock is no step
    await trio.sleep(10 * EVERY)
    assert spans((await shifts.record())[0]) == [(300, 3910, "clock")]


async def test_steps_are_still_known_after_a_stop(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, _, life = await machine.start()
    await trio.sleep(310)
    machine.ahead = -100
    await trio.sleep(300)
    life.cancel()
    shifts.end_sweep(shifts.begin_sweep(last=True))
    await shifts.end()
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert {why for _, _, why in spans(record)} == {"clock"}
    assert (min(a for a, _, _ in spans(record)), max(b for _, b, _ in spans(record))) == (200, 360)


async def test_a_storage_that_takes_nothing_holds_nothing_up_and_is_tried_again(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    machine.disk.silent = "before"
    shifts, storage, _ = await machine.start()
    record, _ = await shifts.record()
    assert (record.begins, spans(record)) == (machine.now(), [])
    await trio.sleep(30)
    machine.disk.silent = "no"
    await trio.sleep(30)
    (shift,) = await storage.coverage.shifts()
    assert (shift.began, shift.after) == (START * 1000, "nothing")
    machine.disk.silent = "before"
    shifts.end_sweep(shifts.begin_sweep())
    await trio.sleep(2 * EVERY)
    machine.disk.silent = "no"
    await trio.sleep(EVERY)
    (shift,) = await storage.coverage.shifts()
    assert shift.saved == (START + 60) * 1000


async def test_a_clock_that_is_set_all_the_time_fills_no_memory(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, storage, _ = await machine.start()
    for _ in range(120):
        machine.ahead += 100
        await trio.sleep(EVERY)
        shifts.end_sweep(shifts.begin_sweep())
    assert len(shifts._shifts) <= 52
    assert len(await storage.coverage.shifts()) >= 120
    assert len((await shifts.record())[0].unknown) >= 119


async def test_checks_stored_by_other_nodes_are_known_up_to_then(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    storage = InLoopStorage(machine.disk, machine.disk.start("test"))
    other = await storage.coverage.begin("other", machine.now())
    await storage.coverage.save(other._replace(saved=Millis(machine.now() + 50_000)))
    shifts = Shifts(machine.world, storage, "me")
    await shifts.begin(A_CHILD)
    await trio.sleep(100)
    record, until = await shifts.record()
    assert (until, spans(record)) == ((START + 50) * 1000, [])
    await trio.sleep(1000)
    record, until = await shifts.record()
    assert (until, spans(record)) == (machine.now(), [(50, 350, "crash")])


async def test_a_shift_that_storage_refuses_for_good_is_reported(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    shifts, storage, _ = await machine.start()

    async def refused(shift: Shift) -> None:
        raise Unavailable("away")

    storage.coverage.save = refused  # type: ignore[method-assign]
    shifts.end_sweep(shifts.begin_sweep(last=True))
    await shifts.end()  # raises nothing: the next start reports a crash
    (shift,) = await storage.coverage.shifts()
    assert shift.until is None


async def test_a_shift_ended_by_a_clock_step_is_stored_with_the_next(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    shifts, storage, life = await machine.start()
    await trio.sleep(1000)

    async def away(*_: Any) -> Shift:
        raise Unavailable("for a while")

    storage.coverage.step = away  # type: ignore[method-assign]
    machine.ahead = -700.0
    await trio.sleep(EVERY + 1)
    life.cancel()
    await trio.sleep(600)
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert spans(record) == [(0, machine.now() / 1000 - START, "crash")]
    assert record.resting == []


async def test_a_check_ahead_of_the_clock_says_that_it_was_set_back_before_the_crash(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    _, _, life = await machine.start()
    await trio.sleep(1200)
    looked = machine.now()
    machine.ahead = -900.0
    await trio.sleep(20)  # not yet noticed
    life.cancel()
    for _ in range(2):  # the next run knows the same spans
        shifts, _, life = await machine.start()
        shifts.note_check(looked)
        shifts.note_check(Millis(looked + 10 * UNSTORED))  # an older time, from when the clock was further ahead
        record, _ = await shifts.record()
        unknown = max(end for start, end, why in spans(record) if start <= 320 and why == "crash")
        assert unknown == 1200 + UNSTORED / 1000
        await trio.sleep(EVERY + 1)
        life.cancel()


async def test_a_check_before_the_crash_makes_nothing_else_unknown(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    _, _, life = await machine.start()
    await trio.sleep(1200)
    looked = machine.now()
    life.cancel()
    await trio.sleep(40)
    shifts, *_ = await machine.start()
    shifts.note_check(looked)
    record, _ = await shifts.record()
    assert spans(record) == [(0, 1240, "crash")]


async def test_a_sweep_while_a_set_clock_is_being_stored_is_stored_after_it(
    autojump_clock: object, nursery: trio.Nursery
) -> None:
    machine = Machine(nursery)
    shifts, storage, life = await machine.start()
    step = storage.coverage.step

    async def slow(before: Shift, after: Shift) -> Shift:
        found = await step(before, after)
        await trio.sleep(5)
        return found

    storage.coverage.step = slow  # type: ignore[method-assign]
    await trio.sleep(100)
    machine.ahead = 900.0
    await trio.sleep(21)  # the step is being stored
    shifts.end_sweep(shifts.begin_sweep())
    await trio.sleep(2 * EVERY)
    life.cancel()
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    (crash,) = [span for span in spans(record) if span[2] == "crash"]
    assert crash[0] == 1021, "what the sweep had stored is known"


async def test_a_check_noted_during_a_store_is_stored_after_it(autojump_clock: object, nursery: trio.Nursery) -> None:
    machine = Machine(nursery)
    _, _, life = await machine.start()
    await trio.sleep(1200)
    looked = machine.now()
    machine.ahead = -900.0
    await trio.sleep(20)
    life.cancel()
    shifts, storage, life = await machine.start()
    save = storage.coverage.save

    async def slow(shift: Shift) -> None:
        await save(shift)
        shifts.note_check(Millis(looked + 10_000))

    storage.coverage.save = slow  # type: ignore[method-assign]
    shifts.note_check(looked)
    await trio.sleep(2 * EVERY + 1)
    life.cancel()
    shifts, *_ = await machine.start()
    record, _ = await shifts.record()
    assert max(end for start, end, why in spans(record) if start <= 320) == 1210 + UNSTORED / 1000
