"""Checks above the budget are reported, with their duration."""

from __future__ import annotations

import trio

from actors.messages.sources import DeleteSource
from actors.sources.schedule.budgets import BudgetMonitor, CheckRate
from actors.sources.schedule.silence import EVERY
from tests.actors.sources.harness import SITE, rss, watching


def test_checks_over_the_budget_are_reported_with_the_time_until_they_fit() -> None:
    spending = BudgetMonitor(10.0)
    assert spending.update(500.0, 0.0).passed == 0  # the first round has no rate yet
    assert spending.update(1700.0, 30.0) == CheckRate(40.0, 10.0, 30.0)
    assert spending.update(2900.0, 60.0) == CheckRate(40.0, 10.0, 60.0)
    assert spending.update(3200.0, 90.0) == CheckRate(10.0, 10.0, 0.0)
    assert spending.update(4400.0, 120.0).passed == 30.0


def test_a_handful_of_checks_is_never_too_many() -> None:
    spending = BudgetMonitor(0.01)
    spending.update(0.0, 0.0)
    assert spending.update(10.0, 30.0).text() == ""


def test_the_budget_sentence_has_count_reason_and_duration() -> None:
    assert CheckRate(40.3, 10.0, 20.0).text().startswith("40.3 checks per second exceed the budget of 10")
    assert "for 20 s." in CheckRate(40.3, 10.0, 20.0).text() and "for 4 min." in CheckRate(123.0, 10.0, 240.0).text()


async def test_schedules_over_the_budget_are_reported_and_logged(autojump_clock: object) -> None:
    async with watching(looks_per_second=0.05, host_rate=100.0) as (service, origin):
        for number in range(60):
            origin.bodies[f"/{number}"] = rss("Tide")
        added = [await service.add(f"https://{SITE}/{number}", schedule="1m") for number in range(60)]
        await trio.sleep(20 * EVERY)
        spent = service.registry.overdue_monitor.check_rate
        assert spent.passed >= 15 * EVERY and 0.8 < spent.rate < 1.2 and spent.text()
        assert [name for name, _ in service.logged if name.startswith("budget.")] == ["budget.passed"]
        for source in added:
            await service.registry_box.ask(lambda reply, at=source.view.source.id: DeleteSource(at, reply))
        await trio.sleep(3 * EVERY)
        assert service.registry.overdue_monitor.check_rate.text() == ""
        assert [name for name, _ in service.logged if name.startswith("budget.")] == ["budget.passed", "budget.kept"]
