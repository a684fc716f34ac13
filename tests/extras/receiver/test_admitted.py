"""`sanderling probe` sends only to possible destinations."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
import trio

from actors.egress.guard import Guard
from extras.receiver.commands import admitted
from sanderling.exits import CommandFailed
from tests.support.memory_network import Answer, MemoryNetwork, web


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://hook.test/", "a destination is https"),
        ("https://127.0.0.1/", "not public"),
        ("https://inside.test/", "not public"),
        ("https://169.254.169.254/", "169.254.169.254"),
        ("ftp://hook.test/", "scheme"),
        ("https://user:pw@hook.test/", "user name"),
        ("https://hook.test:25/", "port 25"),
        ("https://nowhere.test/", "does not resolve"),
        ("hook.test", "complete"),
    ],
)
async def test_x1_only_what_could_be_a_destination_is_probed(url: str, words: str) -> None:
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        for name, address in {"hook.test": "93.184.216.35", "inside.test": "10.0.0.1"}.items():
            network.add(name, address, web(lambda asked: Answer(200)), 443)
        with pytest.raises(CommandFailed, match=words):
            await admitted(url, Guard(network, network, ()), ())
        assert network.connected == []


async def test_an_allowed_network_may_be_probed_over_http() -> None:
    networks = [ip_network("10.0.0.0/8")]
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        network.add("inside.test", "10.0.0.1", web(lambda asked: Answer(200)), 8080)
        found = await admitted("http://inside.test:8080/in", Guard(network, network, networks), networks)
        assert found.url == "http://inside.test:8080/in"
