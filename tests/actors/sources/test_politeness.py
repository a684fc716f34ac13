from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import trio

from storage.records.identity import Millis
from storage.records.source import WatchedSource
from tests.actors.sources.harness import ADDRESS, SITE, page, rss, watching
from tests.support.build import NOW, a_source, a_state
from tests.support.disks import keep
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web

URL = f"https://{SITE}/feed"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it."


def crowd(count: int, **wish: Any) -> Disk:
    """Return so many sources at one host, all due at once."""
    disk = Disk()
    crowd: list[WatchedSource] = []
    for number in range(count):
        source = a_source(number, url=f"https://{SITE}/{number}", **wish)
        state = a_state(source.id, b"", interval=60.0, next_look_at=Millis(NOW - 1000))
        crowd.append(WatchedSource(source, state.hot, b""))
    keep(disk, crowd)
    return disk


async def test_many_sources_of_one_host_keep_its_pace_and_share_it_fairly(autojump_clock: object) -> None:
    count = 400
    async with watching(disk=crowd(count)) as (service, origin):
        times: list[float] = []
        body = rss("a")

        def answer(asked: ReceivedRequest) -> Answer:
            origin.asked.append(asked)
            times.append(trio.current_time())
            return Answer(200, body)

        service.network.servers[ADDRESS, 443] = web(answer)
        await trio.sleep(5 * count)
        gaps = [after - before for before, after in pairwise(times)]
        assert min(gaps) > 0.99
        assert len(times) > 4.5 * count, "the host's rate is used up"
        looks = [len(origin.looks(f"/{number}")) for number in range(count)]
        assert max(looks) - min(looks) <= 1


async def test_a_source_that_wants_little_of_a_crowded_host_gets_all_of_it(autojump_clock: object) -> None:
    disk = crowd(100, schedule=60)
    modest = next(iter(disk.sources()))
    wanted = msgspec.structs.replace(disk.sources()[modest].source, schedule=200)
    keep(disk, [msgspec.structs.replace(disk.sources()[modest], source=wanted)])
    async with watching(disk=disk) as (_, origin):
        origin.bodies |= {f"/{number}": rss("a") for number in range(100)}
        await trio.sleep(3000)
        assert len(origin.looks("/0")) >= 14, "every 200 s, and not 100 s after that"
        assert len(origin.asked) > 2900


async def test_a_users_request_does_not_wait_behind_a_crowded_hosts_queue(autojump_clock: object) -> None:
    async with watching(disk=crowd(2000)) as (service, origin):
        origin.bodies |= {f"/{number}": rss("a") for number in range(2001)}
        await trio.sleep(400)
        late = max(service.disk.sources(), key=service.place)
        assert service.place(late) > 1000
        start = trio.current_time()
        await service.add(f"https://{SITE}/2000")
        assert trio.current_time() - start < 5
        looks = service.registry.table.describe(late).hot.looks
        await service.check(late)
        assert service.place(late) == 0
        await trio.sleep(3)
        assert service.registry.table.describe(late).hot.looks == looks + 1
        await trio.sleep(30)
        assert service.registry.table.describe(late).hot.looks == looks + 1, "one look was asked for, one was made"
        assert len(origin.asked) <= 1 + trio.current_time()


async def test_a_request_during_a_check_gets_the_result_of_that_check(autojump_clock: object) -> None:
    async with watching(disk=crowd(1)) as (service, origin):
        (source,) = service.disk.sources()
        slow = web(lambda asked: Answer(200, rss("a"), after=10), origin.asked)
        service.network.servers[ADDRESS, 443] = slow
        await trio.sleep(5)
        await service.check(source)
        await trio.sleep(30)
        assert len(origin.asked) == 1


async def test_a_dead_host_costs_no_checks_and_shows_in_health(autojump_clock: object) -> None:
    async with watching(disk=crowd(50)) as (service, _):
        del service.network.servers[ADDRESS, 443]
        await trio.sleep(24 * 3600)
        assert len(service.network.connected) < 150
        views = [service.registry.table.describe(source) for source in service.disk.sources()]
        assert {view.hot.health.flag for view in views} <= {"degraded", "rotten"}
        assert {event["alert_type"] for event in await service.alerts()} == {"source_failing"}
        assert len(await service.alerts()) == 50
        service.network.servers[ADDRESS, 443] = web(lambda asked: Answer(200, rss("a")))
        await trio.sleep(3600)
        views = [service.registry.table.describe(source) for source in service.disk.sources()]
        assert {view.hot.health.flag for view in views} == {"ok"}


async def test_a_host_that_asks_for_quiet_rests_with_all_its_sources_and_none_is_to_blame(
    autojump_clock: object,
) -> None:
    async with watching(disk=crowd(50)) as (service, origin):
        service.network.servers[ADDRESS, 443] = web(
            lambda asked: Answer(429, b"", {"retry-after": "1800"}), origin.asked
        )
        await trio.sleep(1790)
        assert len(origin.asked) <= 2
        views = [service.registry.table.describe(source) for source in service.disk.sources()]
        assert {(view.hot.health.score, view.hot.breaker.state) for view in views} == {(1.0, "closed")}
        service.network.servers[ADDRESS, 443] = web(lambda asked: Answer(200, rss("a")), origin.asked)
        await trio.sleep(300)
        assert len(origin.asked) >= 50


async def test_a_redirect_to_another_host_takes_a_turn_there(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        for number in range(6):
            move = web(lambda asked: Answer(301, headers={"location": URL}))
            service.network.add(f"moved{number}.example", f"93.184.217.{number}", move)
        times: list[float] = []
        inner = service.network.servers[ADDRESS, 443]

        async def timed(stream: trio.abc.Stream) -> None:
            times.append(trio.current_time())
            await inner(stream)

        service.network.servers[ADDRESS, 443] = timed
        async with trio.open_nursery() as nursery:
            for number in range(6):
                nursery.start_soon(service.add, f"http://moved{number}.example/feed")
        assert len(times) == 6
        assert min(after - before for before, after in pairwise(times)) > 0.99


async def test_hosts_that_redirect_to_each_other_do_not_hold_each_other_up(autojump_clock: object) -> None:
    async with watching(host_parallel=1) as (service, _):
        for name, other, address in (("a.example", "b.example", 1), ("b.example", "a.example", 2)):

            def answer(asked: ReceivedRequest, other: str = other) -> Answer:
                if asked.target.startswith("/end"):
                    return Answer(200, rss("a"))
                return Answer(302, headers={"location": f"http://{other}/end{asked.target}"})

            service.network.add(name, f"93.184.218.{address}", web(answer))
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(4):
                nursery.start_soon(service.add, f"http://a.example/{number}")
                nursery.start_soon(service.add, f"http://b.example/{number}")
        assert trio.current_time() - start < 12
        assert len(service.registry.table) == 8


async def test_the_robots_txt_of_a_redirects_target_is_obeyed(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT)
        source = (await service.add(f"https://{SITE}/page")).view.source.id

        def answer(asked: ReceivedRequest) -> Answer:
            if asked.target == "/robots.txt":
                return Answer(200, b"User-agent: *\nDisallow: /\n")
            raise AssertionError("a forbidden page was asked for")

        service.network.add("other.example", "93.184.219.1", web(answer), port=443)
        moved = web(lambda asked: Answer(302, headers={"location": "https://other.example/page"}))
        service.network.servers[ADDRESS, 443] = moved
        await trio.sleep(1800)
        hot = service.registry.table.describe(source).hot
        assert "robots.txt of https://other.example forbids" in (hot.last_error or "")
        assert hot.breaker.state == "open"
