from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sources.schedule.silence import (
    DAY,
    KEPT,
    QUARTER,
    VERSION,
    SilenceState,
    after_change,
    after_watching,
    decode,
    encode,
    silence_chance,
)
from storage.records.identity import Millis

HOUR = 3600.0


def after_gaps(gaps: list[float], *, silent: float = 0.0, watched: float = 365 * DAY) -> SilenceState:
    """Return a source watched for so long, with these last gaps, and silent since."""
    pulse = SilenceState(watched=watched)
    for gap in gaps:
        pulse = after_change(after_watching(pulse, gap, defect=False))
    return after_watching(pulse, silent, defect=False)


def test_a_memory_comes_back_as_it_was_saved() -> None:
    pulse = after_gaps([60.0 * n for n in range(1, 300)], silent=7200.0)
    whole = SilenceState(
        pulse.gaps, pulse.gaps, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0b1011, 3, Millis(1_780_000_000_000), "degraded"
    )
    assert decode(encode(whole)) == whole
    assert len(encode(whole)) == 296


@given(st.binary(max_size=300))
def test_an_unreadable_memory_starts_fresh(memory: bytes) -> None:
    if memory[:1] != bytes([VERSION]):
        assert decode(memory) == SilenceState()
    silence_chance(decode(memory))


def test_the_newest_gaps_are_stored() -> None:
    assert len(after_gaps([HOUR] * 500).gaps) == KEPT


@pytest.mark.parametrize(
    ("gaps", "watched"), [([HOUR] * 7, 365 * DAY), ([HOUR] * 100, DAY)], ids=["seven gaps", "five days"]
)
def test_no_verdict_before_enough_is_known(gaps: list[float], watched: float) -> None:
    assert silence_chance(after_gaps(gaps, silent=3 * DAY, watched=watched)) == 1.0


def test_no_verdict_while_it_has_been_as_quiet_before() -> None:
    weekend = after_gaps([600.0] * 60 + [62 * HOUR] + [600.0] * 100)
    assert silence_chance(after_watching(weekend, 90 * HOUR, defect=False)) == 1.0
    assert silence_chance(after_watching(weekend, 95 * HOUR, defect=False)) < 0.1


def test_the_longest_silence_is_forgotten_after_90_days_of_watching() -> None:
    pulse = after_gaps([20 * DAY] + [DAY] * 44)
    assert pulse.longest == 20 * DAY or pulse.longest_before == 20 * DAY
    later = after_gaps([20 * DAY] + [DAY] * round(2 * QUARTER / DAY))
    assert max(later.longest, later.longest_before) == DAY


def test_the_defect_rate_covers_the_newest_twenty_checks() -> None:
    pulse = SilenceState()
    for defect in [True] * 5 + [False] * 12 + [True] * 3:
        pulse = after_watching(pulse, 60.0, defect=defect)
    assert pulse.partial == 0.4
    for _ in range(20):
        pulse = after_watching(pulse, 60.0, defect=False)
    assert pulse.partial == 0.0


@given(st.lists(st.floats(1, 1e7), min_size=8, max_size=200), st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_longer_silence_is_never_more_likely(gaps: list[float], one: float, other: float) -> None:
    pulse = after_gaps(gaps)
    shorter, longer = sorted((one, other))
    chance = silence_chance(after_watching(pulse, shorter, defect=False))
    assert 0.0 <= silence_chance(after_watching(pulse, longer, defect=False)) <= chance <= 1.0
