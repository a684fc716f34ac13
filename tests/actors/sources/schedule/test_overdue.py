from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
from msgspec.structs import replace

from actors.sources.schedule.silence import PATIENCE, OverdueMonitor, OverdueRound
from storage.records.identity import SourceId
from tests.actors.sources.harness import SITE, Watching, rss, watching
from tests.actors.sources.test_uplink import silent_resolver

URL = f"https://{SITE}/feed"
WORST = SourceId("worst")


def test_ten_minutes_without_a_check_while_some_are_overdue_are_a_stall() -> None:
    watchman = OverdueMonitor()
    late = OverdueRound(10, 4, 4, WORST, 100)
    assert not watchman.update(late, 0.0, on_hold=False)  # checks ran since the (empty) round before
    assert not watchman.update(late, 30.0, on_hold=False)
    assert not watchman.update(late, 29.0 + PATIENCE, on_hold=False)
    assert watchman.fault() == ""
    assert watchman.update(late, 30.0 + PATIENCE, on_hold=False)
    assert watchman.stalled
    assert watchman.fault() == "no check has finished for 10 min, and 4 sources are overdue"
    assert not watchman.update(late, 60.0 + PATIENCE, on_hold=False)
    assert watchman.update(OverdueRound(10, 4, 4, WORST, 101), 90.0 + PATIENCE, on_hold=False)
    assert not watchman.stalled
    assert watchman.fault() == ""


@pytest.mark.parametrize(
    ("late", "paused"),
    [
        (OverdueRound(10, 0, 0, None, 100), False),
        (OverdueRound(10, 3, 0, None, 100), False),
        (OverdueRound(10, 9, 9, WORST, 100), True),
    ],
    ids=["nobody late", "only push sources late", "paused on purpose"],
)
def test_cases_that_are_no_stall(late: OverdueRound, paused: bool) -> None:
    watchman = OverdueMonitor()
    assert not any(watchman.update(late, 60.0 * n, on_hold=paused) for n in range(100))
    assert not watchman.stalled


Plant = Callable[[Watching], Awaitable[Callable[[], None]]]


async def stuck_host(service: Watching) -> Callable[[], None]:
    """Block the host with two requests that never end."""
    free = trio.Event()

    async def hold() -> None:
        async with service.ports.egress.hosts.turn(SITE):
            await free.wait()

    for _ in range(2):
        service.network.nursery.start_soon(hold)
    await trio.sleep(3)
    return free.set


async def stuck_workers(service: Watching) -> Callable[[], None]:
    free = trio.Event()
    jail = service.world.jail
    call = jail.call

    async def never(task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        await free.wait()
        return await call(task, request, deadline=deadline)

    jail.call = never  # type: ignore[method-assign]  # the planted fault
    return free.set


async def no_places(service: Watching) -> Callable[[], None]:
    """Take all places for concurrent checks and never free them."""
    looks = service.ports.check_slots
    tokens = [object() for _ in range(int(looks.total_tokens))]
    for token in tokens:
        looks.acquire_on_behalf_of_nowait(token)

    def free() -> None:
        for token in tokens:
            looks.release_on_behalf_of(token)

    return free


async def lost_task(service: Watching) -> Callable[[], None]:
    live = service.registry.table.get(next(iter(service.disk.sources())))
    await service.sources.stop_child(live.source.id)
    return lambda: service.registry.table.start(live)


@asynccontextmanager
async def one_source() -> AsyncIterator[tuple[Watching, SourceId]]:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(200)
        origin.bodies["/feed"] = rss("b", "a")
        yield service, source


@pytest.mark.parametrize("plant", [stuck_host, stuck_workers, no_places, lost_task])
async def test_a_stop_of_all_watching_is_reported(plant: Plant, autojump_clock: object) -> None:
    async with one_source() as (service, source):
        mend = await plant(service)
        await trio.sleep(3 * 3600)
        assert [name for name, _ in service.logged if name.startswith("watching.")] == ["watching.stalled"]
        assert "1 sources are overdue" in service.registry.overdue_monitor.fault()
        assert service.registry.table.describe(source).overdue
        assert service.registry.overdue_monitor.last.overdue == 1
        (told,) = await service.alerts()
        assert (told["alert_type"], told["source_id"]) == ("watching_stalled", source)
        mend()
        await trio.sleep(3600)
        assert [name for name, _ in service.logged if name.startswith("watching.")][1:] == ["watching.resumed"]
        assert service.registry.overdue_monitor.fault() == ""
        assert not service.registry.table.describe(source).overdue
        assert await service.news() == ["b"]


async def test_a_silent_recorder_is_a_stall_that_readiness_reports(autojump_clock: object) -> None:
    async with one_source() as (service, _):
        free = trio.Event()
        log = service.storage.log
        append = log.append

        async def never(*given: object) -> object:
            await free.wait()
            return await append(*given)  # type: ignore[arg-type]  # passed on

        log.append = never  # type: ignore[method-assign,assignment]  # the planted fault
        await trio.sleep(3 * 3600)
        assert "overdue" in service.registry.overdue_monitor.fault()
        free.set()
        await trio.sleep(3600)
        assert service.registry.overdue_monitor.fault() == ""


async def test_an_outage_of_our_own_line_is_no_stall(autojump_clock: object) -> None:
    async with watching(host_rate=100.0) as (service, origin):
        for number in range(6):
            service.network.names[f"h{number}.example"] = service.network.names[SITE]
            origin.bodies[f"/{number}"] = rss("a")
            await service.add(f"https://h{number}.example/{number}")
        mend = silent_resolver(service.network)
        await trio.sleep(3600)
        assert service.ports.egress.uplink.down
        mend()
        await trio.sleep(1800)
        assert not [name for name, _ in service.logged if name.startswith("watching.")]


async def test_a_crowded_host_makes_sources_overdue_but_is_no_stall(autojump_clock: object) -> None:
    async with watching(host_rate=0.01) as (service, origin):
        for number in range(12):
            origin.bodies[f"/{number}"] = rss("a")
            await service.add(f"https://{SITE}/{number}")
        await trio.sleep(1800)
        for live in [service.registry.table.get(source) for source in service.disk.sources()]:
            live.hot = replace(live.hot, interval=60.0)
        await trio.sleep(3 * 3600)
        assert service.registry.overdue_monitor.last.overdue >= 1
        assert not service.registry.overdue_monitor.stalled


@pytest.mark.parametrize("ahead", [2700.0, -2700.0])
async def test_a_clock_step_makes_no_interval_longer_and_no_source_overdue(
    ahead: float, autojump_clock: object
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL, schedule="30m")).view.source.id
        await trio.sleep(3600)
        before, ended = len(origin.looks("/feed")), service.world.metrics.look_delay.total
        service.ahead = ahead
        for _ in range(29):
            await trio.sleep(60)
            assert not service.registry.table.describe(source).overdue
            assert service.registry.overdue_monitor.last.overdue == 0
        await trio.sleep(600)
        assert len(origin.looks("/feed")) == before + 1
        assert service.world.metrics.look_delay.total - ended < 60
        assert not [name for name, _ in service.logged if name.startswith("watching.")]


async def test_a_source_that_never_wakes_is_late_even_after_a_clock_step(autojump_clock: object) -> None:
    async with one_source() as (service, _):
        service.ahead = 2700.0
        await lost_task(service)
        await trio.sleep(3 * 3600)
        assert service.registry.overdue_monitor.last.overdue == 1
        assert [name for name, _ in service.logged if name.startswith("watching.")] == ["watching.stalled"]
