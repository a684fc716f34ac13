"""The memory network behaves like a network: latency, bounds, and each of its faults."""

from __future__ import annotations

import random

import pytest
import trio
from trio.testing import MockClock

from actors.world import ResolveFailed
from tests.simulation.network import REBOUND, Side, SimNetwork
from tests.simulation.wire import ROOM, SimStream


@pytest.fixture
def network() -> SimNetwork:
    return SimNetwork(random.Random(1))


async def pair(network: SimNetwork) -> tuple[Side, SimStream, SimStream]:
    server, client = network.side("server.org"), network.side("client.org")
    (listener,) = await server.listen("", 80)
    (address,) = await client.resolve("server.org")
    near = await client.connect(address, 80)
    assert isinstance(near, SimStream)
    return server, near, await listener.accept()


async def test_bytes_arrive_in_order_and_after_a_while(network: SimNetwork, autojump_clock: MockClock) -> None:
    _, near, far = await pair(network)
    sent_at = trio.current_time()
    await near.send_all(b"one ")
    await near.send_all(b"two")
    await near.send_eof()
    received = b""
    while piece := await far.receive_some():
        received += piece
    assert received == b"one two"
    assert trio.current_time() > sent_at


async def test_an_end_is_seen_again_by_every_later_read(network: SimNetwork, autojump_clock: MockClock) -> None:
    _, near, far = await pair(network)
    await near.aclose()
    assert await far.receive_some() == b""
    assert await far.receive_some() == b""


async def test_a_sender_waits_while_too_much_is_under_way(network: SimNetwork, autojump_clock: MockClock) -> None:
    _, near, far = await pair(network)
    with trio.move_on_after(3600) as patience:
        await near.send_all(bytes(ROOM + 1))
    assert patience.cancelled_caught
    assert len(await far.receive_some(ROOM)) == ROOM


async def test_a_closed_ends_peer_learns_of_it(network: SimNetwork, autojump_clock: MockClock) -> None:
    _, near, far = await pair(network)
    await far.aclose()
    with pytest.raises(trio.BrokenResourceError):
        await near.send_all(b"anyone?")


async def test_a_port_without_a_listener_refuses(network: SimNetwork, autojump_clock: MockClock) -> None:
    client, host = network.side("client.org"), network.add("server.org")
    with pytest.raises(ConnectionRefusedError):
        await client.connect(host.address, 80)


async def test_a_dead_process_that_closes_its_listener_late_leaves_the_port_to_the_next(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    dead = network.side("server.org")
    (late,) = await dead.listen("", 80)
    dead.die()
    (listener,) = await network.side("server.org").listen("", 80)
    await late.aclose()
    client = network.side("client.org")
    (address,) = await client.resolve("server.org")
    await client.connect(address, 80)
    with trio.fail_after(1):
        assert (await listener.accept()).socket.there[0] == client.host.address


@pytest.mark.parametrize(("fault", "error"), [("refused", ConnectionRefusedError), ("unreachable", OSError)])
async def test_a_fault_of_the_host_fails_the_connection_until_it_is_over(
    network: SimNetwork, autojump_clock: MockClock, fault: str, error: type[OSError]
) -> None:
    server, _, _ = await pair(network)
    client = network.side("client.org")
    server.host.suffer(fault, 60)
    with pytest.raises(error):
        await client.connect(server.host.address, 80)
    await trio.sleep(60)
    await client.connect(server.host.address, 80)


async def test_a_partition_holds_bytes_in_flight_until_it_heals(network: SimNetwork, autojump_clock: MockClock) -> None:
    server, near, far = await pair(network)
    await near.send_all(b"held")
    server.host.suffer("partition", 500)
    over = trio.current_time() + 500
    assert await far.receive_some() == b"held"
    assert trio.current_time() == pytest.approx(over)


async def test_a_long_partition_ends_a_connection_attempt(network: SimNetwork, autojump_clock: MockClock) -> None:
    server, _, _ = await pair(network)
    server.host.suffer("partition", 3600)
    with pytest.raises(TimeoutError):
        await network.side("client.org").connect(server.host.address, 80)


async def test_a_reset_comes_in_the_middle_of_a_body(network: SimNetwork, autojump_clock: MockClock) -> None:
    _, near, far = await pair(network)
    far.resets_after(10)
    await far.send_all(b"0123456789")
    assert await near.receive_some() == b"0123456789"
    with pytest.raises(trio.BrokenResourceError):
        await far.send_all(b"more")
        await far.send_all(b"and more")
    with pytest.raises(trio.BrokenResourceError):
        await near.receive_some()


async def test_an_unknown_name_and_a_dead_resolver_are_distinguished(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    client = network.side("client.org")
    with pytest.raises(ResolveFailed) as unknown:
        await client.resolve("nowhere.org")
    assert not unknown.value.local
    client.host.suffer("dns", 60)
    with pytest.raises(ResolveFailed) as dead:
        await client.resolve("client.org")
    assert dead.value.local


async def test_a_dead_process_reaches_no_peer_and_its_port_is_free(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    server, near, far = await pair(network)
    server.die()
    with pytest.raises(trio.BrokenResourceError):
        await near.receive_some()
    with pytest.raises(trio.BrokenResourceError):
        await far.send_all(b"from beyond")
    with trio.move_on_after(3600) as silence:
        await server.connect(near.socket.here[0], 80)
    assert silence.cancelled_caught
    await network.side("server.org").listen("", 80)


async def test_a_resolver_that_fails_says_that_it_is_ours(network: SimNetwork, autojump_clock: MockClock) -> None:
    client = network.side("client.org")
    client.host.suffer("servfail", 60)
    with pytest.raises(ResolveFailed) as failed:
        await client.resolve("client.org")
    assert failed.value.local
    assert [name for _, _, name in network.asked] == ["client.org"] and network.found == []
    await network.side("other.org").resolve("client.org")
    assert [(who, name) for _, who, name in network.found] == [("other.org", "client.org")]


async def test_a_slow_resolver_answers_after_five_seconds(network: SimNetwork, autojump_clock: MockClock) -> None:
    client = network.side("client.org")
    client.host.suffer("slow dns", 60)
    asked_at = trio.current_time()
    assert await client.resolve("client.org")
    assert trio.current_time() - asked_at == pytest.approx(5.0)


async def test_a_rebound_name_leads_inside(network: SimNetwork, autojump_clock: MockClock) -> None:
    client, host = network.side("client.org"), network.add("server.org")
    host.suffer("rebound", 60)
    assert set(await client.resolve("server.org")) & set(REBOUND)


async def test_two_names_of_one_machine_have_one_address(network: SimNetwork, autojump_clock: MockClock) -> None:
    client, host = network.side("client.org"), network.add("server.org")
    network.alias("www.server.org", host)
    assert await client.resolve("www.server.org") == await client.resolve("server.org")


async def test_a_dead_link_holds_bytes_in_flight_and_delivers_none(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    server, near, far = await pair(network)
    client = network.side("client.org")
    await far.send_all(b"held")
    client.host.suffer("dead line", 500)
    over = trio.current_time() + 500
    with pytest.raises(TimeoutError):
        await client.connect(server.host.address, 80)
    assert await near.receive_some() == b"held"
    assert trio.current_time() == pytest.approx(over)


async def test_on_a_lossy_line_some_of_it_comes_late_and_all_of_it_comes(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    _, near, far = await pair(network)
    network.side("client.org").host.suffer("lossy", 1e6)
    took = []
    for number in range(200):
        sent_at = trio.current_time()
        await far.send_all(bytes([number]))
        assert await near.receive_some() == bytes([number])
        took.append(trio.current_time() - sent_at)
    assert min(took) < 0.1 and max(took) > 1.0 and sum(one > 0.9 for one in took) < 20


async def test_a_connection_that_hangs_says_nothing_to_either_end(
    network: SimNetwork, autojump_clock: MockClock
) -> None:
    _, near, far = await pair(network)
    far.hang()
    await near.send_all(b"anyone?")
    with trio.move_on_after(3600) as silence:
        await far.receive_some()
    assert silence.cancelled_caught
