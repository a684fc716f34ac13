"""X21: connections are counted by address, and no single address can use all of them."""

from __future__ import annotations

import socket
from ipaddress import ip_network
from typing import Any

import pytest
import trio
import trio.testing

from api.ratelimit import ConnectionLimit, LimitReached
from api.server.wire import peer_of
from tests.api.house import House, StreamPair, make_house, running
from tests.api.server.test_server import GET, read_all


class FromThere:
    """A socket with nothing but a peer address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def getpeername(self) -> tuple[str, int]:
        return self._address, 40_000

    getsockname = getpeername
    family = 2


def pair_from(address: str) -> StreamPair:
    def pair() -> tuple[trio.abc.Stream, trio.abc.Stream]:
        ours, theirs = trio.testing.memory_stream_pair()
        known: Any = FromThere(address)
        theirs.socket = known  # type: ignore[attr-defined]  # the server reads it here
        return ours, theirs

    return pair


async def arrive(house: House, address: str) -> trio.abc.Stream:
    house.listener.pair = pair_from(address)
    return await house.listener.connect()


async def test_x21_one_address_cannot_take_the_connections_of_others(autojump_clock: object) -> None:
    async with running(make_house(address_connections=3)) as house:
        mine = [await arrive(house, "203.0.113.9") for _ in range(3)]
        turned_away = await read_all(await arrive(house, "203.0.113.9"))
        assert turned_away.startswith(b"HTTP/1.1 503 ") and b"retry-after: 10" in turned_away
        assert b"3 connections from your address are open already." in turned_away
        other = await arrive(house, "203.0.113.10")
        await other.send_all(GET)
        assert (await other.receive_some(100)).startswith(b"HTTP/1.1 200 ")
        await trio.aclose_forcefully(mine.pop())
        await trio.sleep(1)
        again = await arrive(house, "203.0.113.9")
        await again.send_all(GET)
        assert (await again.receive_some(100)).startswith(b"HTTP/1.1 200 ")


async def test_x21_half_open_requests_of_one_address_make_room_for_its_next_ones(autojump_clock: object) -> None:
    async with running(make_house(address_connections=50)) as house:
        slow = [await arrive(house, "203.0.113.9") for _ in range(50)]
        for stream in slow:
            await stream.send_all(b"GET /healthz HT")
        assert b" 503 " in await read_all(await arrive(house, "203.0.113.9"))
        await trio.sleep(11)
        late = await arrive(house, "203.0.113.9")
        await late.send_all(GET)
        assert (await late.receive_some(100)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3", ""])
def test_proxies_and_this_machine_are_not_counted(address: str) -> None:
    places = ConnectionLimit(9, 1, [ip_network("10.0.0.0/8")])
    assert [places.take(address) for _ in range(5)] == [""] * 5
    for _ in range(5):
        places.free("")
    assert repr(places) == "<ConnectionLimit 0 of 9 taken, most by []>"


def test_ipv6_addresses_are_counted_per_customer_prefix() -> None:
    places = ConnectionLimit(9, 2, ())
    assert [places.take(f"2001:db8:1:2::{n}") for n in (1, 2)] == ["2001:db8:1:2::"] * 2
    with pytest.raises(LimitReached):
        places.take("2001:db8:1:2::3")
    assert places.take("2001:db8:1:3::1") == "2001:db8:1:3::"
    places.free("2001:db8:1:2::")
    assert places.take("2001:db8:1:2::9") == "2001:db8:1:2::"
    assert repr(places) == "<ConnectionLimit 3 of 9 taken, most by [('2001:db8:1:2::', 2)]>"


async def test_a_unix_socket_or_closed_connection_has_no_address() -> None:
    class Gone:
        def getpeername(self) -> None:
            raise OSError

    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        for known, address in ((here, ""), (Gone(), ""), (FromThere("203.0.113.9"), "203.0.113.9")):
            stream, _ = trio.testing.memory_stream_pair()
            stream.socket = known  # type: ignore[attr-defined]
            assert peer_of(stream) == address
