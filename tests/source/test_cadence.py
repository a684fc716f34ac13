from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from actors.source.cadence import Hints, Limits, due_after, next_interval
from storage.records.identity import Millis

NOON = Millis(int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000))
seconds = st.floats(0, 1e9, allow_nan=False)


@given(seconds, st.lists(st.booleans(), max_size=50))
def test_the_interval_stays_between_floor_and_ceiling_whatever_is_seen(start: float, seen: list[bool]) -> None:
    interval = start
    for changed in seen:
        interval = next_interval(interval, changed, Limits())
        assert 60.0 <= interval <= 2700.0


def test_a_source_that_changes_is_looked_at_more_often_and_a_silent_one_less() -> None:
    assert next_interval(600.0, True, Limits()) < 600.0 < next_interval(600.0, False, Limits())


def test_a_schedule_replaces_the_adaptive_interval_and_ignores_hints() -> None:
    limits = Limits(schedule=120.0)
    assert next_interval(999.0, True, limits) == 120.0
    due = due_after(NOON, 120.0, Hints(max_age=2000.0, skip_hours=tuple(range(24))), limits, 0.5)
    assert due == NOON + 120_000


@given(seconds, seconds, seconds, st.sets(st.integers(0, 23)), st.sets(st.integers(0, 6)), st.floats(0, 0.999))
def test_no_hint_delays_a_look_beyond_the_ceiling(
    interval: float, max_age: float, ttl: float, hours: set[int], days: set[int], draw: float
) -> None:
    hints = Hints(max_age, ttl, tuple(hours), tuple(days))
    interval = next_interval(interval, False, Limits())
    assert NOON + 57_000 <= due_after(NOON, interval, hints, Limits(), draw) <= NOON + 2_700_000 * 1.05


def test_max_age_and_ttl_are_lower_bounds_of_the_wait() -> None:
    assert due_after(NOON, 60.0, Hints(max_age=600.0), Limits(), 0.5) == NOON + 600_000
    assert due_after(NOON, 60.0, Hints(ttl=900.0), Limits(), 0.5) == NOON + 900_000


def test_a_look_that_would_fall_into_a_skipped_hour_waits_for_the_ceiling() -> None:
    assert due_after(NOON, 60.0, Hints(skip_hours=(12,)), Limits(), 0.0) == NOON + 2_700_000
    assert due_after(NOON, 60.0, Hints(skip_hours=(13,)), Limits(), 0.5) == NOON + 60_000


def test_jitter_spreads_equal_intervals_over_ten_percent() -> None:
    assert due_after(NOON, 100.0, Hints(), Limits(), 0.0) == NOON + 95_000
    assert due_after(NOON, 100.0, Hints(), Limits(), 0.999) > NOON + 104_900
