"""Each planted bug is found by a seed, and without the bug that seed is clean. A simulation that finds none of them
would prove nothing; one that finds them everywhere, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import pytest

from sanderling.simulation.drawing.worlds import (
    draw,
    draw_disk,
    draw_in_time,
    draw_meaning,
    draw_meddled,
    draw_outage,
    draw_tight,
    draw_troubles,
)
from sanderling.simulation.oracle.promises import Violation
from sanderling.simulation.planted.catalogue import PLANTS, Plant
from sanderling.simulation.program import Program
from sanderling.simulation.run import simulate_program

TRIES = 12
"""Seeds tried for one bug. The first finds it today; a change of the product deals every seed other cards."""
PATIENCE, CALM_PATIENCE = 6 * 3600.0, 2 * 3600.0
"""Seconds for what is owed after a program's end; nobody's retries take long where nothing crashes."""

World = Callable[[str], Program]


def crashing(seed: str, *, sources: int = 4, point_crash: float = 0.05) -> Program:
    """Half a day in which everything crashes."""
    return draw(seed, days=0.5, sources=sources, point_crash=point_crash)


def restless(seed: str) -> Program:
    """A few hours in which much ends, mostly an actor alone."""
    return draw(seed, days=0.2, sources=4, point_crash=0.08, pace=300.0)


def talkative(seed: str) -> Program:
    """A few hours of more sources and more faults, in which less ends."""
    return draw(seed, days=0.3, sources=8, point_crash=0.05, pace=300.0)


def walled(seed: str) -> Program:
    """A world of walls, error pages and redirects that lead inside, and nothing else that is wrong."""
    return draw_troubles(seed, "to a private address", "wall", "error page")


def strict(seed: str) -> Program:
    """A world of hosts that want to be left alone, and of clocks that are set."""
    kinds = ("throttled", "throttled plainly", "throttled until", "robots forbids", "hangs")
    return draw_troubles(seed, *kinds, sources=8, steps=8.0)


def cut_off(seed: str) -> Program:
    """A world in which our own resolver fails for a while."""
    return draw_outage(seed, "dns")


FOUND_BY: dict[str, tuple[World, str]] = {
    "acknowledged_before_the_commit": (partial(crashing, sources=10, point_crash=0.02), "9"),
    "minted_before_the_commit": (crashing, "8"),
    "state_and_events_in_two_commits": (talkative, "2"),
    "ids_by_the_wall_clock": (crashing, "8"),
    "unseen_stays_unseen": (talkative, "3"),
    "resumes_with_the_last_event": (restless, "1"),
    "live_without_replay": (restless, "1"),
    "spins_behind_the_ring": (restless, "1"),
    "claimed_for_ever": (restless, "1"),
    "matches_after_the_cursor": (restless, "1"),
    "given_up_after_two": (talkative, "2"),
    "validators_lost_at_a_304": (walled, "4/2"),
    "validators_sent_everywhere": (walled, "4/2"),
    "retry_after_ignored": (strict, "7"),
    "dates_by_our_clock": (strict, "9"),
    "throttled_at_a_steady_pace": (strict, "7"),
    "crawl_delay_ignored": (strict, "7"),
    "twins_apart": (strict, "7"),
    "robots_forgotten": (strict, "9"),
    "redirects_unguarded": (walled, "4/2"),
    "compared_with_the_last_look": (walled, "4/2"),
    "walls_told": (walled, "4/2"),
    "identity_by_title": (walled, "4/2"),
    "absent_entries_forgotten": (walled, "4/2"),
    "resets_told": (walled, "4/2"),
    "state_without_its_base": (walled, "4/2"),
    "breaker_never_half_open": (walled, "4/2"),
    "outages_blamed_on_sources": (cut_off, "1"),
    "all_back_at_once": (cut_off, "1"),
    "dead_connections_kept": (strict, "7"),
    "batches_are_moves": (draw_in_time, "3"),
    "held_entries_vanish": (walled, "4/2"),
    "held_entries_matched": (walled, "4/2"),
    "alerts_read_now_and_then": (draw_in_time, "3"),
    "told_at_looks_only": (draw_in_time, "3"),
    "told_and_forgotten": (draw_in_time, "3"),
    "the_end_is_for_all": (draw_in_time, "3"),
    "pending_is_churn": (draw_meaning, "1"),
    "told_is_churn": (draw_meaning, "1"),
    "swaps_told_at_once": (draw_meaning, "1"),
    "swaps_never_told": (draw_meaning, "1"),
    "turns_told_for_ever": (draw_meaning, "1"),
    "returns_are_new": (draw_meaning, "1"),
    "pending_begins_anew": (draw_meaning, "1"),
    "doubts_not_read_again": (draw_meaning, "1"),
    "removals_weigh_nothing": (draw_meaning, "1"),
    "time_zones_told": (draw_meaning, "1"),
    "counters_are_limits": (draw_meaning, "1"),
    "moved_without_its_difference": (draw_meaning, "1"),
    "frames_not_restored": (draw_disk, "1"),
    "unanswered_not_read_back": (draw_disk, "1"),
    "recorder_crashes_at_a_lock": (draw_disk, "1"),
    "deleted_from_the_table_only": (draw_meddled, "1"),
    "frames_lost_at_a_stop": (draw_meddled, "1"),
    "harvests_of_any_version": (draw_meddled, "1"),
    "goes_on_behind_retention": (draw_tight, "1"),
    "gaps_at_a_pages_end": (draw_tight, "2"),
}
"""bug: the kind of world that shows it, and the likeliest seed."""

SAYS = {
    "ids_by_the_wall_clock": "L1",
    "minted_before_the_commit": "L1",
    "resumes_with_the_last_event": "R1",
    "live_without_replay": "R1",
    "validators_lost_at_a_304": "P6",
    "validators_sent_everywhere": "X3",
    "retry_after_ignored": "P4",
    "dates_by_our_clock": "P4",
    "throttled_at_a_steady_pace": "P7",
    "crawl_delay_ignored": "P3",
    "twins_apart": "P1",
    "robots_forgotten": "P5",
    "redirects_unguarded": "X1",
    "compared_with_the_last_look": "W2",
    "walls_told": "W2",
    "identity_by_title": "W4",
    "absent_entries_forgotten": "W4",
    "resets_told": "W6",
    "state_without_its_base": "W4",
    "breaker_never_half_open": "B1",
    "outages_blamed_on_sources": "B3",
    "all_back_at_once": "F10",
    "dead_connections_kept": "W9",
    "held_entries_vanish": "W10",
    "held_entries_matched": "D1",
    "told_at_looks_only": "N1",
    "told_and_forgotten": "N2",
    "the_end_is_for_all": "N2",
    "pending_is_churn": "M3",
    "told_is_churn": "T3",
    "swaps_told_at_once": "M1",
    "swaps_never_told": "T3",
    "turns_told_for_ever": "M1",
    "returns_are_new": "M2",
    "pending_begins_anew": "M3",
    "doubts_not_read_again": "T3",
    "removals_weigh_nothing": "T3",
    "time_zones_told": "M1",
    "counters_are_limits": "M1",
    "moved_without_its_difference": "M3",
    "deleted_from_the_table_only": "L5",
    "goes_on_behind_retention": "R1",
    "gaps_at_a_pages_end": "R1",
}
"""The promise that must be among the broken ones, where there is one that names the bug."""


def violations_of(program: Program) -> Sequence[Violation]:
    return simulate_program(program, patience=PATIENCE if program.point_crash else CALM_PATIENCE).violations


@cache
def clean(program: Program) -> tuple[str, ...]:
    """What is wrong in a world without a planted bug; several bugs share one."""
    return tuple(str(violation) for violation in violations_of(program))


def broken_by(plant: Plant, program: Program) -> set[str]:
    """The letters of the promises that a planted bug breaks."""
    with plant():
        return {violation.promise.split()[0] for violation in violations_of(program)}


def test_every_plant_has_its_seed() -> None:
    assert list(FOUND_BY) == [plant.__name__ for plant in PLANTS]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found_and_its_seed_is_clean_without_it(plant: Plant) -> None:
    world, seed = FOUND_BY[plant.__name__]
    said = SAYS.get(plant.__name__)
    for again in range(TRIES):
        program = world(f"{seed}/{again}" if again else seed)
        broken = broken_by(plant, program)
        if broken and said in {None, *broken}:
            break
    else:
        pytest.fail(f"{TRIES} seeds from {seed} do not find it")
    assert clean(program) == ()
