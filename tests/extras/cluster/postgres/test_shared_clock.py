"""Nodes use their database's time, whatever their own clocks show."""

from __future__ import annotations

import random

import pytest

from extras.cluster.postgres.server import SharedClock


class Machine:
    """An adjustable wall clock that is off by some seconds, and a monotonic clock."""

    def __init__(self, off: float) -> None:
        self.true, self.off = 1_800_000_000.0, off

    def clock(self) -> SharedClock:
        return SharedClock(lambda: self.true + self.off, lambda: self.true - 1_799_999_000.0)


def test_before_the_database_has_answered_it_is_the_machines_own() -> None:
    machine = Machine(-40.0)
    assert machine.clock()() == machine.true - 40.0


@pytest.mark.parametrize("off", [0.0, 3.5, -40.0, 3600.0])
def test_after_one_answer_it_is_the_databases_to_within_the_way(off: float) -> None:
    machine = Machine(off)
    clock = machine.clock()
    asked = clock.own()
    machine.true += 0.030
    database = machine.true
    machine.true += 0.010
    clock.hear(asked, database, clock.own())
    assert abs(clock() - machine.true) <= 0.020
    machine.off += 7200.0
    assert abs(clock() - machine.true) <= 0.020, "a machine's clock that is set moves nothing"


def test_drawn_answers_never_take_it_further_off_than_the_quickest_was_long() -> None:
    for seed in range(200):
        dice = random.Random(seed)
        machine = Machine(dice.uniform(-50, 50))
        clock = machine.clock()
        quickest = 1e9
        for _ in range(30):
            there, back = dice.expovariate(20), dice.expovariate(20)
            asked = clock.own()
            machine.true += there
            database = machine.true
            machine.true += back
            clock.hear(asked, database, clock.own())
            quickest = min(quickest, there + back)
            assert abs(clock() - machine.true) <= quickest + 1e-3, seed
            machine.true += 1.0


def test_the_shared_clock_follows_a_step_of_the_database() -> None:
    machine = Machine(0.0)
    clock = machine.clock()
    clock.hear(clock.own(), machine.true, clock.own())
    clock.hear(clock.own(), machine.true - 30.0, clock.own())
    assert clock() == pytest.approx(machine.true - 30.0)
