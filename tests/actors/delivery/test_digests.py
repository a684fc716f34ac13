"""Digests from a destination's actor: frozen windows, each event in one window, clock steps."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from actors.delivery.schedule import GRACE, MOST_EVENTS
from sanderling_client.verify import check_webhook
from storage.records.destination import DeliveryMode
from storage.records.identity import Millis, parse_rfc3339, seq_of
from tests.actors.delivery.rig import Rig, answers
from tests.actors.matcher.rig import a_destination
from tests.support.build import NOW

HOUR = 3600.0
TO_THE_HOUR = HOUR - NOW / 1000 % HOUR
"""Seconds from a test's start to the next full hour."""


def bodies(rig: Rig) -> list[dict[str, Any]]:
    return [json.loads(arrival.body) for arrival in rig.arrivals]


def titles(rig: Rig) -> list[list[str]]:
    return [[event["title"] for event in body["events"]] for body in bodies(rig)]


async def test_d10_the_events_of_a_window_come_in_one_signed_digest_when_it_closes(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="hourly")
    async with rig.running():
        events = await rig.match("hook", "a", "b")
        await trio.sleep(TO_THE_HOUR - 60)
        await rig.match("hook", "c")
        assert rig.arrivals == []
        await trio.sleep(120)
        await rig.match("hook", "d")
        await trio.sleep(HOUR)
    assert titles(rig) == [["a", "b", "c"], ["d"]]
    first, second = bodies(rig)
    assert (first["count"], first["destination_id"], first["alert_id"]) == (3, "hook", "alert")
    assert first["window_end"] == second["window_start"]
    assert parse_rfc3339(first["window_end"]) == NOW + round(TO_THE_HOUR * 1000)
    arrival = rig.arrivals[0]
    assert arrival.headers["webhook-id"] == first["id"] != second["id"]
    assert seq_of(first["id"]) > events[0].seq, "an id of its own"
    assert arrival.at == pytest.approx(TO_THE_HOUR + GRACE / 1000, abs=0.1)
    now = int(arrival.headers["webhook-timestamp"])
    assert check_webhook(["whsec_AAAA"], arrival.headers, arrival.body, now=now).valid
    assert await rig.results() == ["sent", "sent"]


async def test_d10_an_empty_window_sends_nothing(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="15min")
    async with rig.running():
        await trio.sleep(5 * HOUR)
        await rig.match("hook", "a")
        await trio.sleep(5 * HOUR)
    assert titles(rig) == [["a"]]


async def test_d10_a_digest_that_fails_is_tried_again_with_the_same_id_and_bytes(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="hourly")
    rig.receivers["hook.example"] = answers(500, 500, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(TO_THE_HOUR + 3)
        await rig.match("hook", "b")
        await trio.sleep(1800)
    assert len(rig.arrivals) == 3
    assert len({(arrival.headers["webhook-id"], arrival.body) for arrival in rig.arrivals}) == 1
    assert await rig.storage.outbox.backlog("hook") == 1


async def test_d10_more_than_five_hundred_events_come_in_several_digests_of_one_window(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="hourly")
    names = [str(number) for number in range(MOST_EVENTS + 50)]
    async with rig.running():
        await rig.match("hook", *names)
        await trio.sleep(TO_THE_HOUR + 10)
    assert [body["count"] for body in bodies(rig)] == [MOST_EVENTS, 50]
    assert [name for part in titles(rig) for name in part] == names
    assert len({body["window_end"] for body in bodies(rig)}) == 1


@pytest.mark.parametrize("step", [-HOUR, HOUR, -2.5 * HOUR, 25 * HOUR])
@pytest.mark.parametrize("mode", ["15min", "hourly", "daily"])
async def test_d10_a_step_of_the_clock_loses_nothing_and_doubles_nothing(
    autojump_clock: MockClock, mode: DeliveryMode, step: float
) -> None:
    rig = Rig()
    shift = 0.0
    rig.world.now = lambda: Millis(NOW + round((trio.current_time() + shift) * 1000))
    await rig.prepare("hook", delivery_mode=mode)
    names = [str(number) for number in range(60)]
    async with rig.running():
        for name in names:
            if name == "30":
                shift = step
            await rig.match("hook", name)
            await trio.sleep(200)
        await trio.sleep(30 * HOUR)
    assert sorted(name for part in titles(rig) for name in part) == sorted(names)


@pytest.mark.parametrize("seed", range(6))
async def test_d10_over_crashes_and_changes_of_mode_every_event_is_under_one_id_and_nothing_is_lost(
    autojump_clock: MockClock, seed: int
) -> None:
    chance = random.Random(seed)
    rig = Rig()
    await rig.prepare("hook", delivery_mode="15min", digest_timezone="Europe/Stockholm")

    def crash(name: str) -> None:
        if name in ("delivery/after freeze", "delivery/after claim") and chance.random() < 0.2:
            raise RuntimeError("planned")

    rig.at_point = crash
    names = [str(number) for number in range(120)]
    async with rig.running():
        for name in names:
            await rig.match("hook", name)
            await trio.sleep(chance.expovariate(1 / 600))
            if chance.random() < 0.1:
                mode: Any = chance.choice(["instant", "15min", "hourly", "daily"])
                changed = a_destination("hook", delivery_mode=mode, digest_hour=chance.randrange(24))
                await rig.storage.alerts.put_destination(changed)
                await rig.registry.refresh()
        await trio.sleep(72 * HOUR)
    unlike = {arrival.headers["webhook-id"]: arrival.body for arrival in rig.arrivals}
    assert len(unlike) == len({(arrival.headers["webhook-id"], arrival.body) for arrival in rig.arrivals})
    told = [json.loads(body) for body in unlike.values()]
    sent = [event["title"] for body in told for event in body.get("events", [body])]
    assert sorted(sent) == sorted(names)
    assert await rig.storage.outbox.backlog("hook") == 0


async def test_d10_a_gathered_digest_survives_a_restart(autojump_clock: MockClock) -> None:
    first = Rig()
    await first.prepare("hook", delivery_mode="hourly")
    async with first.running():
        await first.match("hook", "a")
        await trio.sleep(TO_THE_HOUR - 10)
    second = Rig(first.disk)
    async with second.running():
        await trio.sleep(60)
    assert (first.arrivals, titles(second)) == ([], [["a"]])


async def test_a_digest_that_was_frozen_goes_out_also_when_its_destination_became_an_instant_one(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode="hourly")
    rig.receivers["hook.example"] = answers(500, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(TO_THE_HOUR + 2.5)
        record = a_destination("hook")
        await rig.storage.alerts.put_destination(msgspec.structs.replace(record, delivery_mode="instant"))
        await rig.registry.refresh()
        await rig.match("hook", "b")
        await trio.sleep(60)
    assert [body.get("count") for body in bodies(rig)] == [1, None, 1]
