from __future__ import annotations

import pytest

from actors.sources.schedule.budgets import BURST, HOUR, ItemPageBudget


def taken(budget: ItemPageBudget, since: float, until: float) -> int:
    now, count = since, 0
    while now < until:
        if wait := budget.take(now):
            now += wait + 1e-6
        else:
            count += 1
    return count


@pytest.mark.parametrize("per_hour", [1, 60, 1000])
def test_no_more_pages_are_fetched_in_an_hour_than_may_be_but_for_a_first_burst(per_hour: int) -> None:
    budget = ItemPageBudget(per_hour)
    burst = max(1, round(BURST * per_hour))
    assert per_hour <= taken(budget, 0.0, HOUR) <= per_hour + burst
    assert per_hour - 1 <= taken(budget, HOUR, 2 * HOUR) <= per_hour + 1


def test_a_quiet_time_saves_up_one_burst_only() -> None:
    budget = ItemPageBudget(100)
    budget.take(0.0)
    assert taken(budget, 1000 * HOUR, 1000 * HOUR + 1e-3) == 10
