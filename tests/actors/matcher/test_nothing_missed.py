"""Cases that the matcher must not miss: unannounced changes, batches during a busy time, events lost to retention."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from storage.errors import Unavailable
from tests.actors.matcher.rig import Rig, a_destination
from tests.actors.matcher.test_actor import changed, running
from tests.storage.contract.builders import an_alert
from tests.support.disks import set_cursor


async def test_r4_an_alert_of_a_cancelled_request_applies_to_the_next_event() -> None:
    rig = Rig()
    await rig.prepare(an_alert("old"))
    async with running(rig):
        await rig.prepare_only(an_alert("new"))  # stored, but not announced
        await rig.commit("price 1")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"old-hook": ["price 1"], "new-hook": ["price 1"]}
        assert await rig.is_settled()


async def test_r6_an_event_during_a_busy_matcher_is_matched_without_another_one(autojump_clock: object) -> None:
    rig = Rig(bound=2)
    await rig.prepare(an_alert(filter_query=""))
    async with running(rig):
        real = rig.storage.alerts.all

        async def slow() -> Any:
            await trio.sleep(3)
            return await real()

        rig.storage.alerts.all = slow  # type: ignore[method-assign]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(changed, rig)
            await trio.sleep(0.1)
            for number in range(4):
                await rig.commit(str(number))
        await trio.sleep(60)
        assert await rig.is_settled()


async def test_r2_a_backlog_without_alerts_delays_no_start_and_is_not_read_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("actors.matcher.MOST_EVENTS", 3)
    rig = Rig()
    await rig.prepare(an_alert(filter_query="nobody asks for this"))
    await rig.commit(*[f"news {number}" for number in range(10)])
    async with running(rig):
        await wait_all_tasks_blocked()
        assert rig.points.count("matcher/after advance") == 4


async def test_r9_events_deleted_before_matching_are_reported(autojump_clock: object) -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    first = await rig.commit("price 1")
    set_cursor(rig.disk, "matcher", first[0].seq)
    await rig.commit("price 2", "price 3")
    await rig.storage.log.retain(rig.disk.head(), 2, rig.storage.lease)
    async with running(rig):
        await trio.sleep(1)
        assert "matcher.missed" in rig.logged
        assert rig.outbox() == {"alert-hook": ["price 3"]}


async def test_a_matcher_that_resumes_at_its_cursor_reports_no_gap() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    for title in ("price 1", "price 2"):
        await rig.commit(title)
        async with running(rig):
            await wait_all_tasks_blocked()
    assert "matcher.missed" not in rig.logged
    assert rig.outbox() == {"alert-hook": ["price 1", "price 2"]}


async def test_one_event_that_a_thousand_destinations_wait_for_reaches_all_of_them() -> None:
    """All its rows are one transaction, however many: a cursor past the event must leave none behind."""
    rig = Rig()
    await rig.prepare(*[an_alert(f"alert{number}") for number in range(3)])
    for number in range(1_000):
        await rig.storage.alerts.put_destination(a_destination(f"hook{number}", f"alert{number % 3}"))
    async with running(rig):
        await rig.commit("price 1")
        await wait_all_tasks_blocked()
        assert len(rig.outbox()) == 1_003
        assert set(map(tuple, rig.outbox().values())) == {("price 1",)}


async def test_a_matcher_that_storage_does_not_answer_is_ready_and_begins_when_it_does(autojump_clock: object) -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    await rig.commit("price 1")
    real, ready = rig.storage.outbox.cursor, []

    async def away(name: str) -> Any:
        if trio.current_time() < 10:
            raise Unavailable("the disk does not answer")
        return await real(name)

    rig.storage.outbox.cursor = away  # type: ignore[method-assign]
    child: Any = SimpleNamespace(ready=lambda: ready.append(trio.current_time()), note=lambda text: None)
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.matcher().run, child)
        await trio.sleep(30)
        nursery.cancel_scope.cancel()
    assert ready[0] == began
    assert rig.outbox() == {"alert-hook": ["price 1"]}
