"""Notices about destinations: emitted once despite crashes, a full recorder and a full disk."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.delivery.status import AGAIN, NoticePublisher
from storage.records.destination import Destination
from storage.records.event import Stored
from tests.actors.delivery.rig import Rig, answers

HOUR = 3600.0


async def hook_of(rig: Rig) -> Destination:
    found = await rig.storage.alerts.destination("hook")
    assert found is not None
    return found


def said(events: Any) -> list[str]:
    return [json.loads(event.body)["alert_type"] for event in events]


async def committed(rig: Rig, hours: float) -> list[Stored]:
    """Run for this time, committing every minute; return the events of the recorder."""
    events: list[Stored] = []
    for _ in range(round(hours * 60)):
        await trio.sleep(60)
        events += await rig.commit_records()
    return events


async def test_d6_a_failing_destination_is_reported_after_an_hour_half_way_and_at_the_end(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook", label="Pager")
    rig.receivers["hook.example"] = answers(503)
    async with rig.running():
        for day in range(6):
            await rig.match("hook", f"news {day}", f"more {day}")
            if day == 0:
                first = await committed(rig, 3)
                assert said(first) == ["destination_failing"]
            await trio.sleep(21 * HOUR)
            rig.logged.append(f"day {day}")
            first += await committed(rig, 3 if day else 0)
        assert said(first) == ["destination_failing", "destination_failing", "destination_disabled"]
    one = json.loads(first[0].body)
    assert one["title"] == "A destination is failing: Pager"
    assert "hook.example" in one["content"] and "HTTP 503" in one["content"] and "/in" not in one["content"]
    assert one["tags"] == ["kind:notice", "destination:hook", "alert:alert"]
    assert "hours" not in json.loads(first[2].body)["content"]
    assert ((await hook_of(rig)).state, (await hook_of(rig)).owes) == ("disabled", None)


async def test_d5_d6_gone_is_reported_at_once_and_once(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(410)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
        assert len(rig.records) == 1
        (event,) = await rig.commit_records()
        assert "410" in json.loads(event.body)["content"]
        await trio.sleep(HOUR)
        assert rig.records == []


async def test_d6_a_notice_survives_a_crash_and_is_sent_after_the_restart(autojump_clock: MockClock) -> None:
    first = Rig()
    await first.prepare("hook")
    first.receivers["hook.example"] = answers(410)
    async with first.running():
        await first.match("hook", "a")
        await trio.sleep(1)
    second = Rig(first.disk)
    second.mint = first.mint
    async with second.running():
        await trio.sleep(1)
        assert said(await second.commit_records()) == ["destination_disabled"]
    third = Rig(first.disk)
    async with third.running():
        await trio.sleep(HOUR)
        assert third.records == []


@pytest.mark.parametrize("trouble", ["full mailbox", "not committed"])
async def test_d6_a_notice_is_tried_again_until_it_is_in_the_log(autojump_clock: MockClock, trouble: str) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(410)
    rig.recorder_full = trouble == "full mailbox"
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(3 * AGAIN + 1)
        rig.recorder_full = False
        rig.records.clear()
        await trio.sleep(AGAIN)
        assert len(rig.records) == 1
        rig.records.append(rig.records[0])  # sent twice, for example because the recorder was slow
        assert said(await rig.commit_records()) == ["destination_disabled"]


async def test_d6_a_destination_that_recovers_before_its_notice_is_logged_gets_none(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.recorder_full = True
    rig.receivers["hook.example"] = answers(*[500] * 6, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(20 * HOUR)
        assert (await hook_of(rig)).owes is None
        rig.recorder_full = False
        await trio.sleep(HOUR)
        assert rig.records == []


async def test_a_notice_that_comes_up_during_a_reading_is_reported(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    publisher = NoticePublisher(rig.world, rig.storage, rig.records.append, "https://sanderling.test")
    plain, news = rig.storage.alerts.destination, 1

    async def disabled_meanwhile(destination_id: str) -> Destination | None:
        nonlocal news
        found = await plain(destination_id)
        if news:
            news = 0
            await rig.storage.alerts.edit_destination("hook", lambda it: replace(it, owes="destination_disabled"))
            publisher.enqueue("hook")
        return found

    rig.storage.alerts.destination = disabled_meanwhile  # type: ignore[method-assign]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(publisher.run)
        await trio.sleep(1)
        publisher.enqueue("hook")
        await trio.sleep(AGAIN - 2)
        nursery.cancel_scope.cancel()
    assert said(await rig.commit_records()) == ["destination_disabled"]
