from __future__ import annotations

import pytest
import trio
from trio.abc import Clock

from actors.egress.failures import CheckRefused
from actors.egress.http import FetchRequest
from actors.egress.traffic import build_egress, network_transport
from actors.egress.url import parse_url
from actors.settings import parsed
from tests.support.memory_network import Answer, MemoryNetwork, a_world, settings, web


async def test_watching_and_delivering_have_their_own_private_networks(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    network = MemoryNetwork(nursery, servers={("10.1.0.1", 80): web(lambda asked: Answer(200, b"inside"))})
    egress = build_egress(a_world(network), settings(allow_deliver_networks=("10.1.0.0/16",)))
    url = parse_url("http://10.1.0.1/")
    with pytest.raises(CheckRefused):
        await egress.http.get(FetchRequest(url))
    assert (await egress.deliver.post(url, {}, b"")).status == 200
    assert await egress.dial.check(url) == ("10.1.0.1",)
    await egress.aclose()


async def test_d9_plain_http_is_delivered_to_opened_networks_only_even_if_the_name_moves(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    network = MemoryNetwork(nursery)
    serve = web(lambda asked: Answer(200))
    network.servers = {("10.1.0.1", 80): serve, ("93.184.216.34", 80): serve}
    network.names["moves.example"] = [("10.1.0.1",), ("93.184.216.34",), ("10.1.0.1", "93.184.216.34"), ("10.1.0.1",)]
    egress = build_egress(a_world(network), settings(allow_networks=("10.1.0.0/16",)))
    url = parse_url("http://moves.example/in")
    assert (await egress.deliver_plain.post(url, {}, b"")).status == 200
    for _ in range(2):
        with pytest.raises(CheckRefused, match="https"):
            await egress.deliver_plain.post(url, {}, b"")
    assert (await egress.deliver_plain.post(url, {}, b"")).status == 200
    assert network.connected == [("10.1.0.1", 80)] * 2
    assert egress.last_address("moves.example") == "10.1.0.1"
    await egress.aclose()


async def test_robots_txt_takes_its_turn_at_the_host(nursery: trio.Nursery, autojump_clock: Clock) -> None:
    times: list[float] = []

    def answer(asked: object) -> Answer:
        times.append(trio.current_time())
        return Answer(404)

    network = MemoryNetwork(nursery)
    network.add("a.example", "93.184.216.34", web(answer))
    egress = build_egress(a_world(network), settings())
    async with egress.hosts.turn("a.example"):
        pass
    assert (await egress.robots.verdict(parse_url("http://a.example/x"))).allowed
    assert times == [1.0]
    await egress.aclose()


async def test_an_idle_connection_is_closed_with_the_bundle(nursery: trio.Nursery, autojump_clock: Clock) -> None:
    network = MemoryNetwork(nursery)
    network.add("a.example", "93.184.216.34", web(lambda asked: Answer(200, b"x")))
    egress = build_egress(a_world(network, keep_idle=60.0), settings())
    await egress.http.get(FetchRequest(parse_url("http://a.example/")))
    assert network.open_streams == 1
    with trio.CancelScope() as scope:
        scope.cancel()
        await egress.aclose()
    await trio.sleep(1)
    assert network.open_streams == 0


async def test_x1_callbacks_of_unknown_subscribers_reach_public_addresses_only(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    network = MemoryNetwork(nursery)
    serve = web(lambda asked: Answer(200))
    network.servers = {("10.1.0.1", 80): serve, ("10.2.0.1", 80): serve}
    world, opened = a_world(network), settings(allow_networks=("10.1.0.0/16",), allow_deliver_networks=("10.1.0.0/16",))
    egress, callbacks = (
        build_egress(world, opened),
        network_transport(world, opened, parsed(("10.2.0.0/16",)), "HUB_NETWORKS"),
    )
    url, away = parse_url("http://10.1.0.1/reboot"), parse_url("http://10.2.0.1/in")
    with pytest.raises(CheckRefused, match=r"SANDERLING_HUB_NETWORKS=10\.1\.0\.1/32 would open it"):
        await callbacks.deliver_plain.post(url, {}, b"", "GET")
    with pytest.raises(CheckRefused, match="SANDERLING_HUB_NETWORKS"):
        await callbacks.deliver.post(url, {}, b"", "GET")
    assert (await callbacks.deliver_plain.post(away, {}, b"")).status == 200
    with pytest.raises(CheckRefused, match="SANDERLING_ALLOW_NETWORKS"):
        await egress.deliver.post(away, {}, b"")
    await callbacks.aclose()
    await egress.aclose()
