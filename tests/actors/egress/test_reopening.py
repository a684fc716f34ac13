"""A crash of the recorder restarts every actor started after it, including the HTTP client (found by simulation)."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from actors.egress.guard import Guard
from actors.egress.http import FetchRequest, HttpClient
from actors.egress.url import parse_url
from actors.settings import Settings
from tests.support.memory_network import Answer, MemoryNetwork, a_world, web


async def test_a_closed_client_opens_new_connections_when_it_is_used_again(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        network.add("origin.org", "93.184.1.1", web(lambda asked: Answer(body=b"hello")))
        world = a_world(network)
        client = HttpClient(world, Settings(), Guard(world.resolver, world.connector, ()))
        url = parse_url("http://origin.org/", schemes=("http",))
        assert (await client.get(FetchRequest(url))).body == b"hello"
        await client.aclose()
        assert (await client.get(FetchRequest(url))).body == b"hello"
        nursery.cancel_scope.cancel()
