"""Each planted bug is found by a seed. A simulation that finds none of them would prove nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sanderling.simulation.planted import PLANTS, Plant
from sanderling.simulation.program import SERVICE, Fault, Program, draw
from sanderling.simulation.run import simulate_program


def crashing(seed: str, *, sources: int = 4, point_crash: float = 0.05) -> Program:
    return draw(seed, days=0.5, sources=sources, point_crash=point_crash)


def full_disk_at_the_last_entry() -> Program:
    """Cut down by hand: nothing goes wrong but the disk, just when a feed publishes for the last time."""
    program = crashing("0")
    last = program.origins[0].texts[-1].at
    return replace(program, faults=(Fault(last - 60, 5400, "disk full", SERVICE),), endings=(), point_crash=0.0)


FOUND_BY = {
    "acknowledged_before_the_commit": full_disk_at_the_last_entry(),
    "minted_before_the_commit": crashing("0"),
    "state_and_events_in_two_commits": crashing("0"),
    "ids_by_the_wall_clock": crashing("0"),
    "resumes_with_the_last_event": crashing("0"),
    "live_without_replay": crashing("0"),
    "spins_behind_the_ring": crashing("0"),
    "unseen_stays_unseen": crashing("4", sources=10, point_crash=0.1),
    "claimed_for_ever": crashing("1", sources=10, point_crash=0.1),
    "matches_after_the_cursor": crashing("2"),
    "given_up_after_two": crashing("5"),
}
"""bug: the program that finds it."""

SAYS = {
    "ids_by_the_wall_clock": "ids increase in commit order",
    "minted_before_the_commit": "ids increase in commit order",
    "resumes_with_the_last_event": "a cursor never misses",
    "live_without_replay": "a cursor never misses",
}
"""The promise that must be among the broken ones, where there is one that names the bug."""


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant) -> None:
    with plant():
        result = simulate_program(FOUND_BY[plant.__name__], patience=6 * 3600)
    broken = {violation.promise for violation in result.violations}
    assert broken
    assert SAYS.get(plant.__name__) in (None, *broken)


def test_the_program_that_was_cut_down_by_hand_breaks_nothing_without_its_bug() -> None:
    assert simulate_program(full_disk_at_the_last_entry(), patience=6 * 3600).violations == []
