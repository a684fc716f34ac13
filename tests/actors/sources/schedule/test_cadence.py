from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sources.schedule.budgets import Price
from actors.sources.schedule.cadence import (
    DAY,
    HOUR,
    Hints,
    Limits,
    PredictedRate,
    Rhythm,
    balance,
    due_after,
    fresh_rhythm,
    interval_of,
)
from storage.records.identity import Millis

NOON = Millis(int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000))
MOMENT = NOON / 1000
seconds = st.floats(0, 1e9, allow_nan=False)
counts = st.floats(0, 1e4, allow_nan=False, width=32)


def steady(a_day: float, days: float = 28.0) -> Rhythm:
    """Return a source with so many changes a day, at any hour."""
    seen = a_day * days
    return Rhythm(seen, days * DAY, (seen / 24,) * 24, (seen / 7,) * 7, trials=100.0, last=MOMENT - DAY)


def steadily(rate: float, quick: float = 0.0) -> PredictedRate:
    return PredictedRate(MOMENT, (rate,) * 3, quick, 0.0)


@given(
    st.floats(0.1, 1e6),
    st.floats(1, 1e9),
    st.lists(counts, min_size=24, max_size=24),
    st.lists(counts, min_size=7, max_size=7),
    st.tuples(counts, counts, st.floats(0, 50), st.floats(50, 51)),
    st.floats(0.01, 1e6),
    st.floats(0, 1),
)
def test_the_interval_stays_between_floor_and_ceiling_after_any_history(
    events: float,
    span: float,
    hours: list[float],
    days: list[float],
    burst: tuple[float, ...],
    value: float,
    even: float,
) -> None:
    rhythm = Rhythm(events, span, tuple(hours), tuple(days), *burst, last=MOMENT - 60)
    assert 60.0 <= interval_of(rhythm, MOMENT, Price(value, even), Limits()) <= 2700.0


@pytest.mark.parametrize("rate", [1 / HOUR, 6 / DAY, 1 / DAY])
def test_a_steady_rate_is_checked_by_the_square_root_rule(rate: float) -> None:
    assert balance(steadily(rate), 20.0, 60.0, 2700.0) == pytest.approx(min(2700, (2 * 20.0 / rate) ** 0.5), rel=0.02)


def test_a_busy_source_is_checked_more_often_and_one_that_never_changes_at_the_ceiling() -> None:
    price, limits = Price(5.0), Limits()
    busy, daily, silent = (interval_of(steady(rate), MOMENT, price, limits) for rate in (24.0, 1.0, 0.0001))
    assert busy < daily < silent == pytest.approx(2700.0)


def test_a_burst_is_checked_soon_and_a_calm_moment_is_not() -> None:
    calm = balance(steadily(1 / DAY), 5.0, 60.0, 2700.0)
    assert balance(steadily(1 / DAY, quick=1 / 600), 5.0, 60.0, 2700.0) < calm / 3


def test_checks_come_after_an_expected_change_and_not_before() -> None:
    rising = PredictedRate(0.0, (0.0001, 0.0001, 0.002), 0.0, 0.0)
    falling = PredictedRate(0.0, (0.002, 0.002, 0.0001), 0.0, 0.0)
    steady_wait = balance(PredictedRate(0.0, (0.002,) * 3, 0.0, 0.0), 5760.0, 60.0, 3600.0)
    assert balance(falling, 5760.0, 60.0, 3600.0) < steady_wait <= balance(rising, 5760.0, 60.0, 3600.0)


def test_a_daily_habit_moves_checks_to_its_hour() -> None:
    hours = tuple(20.0 if hour in (11, 12, 13) else 0.0 for hour in range(24))
    rhythm = Rhythm(60.0, 28 * DAY, hours, (60 / 7,) * 7, trials=50.0, last=MOMENT - DAY)
    at_noon, at_night = (interval_of(rhythm, MOMENT + 12 * HOUR * n, Price(5.0), Limits()) for n in (0, 1))
    assert at_noon < at_night / 2


def test_a_fresh_source_is_checked_every_two_to_six_minutes_for_an_hour_then_backs_off_to_the_ceiling() -> None:
    waits = [
        interval_of(Rhythm(seconds=fresh_rhythm(120.0).seconds + hours * HOUR), MOMENT, Price(0.01), Limits())
        for hours in (0, 1, 6, 24, 24 * 7)
    ]
    assert [round(wait / 60) for wait in waits] == [2, 6, 14, 29, 45]


def test_a_schedule_replaces_the_adaptive_interval_and_ignores_hints() -> None:
    limits = Limits(schedule=120.0)
    assert interval_of(Rhythm(), MOMENT, Price(), limits) == 120.0
    due = due_after(NOON, 120.0, Hints(max_age=2000.0, skip_hours=tuple(range(24))), limits, 0.5)
    assert due == NOON + 120_000


@given(
    st.floats(60, 2700), seconds, seconds, st.sets(st.integers(0, 23)), st.sets(st.integers(0, 6)), st.floats(0, 0.999)
)
def test_neither_hint_nor_jitter_passes_the_floor_or_the_ceiling(
    interval: float, max_age: float, ttl: float, hours: set[int], days: set[int], draw: float
) -> None:
    hints = Hints(max_age, ttl, tuple(hours), tuple(days))
    assert NOON + 60_000 <= due_after(NOON, interval, hints, Limits(), draw) <= NOON + 2_700_000


def test_max_age_and_ttl_are_lower_bounds_of_the_wait() -> None:
    assert due_after(NOON, 60.0, Hints(max_age=600.0), Limits(), 0.5) == NOON + 600_000
    assert due_after(NOON, 60.0, Hints(ttl=900.0), Limits(), 0.5) == NOON + 900_000


def test_a_check_that_would_fall_into_a_skipped_hour_waits_for_the_ceiling() -> None:
    assert due_after(NOON, 60.0, Hints(skip_hours=(12,)), Limits(), 0.0) == NOON + 2_700_000
    assert due_after(NOON, 60.0, Hints(skip_hours=(13,)), Limits(), 0.5) == NOON + 60_000


def test_jitter_spreads_equal_intervals_over_ten_percent() -> None:
    assert due_after(NOON, 100.0, Hints(), Limits(), 0.0) == NOON + 95_000
    assert due_after(NOON, 100.0, Hints(), Limits(), 0.999) > NOON + 104_900
