"""A crash of the recorder restarts all that was started after it, the ways out among them (simulation seed 2)."""

from __future__ import annotations

import random

import trio
from trio.testing import MockClock

from actors.egress.guard import Guard
from actors.egress.http import HttpClient
from actors.egress.url import parse_url
from actors.settings import Settings
from sanderling.simulation.network import SimNetwork
from sanderling.simulation.serving import Answer, Request, serve_http
from sanderling.simulation.world import bare_world


async def test_a_closed_client_opens_new_connections_when_it_is_used_again(autojump_clock: MockClock) -> None:
    network = SimNetwork(random.Random(1))
    world = bare_world(network.side("service.org"))
    client = HttpClient(world, Settings(), Guard(world.resolver, world.connector, ()))

    async def hello(request: Request) -> Answer:
        return Answer(200, b"hello", {"content-type": "text/plain"})

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_http, hello, await network.side("origin.org").listen("", 80))
        url = parse_url("http://origin.org/", schemes=("http",))
        assert (await client.get(url)).body == b"hello"
        await client.aclose()
        assert (await client.get(url)).body == b"hello"
        nursery.cancel_scope.cancel()
