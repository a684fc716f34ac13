from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.event import Bounds
from storage.records.identity import START, Millis, Seq, seq_at
from storage.retention import (
    LEAST,
    LITTLE,
    SLICE,
    FreeSpace,
    Keep,
    Trust,
    most_aged,
    next_return,
    next_slice,
    too_roomy,
)


def test_an_empty_log_needs_nothing() -> None:
    assert next_slice(Keep(Millis(1), 1), Bounds(Seq(9), START, Seq(9)), 0, Millis(10**12)) is None


def test_without_bounds_nothing_goes() -> None:
    assert next_slice(Keep(), Bounds(START, Seq(1), Seq(2)), 2, Millis(10**12)) is None


@pytest.mark.parametrize("keep", [{"age": Millis(0)}, {"events": 0}, {"age": Millis(-5)}])
def test_keeping_nothing_is_refused(keep: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="would keep nothing"):
        Keep(**keep)  # type: ignore[arg-type]


@given(
    st.lists(st.integers(0, 1_000), min_size=1, max_size=60, unique=True),
    st.one_of(st.none(), st.integers(1, 900)),
    st.one_of(st.none(), st.integers(1, 60)),
)
def test_repeated_slices_end_and_leave_exactly_the_retained_events(
    minutes: list[int], age: int | None, most: int | None
) -> None:
    now, minute = 1_000, 60_000
    log = sorted(seq_at(Millis(at * minute)) for at in minutes)
    keep = Keep(None if age is None else Millis(age * minute), most)
    fresh = [seq for seq in log if age is None or seq >= seq_at(Millis((now - age) * minute))]
    expected = fresh if most is None else fresh[-most:]
    newest = log[-1]
    for _ in range(1_000):
        bounds = Bounds(START, log[0] if log else START, newest)
        cut = next_slice(keep, bounds, len(log), Millis(now * minute))
        if cut is None:
            break
        assert 0 < cut.limit <= SLICE
        doomed = [seq for seq in log if seq < cut.before][: cut.limit]
        assert doomed, "a slice that deletes nothing would be asked for again for ever"
        log = log[len(doomed) :]
    assert log == expected


def test_too_many_bytes_take_the_oldest_events_and_leave_the_least() -> None:
    log = Bounds(START, Seq(1), Seq(5_000))
    keep = Keep(weight=10_000)
    assert next_slice(keep, log, 5_000, Millis(1), weight=10_000) is None
    assert next_slice(keep, log, 5_000, Millis(1), weight=10_001) == (Seq(5_001), SLICE, False)
    assert next_slice(keep, log, LEAST + 7, Millis(1), weight=10_001) == (Seq(5_001), 7, False)
    assert next_slice(keep, log, LEAST, Millis(1), weight=10_001) is None


@given(st.integers(1, 1 << 40), st.floats(0, 1))
def test_a_vacuum_ends_and_does_not_start_again(whole: int, share: float) -> None:
    room = FreeSpace(whole, int(whole * share))
    began = too_roomy(room)
    assert (next_return(room) > 0) or not began
    # After all steps: the free space is an eighth of the file, or a little.
    kept = max(LITTLE, room.used // 7)
    after = FreeSpace(room.used + kept, kept)
    assert next_return(after) <= 1 and not too_roomy(after)


HOUR = 3_600_000
NEWEST = Millis(1_800_000_000_000)


def at(milliseconds: float) -> Millis:
    return Millis(round(NEWEST + milliseconds))


def test_r7_a_clock_that_is_months_ahead_at_a_start_is_doubted_for_an_hour_of_steady_time() -> None:
    trust = Trust(NEWEST, 0.0)
    for seconds in (0, 600, 3_599):
        assert trust.ahead(at(100 * 24 * HOUR + 1000 * seconds), seconds) > 99 * 24 * HOUR
    assert not trust.ahead(at(100 * 24 * HOUR + HOUR), 3_600)


def test_r7_a_second_clock_jump_is_doubted_and_a_corrected_clock_is_trusted_at_once() -> None:
    trust = Trust(NEWEST, 0.0)
    assert trust.ahead(at(100 * 24 * HOUR), 0)
    assert trust.ahead(at(200 * 24 * HOUR), 3_600)
    assert trust.ahead(at(200 * 24 * HOUR + HOUR / 2), 5_400)
    assert not trust.ahead(at(2 * HOUR), 7_200)
    assert trust.ahead(at(4.5 * HOUR), 7_800), "by now it is known to the hour what it must show"


def test_r7_a_pause_of_a_day_and_a_clock_that_is_behind_and_an_empty_log_are_no_reason_to_doubt() -> None:
    assert not Trust(NEWEST, 0.0).ahead(at(23 * HOUR), 0)
    assert not Trust(NEWEST, 0.0).ahead(at(-500 * 24 * HOUR), 0)
    assert not Trust(None, 0.0).ahead(at(500 * 24 * HOUR), 0)


@pytest.mark.parametrize(("age", "count", "most"), [(90 * 24 * HOUR, 5_000_000, 250_000), (None, 10, LEAST)])
def test_r7_a_round_deletes_a_part_of_the_log_by_age(age: Any, count: int, most: int) -> None:
    assert most_aged(Keep(age=age), count, 600) == most


def test_r7_a_retention_of_minutes_is_not_delayed() -> None:
    assert most_aged(Keep(age=Millis(15 * 60_000)), 1_000_000, 600) > 1_000_000


def test_an_event_of_the_very_millisecond_is_not_too_old_and_does_not_hide_that_there_are_too_many() -> None:
    bounds = Bounds(START, seq_at(Millis(1_000)), seq_at(Millis(9_000)))
    assert next_slice(Keep(Millis(9_000), 5), bounds, 7, Millis(10_000)) == (Seq(bounds.newest + 1), 2, False)
    assert next_slice(Keep(Millis(9_000)), bounds, 7, Millis(10_000)) is None
