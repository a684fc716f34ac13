"""A destination that changes its mode, is disabled, or recovers: no event is lost or sent twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.destination_kinds.contract import escaped
from actors.egress.failures import PostResult
from storage.records.destination import DeliveryMode
from tests.actors.delivery.rig import Arrival, Rig, answers

HOUR = 3600.0


async def change(rig: Rig, **changes: Any) -> None:
    await rig.storage.alerts.edit_destination("hook", lambda it: replace(it, **changes))
    await rig.registry.refresh()


def told(rig: Rig) -> Counter[str]:
    """Count the events in deliveries with different ids."""
    bodies = {arrival.headers["webhook-id"]: json.loads(arrival.body) for arrival in rig.arrivals}
    return Counter(event["title"] for body in bodies.values() for event in body.get("events", [body]))


@pytest.mark.parametrize("first", ["instant", "15min", "hourly"])
@pytest.mark.parametrize("second", ["instant", "15min", "daily"])
async def test_d10_a_mode_change_with_waiting_rows_delivers_each_event_once(
    autojump_clock: MockClock, first: DeliveryMode, second: DeliveryMode
) -> None:
    rig = Rig()
    await rig.prepare("hook", delivery_mode=first)
    rig.receivers["hook.example"] = answers(200, takes=3.0)
    names = [str(number) for number in range(30)]
    async with rig.running():
        await rig.match("hook", *names[:20])
        await trio.sleep(5)
        await change(rig, delivery_mode=second)
        await rig.match("hook", *names[20:])
        await trio.sleep(10)
        await change(rig, delivery_mode=first)
        await trio.sleep(49 * HOUR)
    assert told(rig) == Counter(names)
    assert await rig.storage.outbox.backlog("hook") == 0


async def test_d10_a_row_waiting_for_a_retry_goes_into_the_digest(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 500, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(60)
        await change(rig, delivery_mode="hourly")
        await trio.sleep(2 * HOUR)
    bodies = [json.loads(arrival.body) for arrival in rig.arrivals]
    assert [body.get("count") for body in bodies] == [None, None, 1]
    assert await rig.results() == ["retry", "retry", "sent"]


async def test_a_new_url_is_for_the_next_request_also_while_many_wait(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, takes=10.0)
    rig.receivers["new.example"] = answers(200)
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(30)])
        await trio.sleep(5)
        await change(rig, url="https://new.example/in")
        await trio.sleep(60)
    assert Counter(arrival.host for arrival in rig.arrivals) == {"hook.example": 4, "new.example": 26}


async def test_d10_rows_claimed_before_a_disable_go_out_in_the_mode_of_the_enable(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, takes=10.0)
    names = [str(number) for number in range(12)]
    async with rig.running():
        await rig.match("hook", *names)
        await trio.sleep(5)
        await change(rig, enabled=False)
        await trio.sleep(HOUR)
        under_way = len(rig.arrivals)
        await change(rig, enabled=True, delivery_mode="15min")
        await trio.sleep(HOUR)
    digests = [json.loads(arrival.body) for arrival in rig.arrivals[under_way:]]
    assert [event["title"] for body in digests for event in body["events"]] == names


async def test_claimed_deliveries_go_to_the_url_at_the_time_of_resuming(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, takes=10.0)
    async with rig.running():
        await rig.match("hook", *"abcdefghijkl")
        await trio.sleep(5)
        await change(rig, enabled=False)
        await change(rig, enabled=True, url="https://elsewhere.example/")
        await trio.sleep(60)
    assert len(rig.ids("hook.example")) == 4
    assert len(set(rig.ids("elsewhere.example"))) == 12


async def test_d6_rows_waiting_at_a_disable_go_out_at_the_enable(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(410, 200)
    async with rig.running():
        first = await rig.match("hook", "a")
        await trio.sleep(1)
        await rig.match("hook", "b", nudge=False)
        await trio.sleep(HOUR)
        disabled = await rig.storage.alerts.destination("hook")
        assert disabled is not None and disabled.missed_after == first[0].seq - 1, "what was given up is missed"
        await change(rig, state="active", failing_since=None, told=0)
        await trio.sleep(1)
    assert told(rig) == Counter("ab")
    assert await rig.results() == ["given_up", "sent"]


async def test_d6_a_disabled_destination_misses_later_matches(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, 500)
    async with rig.running():
        await rig.match("hook", "good")
        await trio.sleep(1)
        for day in range(6):
            last = await rig.match("hook", f"bad {day}")
            await trio.sleep(24 * HOUR)
        record = await rig.storage.alerts.destination("hook")
        assert record is not None and record.state == "disabled"
        dead = await rig.storage.outbox.attempts("hook", 99, "given_up")
        assert record.missed_after is not None
        assert record.missed_after < last[0].seq
        assert (record.missed_after == await rig.storage.outbox.cursor("matcher")) == (dead == [])


async def test_d13_an_attempt_has_the_receivers_answer(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")

    async def rude(arrival: Arrival) -> PostResult:
        return PostResult(500, 7, b"no\r\n\x1b[31m" + b"x" * 2000, None)

    rig.receivers["hook.example"] = rude
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
    (line,) = await rig.storage.outbox.attempts("hook", 9)
    assert line.response_excerpt.startswith("no\\r\\n\\x1b[31mxxx") and len(line.response_excerpt) == 1024
    assert line.error is not None and len(line.error) < 300 and line.next_at is not None


async def test_a_redirecting_receiver_is_reported_with_its_new_address(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")

    async def moved(arrival: Arrival) -> PostResult:
        return PostResult(301, 7, b"<html>Moved", None, "https://www.hook.example/in")

    rig.receivers["hook.example"] = moved
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
    (line,) = await rig.storage.outbox.attempts("hook", 9)
    assert line.error is not None
    assert "HTTP 301 to https://www.hook.example/in; set that address" in line.error


@pytest.mark.parametrize("code", [*range(32), 0x7F, 0x85, 0x200B, 0x2028, 0x202E, 0xFEFF])
def test_d13_no_character_of_a_response_moves_a_cursor_or_hides(code: int) -> None:
    shown = escaped(f"a{chr(code)}b".encode())
    assert shown.isprintable() and shown.startswith("a\\") and shown.endswith("b")
    assert escaped(bytes(range(256)) * 8).isprintable()
