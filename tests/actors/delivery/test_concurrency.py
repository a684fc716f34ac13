"""Limits for all destinations together, and for the cost of a stalled one to the others."""

from __future__ import annotations

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.delivery.claims import MOST_ADDITIONAL, MOST_PER_HOST, MOST_REQUESTS, MOST_SLOW, ConcurrencyLimiter
from actors.egress.address import HostAliases
from actors.egress.failures import Blame, CheckFailed, PostResult
from storage.records.destination import QuietHours
from tests.actors.delivery.rig import Arrival, Rig, answers
from tests.actors.matcher.rig import a_destination
from tests.support.disks import keep_destinations


async def stall(arrival: Arrival) -> PostResult:
    await trio.sleep(15)
    raise CheckFailed(Blame.REMOTE_TRANSIENT, "no answer after 15 s")


async def test_x11_thousands_of_alerts_on_one_url_make_four_requests_to_it_at_once(autojump_clock: MockClock) -> None:
    rig = Rig()
    names = [f"h{number}" for number in range(2_000)]
    await rig.prepare()
    keep_destinations(rig.disk, [replace(a_destination(name), url="https://victim.example/in") for name in names])
    rig.receivers["victim.example"] = answers(200, takes=1.0)
    async with rig.running():
        for name in names[:300]:
            await rig.match(name, "news")
        await trio.sleep(30)
        assert rig.most_under_way == 4
        assert 100 <= len(rig.arrivals) <= 124


async def test_x11_many_names_of_one_machine_have_no_more_than_five_destinations(autojump_clock: MockClock) -> None:
    rig = Rig()
    names = [f"n{number}" for number in range(30)]
    await rig.prepare(*names)
    for name in names:
        rig.aliases.record(f"{name}.example", ["93.184.216.34", "93.184.216.35"])
        rig.receivers[f"{name}.example"] = answers(200, takes=1.0)
    async with rig.running():
        for name in names:
            await rig.match(name, *[str(number) for number in range(8)])
        await trio.sleep(30)
    assert rig.most_under_way == MOST_PER_HOST
    assert len({*rig.ids()}) == 30 * 8


async def test_d8_no_more_than_two_hundred_requests_are_under_way(autojump_clock: MockClock) -> None:
    rig = Rig()
    names = [f"h{number}" for number in range(120)]
    await rig.prepare(*names)
    for name in names:
        rig.receivers[f"{name}.example"] = answers(200, takes=1.0)
    async with rig.running():
        for name in names:
            await rig.match(name, *[str(number) for number in range(8)])
        await trio.sleep(60)
    assert rig.most_under_way == MOST_REQUESTS
    assert len({*rig.ids()}) == 120 * 8


async def test_d8_stalled_destinations_delay_the_others_less_than_a_tenth_of_a_second(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    slow, quick = [f"slow{number}" for number in range(10)], [f"quick{number}" for number in range(40)]
    await rig.prepare(*slow, *quick)
    for name in slow:
        rig.receivers[f"{name}.example"] = stall
    delays: list[float] = []
    async with rig.running():
        for name in slow:
            await rig.match(name, *[str(number) for number in range(100)])
        for number in range(600):
            name, sent, before = quick[number % 40], trio.current_time(), len(rig.arrivals)
            await rig.match(name, f"{number}")
            await trio.sleep(0.25)
            delays += [each.at - sent for each in rig.arrivals[before:] if each.host == f"{name}.example"]
    assert len(delays) == 600
    assert sorted(delays)[594] < 0.1


@pytest.mark.parametrize("stalling", [60, 90])
async def test_d8_many_destinations_that_stall_at_once_delay_a_healthy_one_less_than_a_tenth_of_a_second(
    autojump_clock: MockClock, stalling: int
) -> None:
    rig = Rig()
    slow = [f"slow{number}" for number in range(stalling)]
    await rig.prepare(*slow, "quick")
    for name in slow:
        rig.receivers[f"{name}.example"] = stall
    delays: list[float] = []
    async with rig.running():
        for name in slow:
            await rig.match(name, *[str(number) for number in range(12)])
        for number in range(240):
            sent, before = trio.current_time(), len(rig.arrivals)
            await rig.match("quick", f"{number}")
            await trio.sleep(0.25)
            delays += [each.at - sent for each in rig.arrivals[before:] if each.host == "quick.example"]
        assert rig.most_under_way > 2 * stalling or rig.most_under_way >= stalling + MOST_ADDITIONAL
    assert len(delays) == 240
    assert max(delays) < 0.1


async def test_d8_destinations_known_to_be_slow_leave_a_quarter_of_the_room_free(autojump_clock: MockClock) -> None:
    room, arrived = ConcurrencyLimiter(HostAliases().address_of), list[float]()

    async def one(url: str, takes: float) -> None:
        async with room.slot(url):
            arrived.append(trio.current_time())
            await trio.sleep(takes)

    async with trio.open_nursery() as nursery:
        for number in range(MOST_REQUESTS + 100):
            nursery.start_soon(one, f"https://s{number}.example/", 15)
        await trio.sleep(0.5)
        assert len(arrived) == MOST_REQUESTS
        await trio.sleep(30)
        for number in range(MOST_REQUESTS + 100):
            nursery.start_soon(one, f"https://s{number}.example/", 15)
        await trio.sleep(0.5)
        arrived.clear()
        await one("https://quick.example/", 0.1)
        assert trio.current_time() - arrived[0] == pytest.approx(0.1)
        assert f"{MOST_SLOW} by slow ones" in repr(room)


async def test_a_quick_answer_makes_up_for_a_slow_one(autojump_clock: MockClock) -> None:
    room, url = ConcurrencyLimiter(HostAliases().address_of), "https://a.example/"
    for takes, shown in ((2.0, 0), (0.1, 1), (0.1, 0)):
        async with room.slot(url):
            assert f"{shown} by slow ones" in repr(room)
            await trio.sleep(takes)


async def test_empty_lanes_are_forgotten(autojump_clock: MockClock) -> None:
    room, under_way = ConcurrencyLimiter(HostAliases().address_of), 0

    async def one(number: int) -> None:
        nonlocal under_way
        async with room.slot(f"https://a.example/{number % 3}"):
            under_way += 1
            assert under_way <= 12
            await trio.sleep(1)
            under_way -= 1

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(one, number)
        await trio.sleep(0.5)
        with trio.move_on_after(2) as impatient:  # behind seventeen others, four at a time
            await one(0)
        assert impatient.cancelled_caught
        nursery.start_soon(one, 1)
    assert repr(room) == "<ConcurrencyLimiter 0/200 taken, 0 by slow ones, 0 lanes>"


async def test_the_slow_url_of_longest_ago_is_forgotten_first(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.delivery.claims.REMEMBERED", 2)
    room = ConcurrencyLimiter(lambda host: host)
    for name in ("a", "b", "c"):
        async with room.slot(f"https://{name}.example/"):
            await trio.sleep(2)
    taken = []
    for name in ("a", "b", "c"):
        async with room.slot(f"https://{name}.example/"):
            taken.append("1 by slow ones" in repr(room))
    assert taken == [False, True, True]


async def test_only_plain_http_uses_the_client_for_opened_networks(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("tls")
    keep_destinations(rig.disk, [replace(a_destination("plain"), url="http://plain.example/in")])
    async with rig.running():
        await rig.match("tls", "news")
        await rig.match("plain", "news")
        await trio.sleep(5)
    assert sorted(arrival.host for arrival in rig.arrivals) == ["plain.example", "tls.example"]
    assert rig.plainly == ["plain.example"]


async def test_a_lane_is_forgotten_when_its_last_request_is_over(autojump_clock: MockClock) -> None:
    room = ConcurrencyLimiter(lambda host: host)

    async def post(seconds: float) -> None:
        async with room.slot("https://a.example/"):
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(post, 1.0)
        nursery.start_soon(post, 3.0)
        await trio.sleep(2)
        assert "2 lanes" in repr(room)
    assert "0 lanes" in repr(room)


async def test_a_destination_says_why_it_sends_nothing(autojump_clock: MockClock) -> None:
    rig = Rig()
    all_day = QuietHours("00:00", "23:59", "UTC")
    await rig.prepare("plain")
    keep_destinations(rig.disk, [replace(a_destination("quiet"), quiet_hours=all_day)])
    async with rig.running():
        await trio.sleep(5)
        notes = {id: rig.destinations.status(id).note for id in ("plain", "quiet")}
    assert notes == {"plain": "waiting", "quiet": "quiet"}


async def test_a_url_is_taken_until_the_last_request_to_it_has_ended_and_then_forgotten(
    autojump_clock: MockClock,
) -> None:
    room, url, seen = ConcurrencyLimiter(lambda host: host), "https://a.example/", list[int]()

    async def ask(seconds: float) -> None:
        async with room.slot(url):
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        for seconds in (1.0, 2.0):
            nursery.start_soon(ask, seconds)
        for moment in (0.5, 1.0):
            await trio.sleep(moment)
            seen.append(room._admitted[url])
    assert seen == [2, 1]
    assert not room._admitted


async def test_a_concurrent_slot_is_released(autojump_clock: MockClock) -> None:
    room, url, ended = ConcurrencyLimiter(lambda host: host), "https://a.example/", list[float]()

    async def ask() -> None:
        async with room.slot(url):
            await trio.sleep(1)
            ended.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        began = trio.current_time()
        for _ in range(4 * (MOST_ADDITIONAL + 20)):
            nursery.start_soon(ask)
    assert ended[-1] - began == pytest.approx(MOST_ADDITIONAL + 20)  # four at a time, to the end
