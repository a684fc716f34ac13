"""A full disk delays deliveries: no actor crashes, nothing is lost or sent twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest
import trio
from trio.testing import MockClock

from storage.append import Lease
from storage.errors import Unavailable
from storage.records.destination import Destination, Outcome
from tests.actors.delivery.rig import Rig, answers
from tests.actors.delivery.test_digests import TO_THE_HOUR, titles

Trouble = Literal["full", "before", "after"]
TROUBLES: tuple[Trouble, ...] = ("full", "before", "after")


def break_disk(rig: Rig, trouble: Trouble | None) -> None:
    rig.disk.full = trouble == "full"
    rig.disk.silent = trouble if trouble in ("before", "after") else "no"


async def test_deliveries_begin_once_there_is_room_and_the_tree_stays_up_meanwhile(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    await rig.match("hook", "news", nudge=False)
    rig.disk.full = True
    async with rig.running():
        await trio.sleep(600)
        await rig.registry.refresh()
        assert rig.arrivals == []
        rig.disk.full = False
        await trio.sleep(10)
    assert len(rig.arrivals) == 1


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_rows_that_can_not_be_claimed_wait_and_each_is_sent_once(
    autojump_clock: MockClock, trouble: Trouble
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        events = await rig.match("hook", *[str(number) for number in range(40)], nudge=False)
        break_disk(rig, trouble)
        rig.registry.nudge("hook")
        await trio.sleep(600)
        assert rig.arrivals == []
        break_disk(rig, None)
        await trio.sleep(10)
        assert rig.destinations.statistics().restarts == 0
    assert rig.ids() == [json.loads(event.body)["id"] for event in events]
    assert await rig.storage.outbox.backlog("hook") == 0
    assert rig.logged.count("delivery.parked") == 1


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_an_outcome_that_cannot_be_written_is_held_and_sending_pauses(
    autojump_clock: MockClock, trouble: Trouble
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, takes=1.0)
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(40)])
        await trio.sleep(0.5)
        break_disk(rig, trouble)
        await trio.sleep(600)
        assert len(rig.arrivals) <= 5, "those under way, and one before it was noticed"
        break_disk(rig, None)
        await trio.sleep(30)
        assert rig.destinations.statistics().restarts == 0
    assert len(rig.ids()) == len({*rig.ids()}) == 40
    assert await rig.results() == ["sent"] * 40


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_change_of_state_is_stored_and_reported_once_when_storage_is_back(
    autojump_clock: MockClock, trouble: Trouble
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(410, takes=1.0)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(0.5)
        break_disk(rig, trouble)
        await trio.sleep(60)
        break_disk(rig, None)
        await trio.sleep(60)
        found = await rig.storage.alerts.destination("hook")
        assert found is not None and found.state == "disabled"
        events: list[Any] = list(await rig.commit_records())
        await trio.sleep(600)
        assert [json.loads(event.body)["alert_type"] for event in events] == ["destination_disabled"]
        assert list(await rig.commit_records()) == []


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_digest_that_can_not_be_frozen_is_made_when_storage_is_back(
    autojump_clock: MockClock, trouble: Trouble
) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="hourly")
    async with rig.running():
        await rig.match("hook", "a", "b")
        break_disk(rig, trouble)
        await trio.sleep(TO_THE_HOUR + 600)
        assert rig.arrivals == []
        break_disk(rig, None)
        await trio.sleep(30)
        assert rig.destinations.statistics().restarts == 0
    assert titles(rig) == [["a", "b"]]


async def test_a_failed_query_for_the_next_due_row_is_retried_soon(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 200)
    refused, real = list[float](), rig.storage.outbox.next_due

    async def next_due(*given: Any, **named: Any) -> Any:
        if len(rig.arrivals) == 1 and len(refused) < 3:
            refused.append(trio.current_time())
            raise Unavailable("away")
        return await real(*given, **named)

    monkeypatch.setattr(rig.storage.outbox, "next_due", next_due)
    async with rig.running():
        await rig.match("hook", "news")
        await trio.sleep(300)
    assert max(later - sooner for sooner, later in pairwise(refused)) == pytest.approx(5)
    assert len(rig.arrivals) == 2, "the second try came in time, though nobody could say when it was due"


async def test_dates_from_a_wrong_clock_are_rechecked_hourly(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    clamped, real = list[float](), rig.storage.outbox.clamp

    async def clamp(*given: Any) -> Any:
        clamped.append(trio.current_time())
        return await real(*given)

    monkeypatch.setattr(rig.storage.outbox, "clamp", clamp)
    async with rig.running():
        for number in range(30):
            await rig.match("hook", str(number))
            await trio.sleep(100)
        assert len(clamped) == 1
        await trio.sleep(3600)
    assert len(clamped) == 2


async def test_an_outcome_that_can_not_be_stored_during_a_reading_is_stored_soon(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 200, takes=0.5)
    read, settle, refused = rig.storage.alerts.destination, rig.storage.outbox.settle, 0

    async def slowly(destination_id: str) -> Destination | None:
        await trio.sleep(1)
        return await read(destination_id)

    async def refuse_once(outcomes: Sequence[Outcome], lease: Lease, *, may_wait: bool = False) -> None:
        nonlocal refused
        refused += 1
        if refused == 1:
            raise Unavailable("SQLite: disk I/O error")
        await settle(outcomes, lease, may_wait=may_wait)

    rig.storage.alerts.destination = slowly  # type: ignore[method-assign]
    rig.storage.outbox.settle = refuse_once  # type: ignore[method-assign]
    async with rig.running():
        await trio.sleep(3)
        await rig.match("hook", "news", nudge=False)
        rig.registry.on_clock_step()  # the reading for the claim takes from 3 to 4 s, the next one from 4 to 5 s
        await trio.sleep(1.2)
        rig.registry.on_clock_step()
        await trio.sleep(30)
    assert len(rig.arrivals) == 2
