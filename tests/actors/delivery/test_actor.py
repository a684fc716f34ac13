from __future__ import annotations

import json

import pytest
import trio
from trio.testing import MockClock

from actors import signatures
from actors.egress.failures import Blame, CheckFailed, PostResult
from actors.errors import UrlRefused
from actors.messages.workers import TestDelivery as AskForTest
from actors.signatures import jwks
from sanderling_client.verify import check_encoded, check_webhook
from storage.records.destination import Secret
from storage.records.identity import Millis
from tests.actors.delivery.rig import Arrival, Rig, answers
from tests.actors.matcher.rig import a_destination
from tests.support.build import NOW

HOUR = 3600.0


async def test_an_event_arrives_as_it_was_stored_with_its_own_id_and_a_signature_that_verifies(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        (event,) = await rig.match("hook", "ärende")
        await trio.sleep(1)
    (arrival,) = rig.arrivals
    assert arrival.body == event.body
    assert arrival.headers["webhook-id"] == json.loads(event.body)["id"]
    assert arrival.headers["Content-Type"] == "application/json"
    assert await rig.results() == ["sent"]
    assert check_webhook(["whsec_AAAA"], arrival.headers, arrival.body, now=NOW // 1000).valid


async def test_d2_d3_a_repeat_has_the_same_id_and_bytes_and_a_fresh_timestamp_and_signature(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 500, 200)
    async with rig.running():
        await rig.match("hook", "news")
        await trio.sleep(HOUR)
    assert len(rig.arrivals) == 3
    assert len({(each.headers["webhook-id"], each.body) for each in rig.arrivals}) == 1
    for arrival in rig.arrivals:
        headers, now = arrival.headers, int(NOW / 1000 + arrival.at)
        assert int(headers["webhook-timestamp"]) == now
        signed = headers["webhook-signature"]
        assert signed == signatures.sign_webhook(["whsec_AAAA"], headers["webhook-id"], now, arrival.body)
    assert await rig.results() == ["retry", "retry", "sent"]


async def test_d4_a_receiver_that_never_answers_well_is_given_up_after_the_whole_schedule(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(503)
    async with rig.running():
        await rig.match("hook", "news")
        await trio.sleep(100 * HOUR)
    assert await rig.results() == ["retry"] * 9 + ["given_up"]
    assert 0.8 * 75.6 * HOUR < rig.arrivals[-1].at < 1.2 * 75.6 * HOUR
    attempts = await rig.storage.outbox.attempts("hook", 1)
    assert attempts[0].error == "HTTP 503 <no>"
    assert await rig.storage.outbox.backlog("hook") == 0


async def test_d5_redirects_are_failures_and_gone_disables_at_once(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(302, 410)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(HOUR)
        await rig.match("hook", "b")
        await trio.sleep(HOUR)
    assert await rig.results() == ["retry", "given_up"]
    record = await rig.storage.alerts.destination("hook")
    assert record is not None
    assert record.state == "disabled"
    assert await rig.storage.outbox.backlog("hook") == 1
    assert "delivery.destination_disabled" in rig.logged


async def test_d7_first_attempts_start_in_order_and_a_failing_event_holds_up_no_newer_one(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")

    async def only_first_fails(arrival: Arrival) -> PostResult:
        return PostResult(500 if b'"title":"0"' in arrival.body else 200, 1, b"", None)

    rig.receivers["hook.example"] = only_first_fails
    async with rig.running():
        events = await rig.match("hook", *[str(number) for number in range(40)])
        await trio.sleep(1)
    ids = rig.ids()
    assert ids[:40] == [json.loads(event.body)["id"] for event in events]


async def test_d7_a_failing_destination_is_tried_by_one_request_at_a_time_until_it_is_well(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(*[500] * 30, 200, takes=1.0)
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(30)])
        await trio.sleep(3)
        rig.most_under_way = 0
        await trio.sleep(20)
        assert rig.most_under_way == 1
        await trio.sleep(2 * HOUR)
    assert rig.most_under_way == 4
    assert await rig.storage.outbox.backlog("hook") == 0
    record = await rig.storage.alerts.destination("hook")
    assert record is not None
    assert (record.state, record.failing_since) == ("active", None)


async def test_d8_at_most_four_requests_to_a_destination_are_under_way(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(200, takes=5)
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(20)])
        await trio.sleep(26)
    assert (rig.most_under_way, len(await rig.results())) == (4, 20)


async def test_d8_a_stalled_destination_delays_no_other(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("slow", "quick")

    async def stall(arrival: Arrival) -> PostResult:
        await trio.sleep(15)
        raise CheckFailed(Blame.REMOTE_TRANSIENT, "no answer after 15 s")

    rig.receivers["slow.example"] = stall
    async with rig.running():
        await rig.match("slow", *[str(number) for number in range(50)])
        await trio.sleep(1)
        for number in range(20):
            sent = trio.current_time()
            await rig.match("quick", f"q{number}")
            await trio.sleep(0.5)
            assert rig.arrivals[-1].host == "quick.example"
            assert rig.arrivals[-1].at - sent < 0.1


async def test_a_stalled_request_leaves_room_for_the_destinations_other_events(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")

    async def first_stalls(arrival: Arrival) -> PostResult:
        if b'"title":"0"' in arrival.body:
            await trio.sleep(14)
        return PostResult(200, 1, b"", None)

    rig.receivers["hook.example"] = first_stalls
    async with rig.running():
        await rig.match("hook", "0")
        await trio.sleep(1)
        await rig.match("hook", *[str(number) for number in range(1, 40)])
        await trio.sleep(0.5)
        assert len(await rig.results()) == 39


async def test_d11_during_a_rotation_two_tokens_are_sent_and_then_one(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", secrets=(Secret("whsec_BBBB"), Secret("whsec_AAAA", until=Millis(NOW + 60_000))))
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(61)
        await rig.match("hook", "b")
        await trio.sleep(1)
    assert [each.headers["webhook-signature"].count("v1,") for each in rig.arrivals] == [2, 1]


async def test_d12_a_test_takes_the_same_way_and_differs_in_content_only(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        mailbox = rig.registry.mailbox("hook")
        assert mailbox is not None
        result = await mailbox.ask(AskForTest)
        await rig.match("hook", "live")
        await trio.sleep(1)
    assert (result.result, result.status_code, result.latency_ms) == ("sent", 200, 10)
    test, live = rig.arrivals
    assert [*test.headers] == [*live.headers]
    assert check_encoded(test.body, jwks(await rig.storage.keys.signing())).valid
    event = json.loads(test.body)
    assert (event["id"], "test delivery" in event["content"]) == (test.headers["webhook-id"], True)
    assert await rig.results() == ["sent"]


async def test_d12_a_good_test_ends_a_run_of_failures_and_retries_at_once(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500)
    async with rig.running():
        await rig.match("hook", "a", "b")
        await trio.sleep(12 * 3600)
        assert (hook := await rig.storage.alerts.destination("hook")) and hook.state == "failing"
        rig.receivers["hook.example"] = answers(200)
        rig.arrivals.clear()
        mailbox = rig.registry.mailbox("hook")
        assert mailbox is not None
        result = await mailbox.ask(AskForTest)
        assert (result.result, result.retried) == ("sent", 2)
        assert (hook := await rig.storage.alerts.destination("hook")) and hook.state == "active"
        await trio.sleep(1)
        assert len(rig.arrivals) == 3 and (await rig.results())[-2:] == ["sent", "sent"]


@pytest.mark.parametrize(("status", "result"), [(500, "retry"), (410, "terminal")])
async def test_d12_a_test_that_fails_says_how(autojump_clock: MockClock, status: int, result: str) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(status)
    async with rig.running():
        mailbox = rig.registry.mailbox("hook")
        assert mailbox is not None
        found = await mailbox.ask(AskForTest)
    assert (found.result, found.detail) == (result, f"HTTP {status} <no>")


async def test_d9_d14_a_request_without_an_answer_is_retried(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    failures: list[Exception] = [
        CheckFailed(Blame.REMOTE_TRANSIENT, "connection lost"),
        UrlRefused("private", "10.0.0.1 is a private address"),
        CheckFailed(Blame.LOCAL, "no route"),
    ]

    async def fail(arrival: Arrival) -> PostResult:
        if failures:
            raise failures.pop(0)
        return PostResult(200, 1, b"", None)

    rig.receivers["hook.example"] = fail
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(2 * HOUR)
    errors = [each.error for each in reversed(await rig.storage.outbox.attempts("hook", 9))]
    assert errors == ["connection lost", "10.0.0.1 is a private address (rule: private)", "no route", None]


async def test_rows_that_wait_are_found_at_the_start_without_a_nudge(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    await rig.match("hook", "a", nudge=False)
    await rig.storage.outbox.claim("hook", NOW, 10, rig.storage.lease)
    async with rig.running():
        await trio.sleep(1)
    assert len(rig.arrivals) == 1


@pytest.mark.parametrize("point", ["delivery/after claim", "delivery/after 2xx", "delivery/after settle"])
async def test_d2_a_crash_of_the_actor_at_any_point_loses_nothing_and_repeats_only_the_unsettled(
    autojump_clock: MockClock, point: str
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    crashes = 0

    def crash(name: str) -> None:
        nonlocal crashes
        if name == point and crashes < 2:
            crashes += 1
            raise RuntimeError("planted")

    rig.at_point = crash
    async with rig.running():
        events = await rig.match("hook", *[str(number) for number in range(70)])
        await trio.sleep(HOUR)
    assert crashes == 2
    assert {*rig.ids()} == {json.loads(event.body)["id"] for event in events}
    assert await rig.results() == ["sent"] * 70


@pytest.mark.parametrize("after", [0.002, 0.005, 0.011, 0.012, 0.02])
async def test_d1_d2_ended_at_any_moment_the_next_process_delivers_the_rest_with_the_same_bytes(
    autojump_clock: MockClock, after: float
) -> None:
    first = Rig()
    await first.prepare("hook")
    async with first.running():
        events = await first.match("hook", *[str(number) for number in range(20)])
        await trio.sleep(after)
    second = Rig(first.disk)
    async with second.running():
        await trio.sleep(HOUR)
    sent = {(each.headers["webhook-id"], each.body) for each in [*first.arrivals, *second.arrivals]}
    assert sent == {(json.loads(event.body)["id"], event.body) for event in events}
    assert await second.storage.outbox.backlog("hook") == 0


async def test_a_destination_that_was_added_gets_an_actor_and_a_deleted_one_loses_it(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare()
    async with rig.running():
        assert rig.registry.mailbox("hook") is None
        await rig.storage.alerts.put_destination(a_destination("hook"))
        await rig.registry.refresh()
        assert rig.registry.mailbox("hook") is not None
        await rig.storage.alerts.delete_destination("hook")
        await rig.registry.refresh()
        assert rig.registry.mailbox("hook") is None
        assert len(rig.destinations) == 0


async def test_d8_five_thousand_idle_destinations_cost_no_nursery_and_nothing_is_sent(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare(*[f"h{number}" for number in range(5_000)])
    async with rig.running():
        await trio.sleep(1)
        assert rig.destinations.statistics().running == 5_000
        await rig.match("h77", "a")
        await trio.sleep(1)
        assert [each.host for each in rig.arrivals] == ["h77.example"]
