from __future__ import annotations

from itertools import pairwise

import pytest
import trio
import trio.testing
from trio.abc import Clock

from actors.egress.failures import Blame
from actors.egress.hosts import FAILURES_TO_OPEN, INTERACTIVE, HostOpen, Hosts, TurnRequest
from tests.support.memory_network import MemoryNetwork, a_world, settings


@pytest.fixture
def hosts(nursery: trio.Nursery) -> Hosts:
    return Hosts(a_world(MemoryNetwork(nursery)), settings())


async def visit(hosts: Hosts, host: str, times: list[float] | None = None, takes: float = 0.0) -> None:
    async with hosts.turn(host):
        if times is not None:
            times.append(trio.current_time())
        await trio.sleep(takes)


async def refusal(hosts: Hosts, host: str) -> HostOpen:
    with pytest.raises(HostOpen) as caught:
        await visit(hosts, host)
    return caught.value


async def fail(hosts: Hosts, host: str, *sources: str) -> None:
    for source in sources:
        hosts.failed(host, source)


async def test_ten_thousand_requests_to_one_host_keep_rate_and_order(autojump_clock: Clock, hosts: Hosts) -> None:
    order: list[int] = []
    times: list[float] = []

    async def look(number: int) -> None:
        async with hosts.turn("a.example"):
            order.append(number)
            times.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        for number in range(10_000):
            nursery.start_soon(look, number)
            if number % 100 == 0:
                await trio.testing.wait_all_tasks_blocked()  # tasks of one batch start in any order
        await trio.sleep(0.5)
        assert hosts.statistics().waiting >= 9_900
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.999
    assert times[-1] - times[0] == pytest.approx(9_999, abs=1)
    assert all(abs(place - number) < 100 for place, number in enumerate(order))


async def test_no_more_at_once_than_allowed_however_slow_the_host(autojump_clock: Clock, hosts: Hosts) -> None:
    most = 0

    async def look() -> None:
        nonlocal most
        async with hosts.turn("a.example"):
            most = max(most, hosts.statistics().busy)
            await trio.sleep(10)

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(look)
    assert most == 2


async def test_hosts_do_not_wait_for_each_other(autojump_clock: Clock, hosts: Hosts) -> None:
    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(visit, hosts, f"h{number}.example")
    assert trio.current_time() == 0


async def test_a_crawl_delay_slows_down_and_never_speeds_up(autojump_clock: Clock, hosts: Hosts) -> None:
    times: list[float] = []
    hosts.crawl_delay("a.example", 10.0)
    for _ in range(3):
        await visit(hosts, "a.example", times)
    assert times == [0, 10, 20]
    hosts.crawl_delay("a.example", 0.1)
    await visit(hosts, "a.example", times)
    await visit(hosts, "a.example", times)
    assert times[-1] - times[-2] == 1
    hosts.crawl_delay("a.example", 86_400.0)
    await visit(hosts, "a.example")
    before = trio.current_time()
    await visit(hosts, "a.example")
    assert trio.current_time() - before == 300


async def test_a_crawl_delay_of_one_origin_is_not_lifted_by_another_of_the_same_host(
    autojump_clock: Clock, hosts: Hosts
) -> None:
    hosts.crawl_delay("a.example", 10.0, "https://a.example")
    hosts.crawl_delay("a.example", None, "http://a.example")
    async with hosts.turn("a.example"):
        asked_at = trio.current_time()
    async with hosts.turn("a.example"):
        assert trio.current_time() - asked_at == pytest.approx(10.0)
    hosts.crawl_delay("a.example", None, "https://a.example")
    async with hosts.turn("a.example"):
        asked_at = trio.current_time()
    async with hosts.turn("a.example"):
        assert trio.current_time() - asked_at == pytest.approx(1.0)


async def test_a_cancelled_wait_gives_up_its_place_and_uses_nothing_up(autojump_clock: Clock, hosts: Hosts) -> None:
    times: list[float] = []
    await visit(hosts, "a.example", times)
    with trio.move_on_after(0.3):
        await visit(hosts, "a.example", times)
    await visit(hosts, "a.example", times)
    assert times == [0, 1]
    assert hosts.statistics().waiting == 0


async def test_a_host_with_retry_after_gets_no_request_until_then(autojump_clock: Clock, hosts: Hosts) -> None:
    hosts.hold("a.example", 120.0)
    refused = await refusal(hosts, "a.example")
    assert (refused.blame, refused.retry_after) == (Blame.THROTTLED, 120.0)
    assert hosts.resting("a.example") == 120.0
    assert hosts.statistics().resting == 1
    await visit(hosts, "b.example")
    await trio.sleep(120)
    await visit(hosts, "a.example")


async def test_queued_requests_are_refused_when_the_host_asks_for_quiet(autojump_clock: Clock, hosts: Hosts) -> None:
    refused: list[HostOpen] = []

    async def look() -> None:
        try:
            await visit(hosts, "a.example")
        except HostOpen as error:
            refused.append(error)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(look)
        await trio.sleep(1.5)
        hosts.hold("a.example", 3600.0)
    assert len(refused) == 8
    assert trio.current_time() < 5


async def test_b2_five_failures_of_two_sources_open_the_host_and_one_probe_goes_for_all(
    autojump_clock: Clock, hosts: Hosts
) -> None:
    await fail(hosts, "a.example", "s1", "s1", "s2", "s1")
    await visit(hosts, "a.example")
    await fail(hosts, "a.example", "s2")
    refused = await refusal(hosts, "a.example")
    assert refused.retry_after is not None
    assert 48 <= refused.retry_after <= 72
    await trio.sleep(refused.retry_after)
    async with hosts.turn("a.example"):  # the leader
        assert (await refusal(hosts, "a.example")).retry_after
    hosts.succeeded("a.example")
    await visit(hosts, "a.example")


async def test_b2_one_source_alone_never_opens_its_host(autojump_clock: Clock, hosts: Hosts) -> None:
    await fail(hosts, "a.example", *["s1"] * 50)
    await visit(hosts, "a.example")
    await fail(hosts, "a.example", "s2")
    assert (await refusal(hosts, "a.example")).retry_after


async def test_b2_a_success_resets_the_count(autojump_clock: Clock, hosts: Hosts) -> None:
    for _ in range(5):
        await fail(hosts, "a.example", "s1", "s2", "s1", "s2")
        hosts.succeeded("a.example")
    await visit(hosts, "a.example")
    assert FAILURES_TO_OPEN == 5


async def test_b2_a_dead_host_with_500_sources_costs_two_requests_an_interval_at_most(
    autojump_clock: Clock, hosts: Hosts
) -> None:
    asked: list[float] = []

    async def source(name: str) -> None:
        while True:
            try:
                async with hosts.turn("dead.example"):
                    asked.append(trio.current_time())
                    await trio.sleep(5)
                    hosts.failed("dead.example", name)
            except HostOpen as refused:
                await trio.sleep(refused.retry_after or 1)

    async with trio.open_nursery() as nursery:
        for number in range(500):
            nursery.start_soon(source, f"s{number}")
        await trio.sleep(6 * 3600)
        nursery.cancel_scope.cancel()
    assert len(asked) <= 10 + 2 * 18  # the first ones, then waits of 1, 2, 4, 8, 16, 30, 30 ... minutes


async def test_a_probe_that_ends_without_a_word_counts_as_failed(autojump_clock: Clock, hosts: Hosts) -> None:
    await fail(hosts, "a.example", *["s1", "s2"] * 3)
    await trio.sleep(hosts.resting("a.example"))
    await visit(hosts, "a.example")
    assert 90 <= hosts.resting("a.example") <= 150


async def test_memory_is_for_hosts_in_use_only(autojump_clock: Clock, hosts: Hosts) -> None:
    for number in range(1000):
        await visit(hosts, f"h{number}.example")
        await trio.sleep(2)
    assert hosts.statistics().known <= 4


async def test_failures_are_remembered_for_an_hour(autojump_clock: Clock, hosts: Hosts) -> None:
    await fail(hosts, "a.example", "s1", "s2")
    for number in range(100):
        await trio.sleep(120)
        await visit(hosts, f"h{number}.example")
    assert hosts.statistics().known <= 4


async def test_www_and_bare_name_stand_in_one_queue_when_they_share_an_address(
    autojump_clock: Clock, hosts: Hosts
) -> None:
    hosts.record_addresses("a.example", ["93.184.216.1"])
    hosts.record_addresses("www.a.example", ["93.184.216.1"])
    times: list[float] = []
    for host in ("a.example", "www.a.example", "a.example"):
        await visit(hosts, host, times)
    assert times == [0, 1, 2]
    hosts.hold("www.a.example", 60.0)
    assert hosts.resting("a.example") == 60.0


def become_twins(hosts: Hosts) -> None:
    hosts.record_addresses("www.a.example", ["93.184.216.1"])
    hosts.record_addresses("a.example", ["93.184.216.1"])


async def test_b2_merged_host_aliases_keep_the_limits_of_both(autojump_clock: Clock, hosts: Hosts) -> None:
    hosts.hold("www.a.example", 120.0)
    await fail(hosts, "a.example", *["s1", "s2"] * 3)
    failing_until = trio.current_time() + hosts.resting("a.example")
    become_twins(hosts)
    assert hosts.resting("a.example") == hosts.resting("www.a.example") >= 120.0
    assert (await refusal(hosts, "www.a.example")).failing
    await trio.sleep_until(max(failing_until, 120.0))
    async with hosts.turn("www.a.example"):
        await refusal(hosts, "a.example")  # one probe for both
    assert hosts.statistics().known == 1


async def test_b2_failures_at_both_twins_add_up_to_one_hosts(autojump_clock: Clock, hosts: Hosts) -> None:
    await fail(hosts, "a.example", "s1", "s1", "s1")
    await fail(hosts, "www.a.example", "s2")
    become_twins(hosts)
    await fail(hosts, "www.a.example", "s2")
    await visit(hosts, "a.example")
    await fail(hosts, "a.example", "s1")
    assert hosts.resting("www.a.example") > 0


async def test_twins_that_meet_in_full_swing_go_on_at_one_hosts_pace(autojump_clock: Clock, hosts: Hosts) -> None:
    times: list[float] = []
    async with trio.open_nursery() as nursery:
        for host in ("a.example", "www.a.example") * 20:
            nursery.start_soon(visit, hosts, host, times, 0.5)
        await trio.sleep(5.25)
        assert len(times) == 12
        hosts.crawl_delay("www.a.example", 2.0)
        become_twins(hosts)
        await trio.sleep(2)
        assert hosts.statistics().known == 1
        with trio.move_on_after(0.1):
            await visit(hosts, "www.a.example")
    later = times[13:]
    assert len(times) == 40
    assert min(after - before for before, after in pairwise(later)) >= 2.0
    assert (hosts.statistics().waiting, hosts.statistics().busy) == (0, 0)


async def test_an_interactive_request_is_not_behind_ten_thousand_checks(autojump_clock: Clock, hosts: Hosts) -> None:
    async def look(number: int) -> None:
        async with hosts.turn("a.example", TurnRequest(f"s{number}", 1.0 + number)):
            pass

    async with trio.open_nursery() as nursery:
        for number in range(10_000):
            nursery.start_soon(look, number)
        await trio.sleep(10.5)
        assert hosts.position("a.example", "s9999") > 9_900
        assert hosts.prioritize("a.example", "s9999")
        assert hosts.position("a.example", "s9999") == 0
        assert not hosts.prioritize("b.example", "s9999")
        start = trio.current_time()
        async with hosts.turn("a.example", INTERACTIVE):
            assert trio.current_time() - start <= 3
        assert not hosts.prioritize("a.example", "s9999"), "it has had its turn"
        nursery.cancel_scope.cancel()
    assert hosts.statistics().waiting == 0


async def test_the_end_of_our_outage_forgives_failures_but_no_retry_after(autojump_clock: Clock, hosts: Hosts) -> None:
    await fail(hosts, "a.example", *["s1", "s2"] * 3)
    hosts.hold("b.example", 120.0)
    assert (await refusal(hosts, "a.example")).failing
    assert not (await refusal(hosts, "b.example")).failing
    hosts.reset_failures()
    assert (hosts.resting("a.example"), hosts.resting("b.example")) == (0.0, 120.0)
    await visit(hosts, "a.example")
