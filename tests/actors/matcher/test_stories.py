"""An alert that matches each story once: its destinations get the first matching event, across restarts."""

from __future__ import annotations

from storage.records.event import Stored, id_in
from tests.actors.matcher.rig import Rig, an_alert
from tests.actors.matcher.test_actor import a_life, changed, running, wait_all_tasks_blocked
from tests.support.build import a_draft, a_source_id


async def told_again(rig: Rig, first: Stored, *titles: str, by: int = 2) -> None:
    for title in titles:
        await rig.commit_draft(a_draft(title, story=id_in(first.body)), by)
    await wait_all_tasks_blocked()


async def test_a_story_matches_once_across_restarts_and_within_one_transaction() -> None:
    rig = Rig()
    await rig.prepare(an_alert("once", once_per_story=True), an_alert("every"))
    (first,) = await rig.commit("price 1")
    await told_again(rig, first, "price 2", "price 3")
    async with running(rig):
        assert rig.outbox() == {"once-hook": ["price 1"], "every-hook": ["price 1", "price 2", "price 3"]}
    rig.restart()
    async with running(rig):
        await told_again(rig, first, "price 4")
        await rig.commit("price 5")
        await wait_all_tasks_blocked()
        assert rig.outbox()["once-hook"] == ["price 1", "price 5"]
    counts = {alert.id: alert.match_count for alert in await rig.storage.alerts.all()}
    assert counts == {"once": 2, "every": 5}


async def test_an_alert_gets_its_first_match_not_the_first_event_of_the_story() -> None:
    rig = Rig()
    two = an_alert("two", source_ids=(a_source_id(2),), once_per_story=True)
    await rig.prepare(an_alert("any", once_per_story=True), two)
    async with running(rig):
        (first,) = await rig.commit("offer 1")
        await told_again(rig, first, "price 2", by=1)
        await told_again(rig, first, "price 3", "price 4")
        assert rig.outbox() == {"any-hook": ["price 2"], "two-hook": ["price 3"]}


async def test_an_alert_that_was_off_or_met_every_event_skips_no_story() -> None:
    rig = Rig()
    await rig.prepare(an_alert("off", once_per_story=True, enabled=False), an_alert("all"))
    async with running(rig):
        (first,) = await rig.commit("price 1")
        await wait_all_tasks_blocked()
        for id in ("off", "all"):
            await rig.storage.alerts.put(an_alert(id, once_per_story=True))
        await changed(rig)
        await told_again(rig, first, "price 2", "price 3")
        assert rig.outbox() == {"off-hook": ["price 2"], "all-hook": ["price 1", "price 2"]}


async def test_a_restart_at_any_step_duplicates_no_story() -> None:
    for stop_at in range(1, 500):
        rig = Rig()
        await rig.prepare(an_alert("a", once_per_story=True))
        first, _ = await rig.commit("price 1", "price of another")
        await told_again(rig, first, "price 2", "price 3")
        done = await a_life(rig, stop_at)
        rig.restart()
        async with running(rig):
            await told_again(rig, first, "price 4")
        assert rig.outbox() == {"a-hook": ["price 1", "price of another"]}, stop_at
        if done:
            assert stop_at > 5
            return
    raise AssertionError("no life was long enough")
