from __future__ import annotations

import random

import pytest

from actors.sources.schedule.cadence import DAY, EVEN_AGE, HOUR, Rhythm, branching_of, observe, predict

MONDAY = 4 * DAY
"""Midnight of a Monday, in epoch seconds."""


def watched(times: list[float], days: float, every: float = 600.0) -> Rhythm:
    """Return the rhythm learned from checks at equal intervals."""
    rhythm, seen = Rhythm(), 0
    for look in range(1, int(days * DAY / every)):
        now, found = MONDAY + look * every, seen
        while found < len(times) and times[found] <= now:
            found += 1
        rhythm = observe(rhythm, now, every, times[seen:found])
        seen = found
    return rhythm


def at_random(a_day: float, days: int, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return sorted(MONDAY + rng.random() * days * DAY for _ in range(round(a_day * days)))


def test_the_rate_is_learned_and_chance_clusters_are_no_burst() -> None:
    rhythm = watched(at_random(12, 28), 28)
    assert rhythm.rate * DAY == pytest.approx(12, rel=0.2)
    assert branching_of(rhythm) < 0.15


def test_an_old_rate_is_forgotten() -> None:
    assert watched(at_random(24, 14), 70).rate * DAY < 1.0


def test_hours_and_weekends_are_learned() -> None:
    office = [MONDAY + day * DAY + hour * HOUR for day in range(28) if day % 7 < 5 for hour in (9, 10, 11, 12, 13, 14)]
    rhythm, next_monday = watched(office, 28), MONDAY + 28 * DAY
    at_work, at_night, on_sunday = (
        predict(rhythm, next_monday + moment).base[1] for moment in (11.5 * HOUR, 3.5 * HOUR, 6 * DAY + 11.5 * HOUR)
    )
    assert at_work > 5 * at_night and at_work > 2 * on_sunday


def test_clustered_changes_predict_a_burst_and_then_none() -> None:
    together = [MONDAY + day * DAY + (day * 7 % 24) * HOUR + n * 300.0 for day in range(27) for n in range(6)]
    rhythm = watched(together, 27.9)
    assert branching_of(rhythm) > 0.6
    now = MONDAY + 29 * DAY
    struck = observe(rhythm, now, 600.0, (now - 100.0,))
    soon, later = predict(struck, now), predict(observe(struck, now + DAY, DAY, ()), now + DAY)
    assert soon.quick + soon.slow > 10 * soon.base[1]
    assert later.quick + later.slow < later.base[1] / 100


def test_a_burst_teaches_the_hour_once() -> None:
    day = watched([MONDAY + 9.5 * HOUR + n for n in range(100)], 1.0)
    assert day.hours[9] < 2.0


def test_a_source_with_a_steady_beat_is_not_expected_right_after_it() -> None:
    beat = [MONDAY + n * 1500.0 for n in range(1, 1200)]
    rhythm = watched(beat, 20, every=300.0)
    now = beat[-1] + 20.0
    turns = predict(observe(rhythm, now, now - MONDAY - 20 * DAY + 300.0, (beat[-1],)), now).age_factors
    assert turns[5] < 0.5 and max(turns) > 1.5


def test_a_source_never_seen_to_change_has_no_ages() -> None:
    assert set(predict(watched([], 3.0), MONDAY + 3 * DAY).age_factors) == {1.0} and EVEN_AGE > 0
