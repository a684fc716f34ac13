from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.sources.schedule.budgets import COURTESY, HIGHEST, LOWEST, Price, adjusted_price, first_guess


def test_a_check_is_never_worth_less_than_courtesy() -> None:
    assert Price(LOWEST, 0.5).weigh(1.0) == COURTESY
    assert Price(50.0, 1.0).weigh(0.001) == COURTESY


@given(st.floats(LOWEST, HIGHEST), st.floats(0, 1e6), st.floats(0.01, 1e4), st.floats(0, 1e5))
@example(1.0, 5e-324, 2.0, 60.0)
def test_the_price_stays_within_its_bounds(value: float, planned: float, budget: float, seconds: float) -> None:
    assert LOWEST <= adjusted_price(value, planned, budget, seconds) <= HIGHEST


def settled(sources: float, budget: float, hours: float, value: float = 1.0) -> list[float]:
    """Return checks a second, minute by minute, of sources that follow the price after a mean wait."""
    planned, found = sources / 300.0, []
    for _ in range(round(hours * 60)):
        wait = math.sqrt(2 * value * 86_400)
        planned += (sources / wait - planned) * min(1.0, 60.0 / wait)
        value = adjusted_price(value, planned, budget, 60.0)
        found.append(planned)
    return found


@pytest.mark.parametrize("sources", [3_000.0, 10_000.0, 24_000.0])
def test_the_controller_brings_the_checks_to_the_budget_within_hours_and_keeps_them_there(sources: float) -> None:
    looks = settled(sources, 10.0, 24.0)
    assert all(9.5 <= rate <= 10.5 for rate in looks[12 * 60 :])


def test_sources_that_double_are_back_on_budget_within_hours() -> None:
    value = 2 * first_guess(10_000, 10.0, 2700.0)
    assert settled(20_000, 10.0, 12.0, value)[-1] == pytest.approx(10.0, rel=0.05)


def test_the_first_price_suits_sources_of_average_pace() -> None:
    assert first_guess(10_000, 10.0, 2700.0) == pytest.approx(1000.0**2 / 172_800)
    assert first_guess(0, 10.0, 2700.0) == LOWEST
