from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sources.schedule.budgets import LOWEST, Price
from actors.sources.schedule.cadence import (
    DAY,
    HOUR,
    START_INTERVAL,
    VERSION,
    Hints,
    Limits,
    Pace,
    Rhythm,
    decode,
    encode,
    fresh_rhythm,
    interval_of,
    learn,
)
from storage.records.identity import Millis

NOW = Millis(1_780_000_000_000)
CHEAP = Price(LOWEST)


def watched(looks: int, every: int = 600_000, news: int = 7) -> Pace:
    """Return a memory after checks with a change at every `news`-th, stored and read back each time."""
    pace, before = Pace(), NOW
    for look in range(1, looks):
        now, changed = Millis(NOW + look * every), look % news == 0
        pace = decode(encode(Pace(learn(pace.rhythm, now, before, (), changed), pace.hints)))
        before = now
    return pace


def test_a_memory_comes_back_as_it_was_saved() -> None:
    pace = Pace(watched(500).rhythm, Hints(60.0, 900.0, (1, 2), (6,)))
    assert decode(encode(pace)) == pace


def test_a_memory_is_less_than_400_bytes_however_busy_the_source_and_many_its_hints() -> None:
    hints = Hints(1e9, 1e9, tuple(range(24)), tuple(range(7)))
    assert len(encode(Pace(watched(3000, every=60_000, news=1).rhythm, hints))) <= 400


@given(st.binary(max_size=300))
def test_an_unreadable_memory_starts_fresh(memory: bytes) -> None:
    if memory[:1] != bytes([VERSION]):
        assert decode(memory) == Pace(fresh_rhythm(START_INTERVAL))
    decode(memory)


def test_a_lost_memory_begins_at_the_last_interval() -> None:
    for interval in (120.0, 600.0, 1800.0):
        again = decode(b"\x01another version", interval).rhythm
        assert interval_of(again, NOW / 1000, CHEAP, Limits()) == pytest.approx(interval, rel=0.03)


@given(st.lists(st.integers(-(10**12), 10**12), max_size=20), st.booleans(), st.integers(-(10**10), 10**12))
def test_nothing_that_a_source_says_of_its_times_breaks_the_memory(times: list[int], changed: bool, gap: int) -> None:
    dates = [Millis(NOW + at) for at in times]
    for before in (None, Millis(NOW - gap)):
        rhythm = learn(Rhythm(), NOW, before, dates, changed)
        assert 60.0 <= interval_of(decode(encode(Pace(rhythm))).rhythm, NOW / 1000, CHEAP, Limits()) <= 2700.0


def test_the_dates_of_a_first_check_are_a_history() -> None:
    hourly = [Millis(NOW - n * 3_600_000) for n in range(1, 30)]
    rhythm = learn(fresh_rhythm(START_INTERVAL), NOW, None, hourly, False)
    assert rhythm.rate * HOUR == pytest.approx(1.0, rel=0.1)
    yearly = learn(fresh_rhythm(START_INTERVAL), NOW, None, [Millis(NOW - 365 * 86_400_000)], False)
    assert yearly == fresh_rhythm(START_INTERVAL)


def test_dates_outside_the_time_between_two_checks_are_not_believed() -> None:
    before = Millis(NOW - 600_000)
    for date in (NOW - 86_400_000, NOW + 86_400_000):
        assert learn(Rhythm(), NOW, before, [Millis(date)], True).last == NOW / 1000 - 300
    assert learn(Rhythm(), NOW, before, [Millis(NOW - 1000)], True).last == NOW / 1000 - 1
    assert learn(Rhythm(), NOW, before, [Millis(NOW - 1000)], False).last == 0


def test_a_year_without_a_check_is_no_year_of_silence() -> None:
    rhythm = learn(Rhythm(10.0, 10 * DAY), NOW, Millis(NOW - 365 * 86_400_000), (), False)
    assert rhythm.rate * DAY > 0.3
