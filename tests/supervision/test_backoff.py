from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervision import Backoff
from supervision.policy import next_streak, wait_before


def test_s8_ten_thousand_streaks_keep_to_the_formula() -> None:
    chance = random.Random(8)
    rule = Backoff()
    for _ in range(10_000):
        streak = 0
        for _ in range(chance.randrange(1, 12)):
            lived = chance.choice((0.0, 1.0, 119.9, 120.0, 1e6))
            streak = next_streak(rule, streak, lived)
            step = min(60.0, 2.0 ** (streak - 1))
            assert 0.5 * step <= wait_before(rule, streak, chance.random()) < step
            assert streak == 1 or lived < 120.0


def test_a_crash_streak_ends_after_a_long_run() -> None:
    assert [next_streak(Backoff(), 4, lived) for lived in (0.0, 119.9, 120.0)] == [5, 5, 1]


@given(
    first=st.floats(0, 100),
    more=st.floats(0, 1e6),
    streak=st.integers(1, 10**6),
    draw=st.floats(0, 1, exclude_max=True),
)
def test_the_wait_is_never_above_the_ceiling_and_never_overflows(
    first: float, more: float, streak: int, draw: float
) -> None:
    rule = Backoff(first, first + more)
    wait = wait_before(rule, streak, draw)
    assert 0 <= wait <= rule.ceiling
    assert wait <= wait_before(rule, streak + 1, draw)


@pytest.mark.parametrize("wrong", [{"first": -1}, {"first": 61}, {"ceiling": float("inf")}, {"reset_after": 0}])
def test_nonsense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="backoff needs"):
        Backoff(**wrong)
