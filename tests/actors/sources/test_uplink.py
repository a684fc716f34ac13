from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
import trio
from msgspec.structs import replace

from actors.egress.uplink import SPREAD
from actors.errors import DomainError, Overloaded, UrlRefused
from actors.world import ResolveFailed
from storage.records.identity import Millis
from storage.records.source import WatchedSource
from tests.actors.sources.harness import Watching, rss, watching
from tests.support.build import NOW, a_source, a_state
from tests.support.disks import keep
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, web

OUTAGE = 20 * 60.0
MORE = {"host_rate": 1000.0, "host_parallel": 100}
Break = Callable[[MemoryNetwork], Callable[[], None]]


class Library:
    """Many sources on separate hosts, due one after the other, and the times of their checks.

    answered: when each has answered last, None for never.
    """

    def __init__(self, count: int, *, every: float = 1200.0, answered: Millis | None = NOW) -> None:
        self.disk = Disk()
        self.looks: list[float] = []
        self.first: dict[str, float] = {}
        """First check of each host since a test cleared this."""
        self.count = count
        watched = []
        for number in range(count):
            source = a_source(number)
            due = Millis(NOW + round(1000 * every * (number + 1) / count))
            state = a_state(source.id, b"", interval=every, next_look_at=due, last_success_at=answered)
            watched.append(WatchedSource(source, state.hot, b""))
        keep(self.disk, watched)

    def join(self, network: MemoryNetwork) -> None:
        body = rss("a")

        def answer(asked: ReceivedRequest) -> Answer:
            self.looks.append(trio.current_time())
            self.first.setdefault(asked.headers["host"], trio.current_time())
            return Answer(200, body)

        for number in range(self.count):
            network.add(f"site{number}.test", _address(number), web(answer))
            network.servers[_address(number), 443] = network.servers[_address(number), 80]

    def within(self, start: float, end: float) -> int:
        return sum(1 for at in self.looks if start <= at < end)


def _address(number: int) -> str:
    return f"93.184.{number // 250}.{1 + number % 250}"


def silent_resolver(network: MemoryNetwork) -> Callable[[], None]:
    names = dict(network.names)
    network.names = {name: [ResolveFailed("no answer after 10 s", local=True)] for name in names}

    def mend() -> None:
        network.names = dict(names)

    return mend


def no_route(network: MemoryNetwork) -> Callable[[], None]:
    network.errors = {
        address: OSError(errno.ENETUNREACH, "Network is unreachable") for address, _ in list(network.servers)
    }
    return network.errors.clear


def deaf_uplink(network: MemoryNetwork) -> Callable[[], None]:
    network.deaf = {address for address, _ in network.servers}
    return network.deaf.clear


def hijacked_names(network: MemoryNetwork) -> Callable[[], None]:
    names = dict(network.names)
    network.names = {name: [("192.168.1.1",)] for name in names}

    def mend() -> None:
        network.names = dict(names)

    return mend


def logged(service: Watching, name: str) -> int:
    return sum(1 for said, _ in service.logged if said == name)


@pytest.mark.parametrize(("trouble", "count"), [(silent_resolver, 1_000), (no_route, 250)], ids=["DNS", "no route"])
async def test_b3_an_outage_of_ours_blames_no_source_and_its_end_is_no_stampede(
    trouble: Break, count: int, autojump_clock: object
) -> None:
    library = Library(count)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        await trio.sleep(60)
        before = len(library.looks)
        assert before > count / 25
        mend = trouble(service.network)
        await trio.sleep(OUTAGE)
        assert len(library.looks) == before
        assert len(service.network.resolved) < before + OUTAGE / 5 + 20, "looks pause, but for the trials"
        assert (logged(service, "egress.down"), logged(service, "egress.up")) == (1, 0)
        mend()
        back = trio.current_time()
        library.first.clear()
        await trio.sleep(60 + SPREAD)
        assert (logged(service, "egress.down"), logged(service, "egress.up")) == (1, 1)
        minutes = Counter(int((at - back) // 60) for at in library.first.values())
        busiest = max(minutes.values())
        assert busiest <= 1.5 * count / (SPREAD / 60) + 5, "spread over ten minutes"
        views = [service.registry.table.describe(source) for source in library.disk.sources()]
        assert {view.hot.breaker.state for view in views} == {"closed"}
        assert {view.hot.health.score for view in views} == {1.0}
        assert all(view.hot.last_success_at is not None for view in views)


async def test_b3_an_outage_on_all_hosts_is_our_uplinks(
    autojump_clock: object,
) -> None:
    library = Library(120, every=120.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        await trio.sleep(125)
        mend = deaf_uplink(service.network)
        await trio.sleep(OUTAGE)
        assert service.ports.egress.uplink.down
        tried = len(library.looks)
        mend()
        await trio.sleep(90)
        assert not service.ports.egress.uplink.down
        assert len(library.looks) > tried
        await trio.sleep(SPREAD)
        views = [service.registry.table.describe(source) for source in library.disk.sources()]
        assert {view.hot.health.score for view in views} == {1.0}
        opened = sum(view.hot.breaker.state != "closed" for view in views)
        assert opened == 0


async def test_b3_one_dead_host_with_many_sources_is_not_our_line(autojump_clock: object) -> None:
    library = Library(50, every=60.0)
    for source, watched in library.disk.sources().items():
        moved = replace(watched.source, watch_url=f"https://site0.test/{source}")
        keep(library.disk, [replace(watched, source=moved)])
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        service.network.deaf.add(_address(0))
        await trio.sleep(3600)
        assert logged(service, "egress.down") == 0


async def test_a_source_added_during_an_outage_is_not_refused_permanently(autojump_clock: object) -> None:
    async with watching() as (service, _):
        silent_resolver(service.network)
        with pytest.raises(Overloaded, match="our own network"):
            await service.add("https://site.example/feed")


async def test_many_hosts_that_died_for_good_do_not_stop_the_watching_of_the_rest(autojump_clock: object) -> None:
    library = Library(30, every=60.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        service.network.deaf.update(_address(number) for number in range(28))
        await trio.sleep(3600)
        assert logged(service, "egress.down") == 1, "dead hosts make no second outage"
        views = [service.registry.table.describe(source).hot for source in library.disk.sources()]
        assert sum(hot.breaker.state == "open" for hot in views) >= 20
        start = trio.current_time()
        await trio.sleep(3600)
        assert library.within(start, start + 3600) >= 2


async def test_s2_the_import_of_many_dead_feeds_keeps_the_watching_going(autojump_clock: object) -> None:
    library = Library(80, every=60.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        for number in range(200):  # half do not resolve, the others have no machine
            gone: list[Sequence[str] | ResolveFailed] = [ResolveFailed("no answer", local=True)]
            service.network.names[f"dead{number}.test"] = gone if number % 2 else [("93.184.240.1",)]
        await trio.sleep(120)
        before, start = len(library.looks), trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(200):
                nursery.start_soon(_named, service, f"https://dead{number}.test/feed", True)
        await trio.sleep_until(start + 120)
        assert logged(service, "egress.down") == 0
        assert library.within(start, start + 120) >= 0.5 * before


async def test_s2_sources_that_never_answered_hold_nothing_however_many(autojump_clock: object) -> None:
    library = Library(120, every=120.0, answered=None)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        deaf_uplink(service.network)
        service.network.deaf -= {_address(number) for number in range(20)}
        await trio.sleep(3600)
        assert logged(service, "egress.down") == 0
        assert set(library.first) == {f"site{number}.test" for number in range(20)}


async def test_s2_a_url_that_a_person_enters_says_nothing_about_the_uplink(
    autojump_clock: object,
) -> None:
    async with watching(**MORE) as (service, _):
        for number in range(30):
            service.ports.egress.uplink.answered(f"wild{number}.test")
        await trio.sleep(61)
        for number in range(30):
            service.network.names[f"wild{number}.test"] = [ResolveFailed("no such name", local=False)]
            await _named(service, f"https://wild{number}.test/feed", False)
        assert not service.ports.egress.uplink.down


async def test_s2_redirects_that_the_guard_refuses_hold_nothing(autojump_clock: object) -> None:
    library = Library(30, every=60.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        inside = web(lambda asked: Answer(302, b"", {"location": "http://10.0.0.21/"}))
        for number in range(18):
            service.network.servers[_address(number), 80] = inside
            service.network.servers[_address(number), 443] = inside
        await trio.sleep(600)
        assert logged(service, "egress.down") == 0
        assert all(library.first.get(f"site{number}.test") for number in range(18, 30))


async def test_s2_hijacked_names_are_refused_by_the_guard_and_heal_by_themselves(autojump_clock: object) -> None:
    library = Library(40, every=120.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        await trio.sleep(125)
        mend = hijacked_names(service.network)
        await trio.sleep(OUTAGE)
        assert not service.ports.egress.uplink.down
        mend()
        await trio.sleep(4 * 3600)
        views = [service.registry.table.describe(source) for source in library.disk.sources()]
        assert {view.hot.breaker.state for view in views} == {"closed"}


async def test_a1_a_refusal_by_the_guard_stays_one_with_any_uplink_state(autojump_clock: object) -> None:
    library = Library(60, every=60.0)
    async with watching(disk=library.disk, **MORE) as (service, _):
        library.join(service.network)
        for number in range(40):
            with pytest.raises(UrlRefused):
                await service.add(f"http://10.0.0.{number}/feed")
        assert not service.ports.egress.uplink.down
        await trio.sleep(60)
        silent_resolver(service.network)
        await trio.sleep(120)
        assert service.ports.egress.uplink.down
        with pytest.raises(UrlRefused):
            await service.add("http://10.0.0.99/feed")


async def _named(service: Watching, url: str, later: bool) -> None:
    with suppress(DomainError):
        await service.add(url, verify="later" if later else "now")
