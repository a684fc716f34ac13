from __future__ import annotations

from base64 import b64encode

import pytest
import trio
from trio.testing import memory_stream_pair

from actors.egress.guard import Guard
from extras.browser.forward_proxy import HEAD_WITHIN, MOST_STRANGERS, ForwardProxy, ProxyGate
from tests.extras.browser.test_forward_proxy import PUBLIC, a_lease, all_of
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, web

SECRET, OTHER = "a1" * 16, "b2" * 16


def shown(secret: str, user: str = "sanderling", scheme: str = "Basic") -> str:
    return f"Proxy-Authorization: {scheme} {b64encode(f'{user}:{secret}'.encode()).decode()}\n"


def asked(headers: str = "") -> bytes:
    text = f"GET http://a.example/x HTTP/1.1\nHost: a.example\nConnection: close\n{headers}\n"
    return text.replace("\n", "\r\n").encode()


class House:
    """A gate before a proxy on a network in memory."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery, self.seen = nursery, list[ReceivedRequest]()
        network = MemoryNetwork(nursery)
        network.add("a.example", PUBLIC, web(lambda asked: Answer(body=b"tide"), self.seen))
        self.gate, self.proxy = ProxyGate(), ForwardProxy(Guard(network, network, ()).connect)

    def open(self) -> trio.abc.Stream:
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self.gate.serve, self.proxy, theirs)
        return ours

    async def ask(self, head: bytes) -> bytes:
        stream = self.open()
        await stream.send_all(head)
        return await all_of(stream)


@pytest.fixture
def house(nursery: trio.Nursery) -> House:
    return House(nursery)


async def test_a_request_with_a_pages_token_belongs_to_its_lease(house: House) -> None:
    mine, other = a_lease(), a_lease()
    with house.gate.let(SECRET, mine), house.gate.let(OTHER, other):
        answer = await house.ask(asked(shown(SECRET)))
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"tide")
    assert (mine.requests, other.requests) == (1, 0)
    assert "proxy-authorization" not in house.seen[0].headers, "no host is told"


@pytest.mark.parametrize(
    "headers",
    [
        "",
        shown(OTHER),
        shown(SECRET, user="somebody"),
        shown(SECRET, scheme="Bearer"),
        shown(SECRET[:-1]),
        shown(SECRET) + shown(OTHER),
        "Proxy-Authorization: Basic\n",
        "Proxy-Authorization: Basic \xff\n",
        "Authorization" + shown(SECRET).removeprefix("Proxy-Authorization"),
        "X: y\n Proxy-Authorization" + shown(SECRET).removeprefix("Proxy-Authorization"),
    ],
)
async def test_x26_an_unknown_client_reaches_nothing(house: House, headers: str) -> None:
    lease = a_lease()
    with house.gate.let(SECRET, lease):
        answer = await house.ask(asked(headers))
    assert answer.startswith(b"HTTP/1.1 407 ") and b'Basic realm="sanderling"' in answer
    assert lease.requests == 0 and house.seen == []


async def test_x26_a_secret_opens_nothing_once_its_page_is_over(house: House) -> None:
    with house.gate.let(SECRET, a_lease()):
        open_still = house.open()
        await open_still.send_all(asked(shown(SECRET))[:-2])
    assert (await house.ask(asked(shown(SECRET)))).startswith(b"HTTP/1.1 407 ")
    await open_still.send_all(b"\r\n")
    assert (await all_of(open_still)).startswith(b"HTTP/1.1 407 ")
    assert house.seen == []


async def test_a_connection_of_a_page_is_cut_with_it(house: House) -> None:
    stream = house.open()
    with house.gate.let(SECRET, a_lease()):
        await stream.send_all(asked(shown(SECRET)).replace(b"Connection: close\r\n", b""))
        assert (await stream.receive_some(9)) == b"HTTP/1.1 "
    await all_of(stream)


async def test_a_head_comes_in_pieces_and_a_tunnel_goes_on_behind_it(nursery: trio.Nursery) -> None:
    async def echo(stream: trio.abc.Stream) -> None:
        await stream.send_all(b"<" + await stream.receive_some(100) + b">")

    house = House(nursery)
    network = MemoryNetwork(nursery)
    network.add("a.example", PUBLIC, echo, port=443)
    house.proxy = ForwardProxy(Guard(network, network, ()).connect)
    stream = house.open()
    head = f"CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\n{shown(SECRET)}\n".replace("\n", "\r\n").encode()
    with house.gate.let(SECRET, a_lease()):
        for at in range(len(head)):
            await stream.send_all(head[at : at + 1])
        await stream.send_all(b"hello")
        assert await all_of(stream) == b"HTTP/1.1 200 \r\n\r\n<hello>"


async def test_x26_silent_or_flooding_unknown_clients_are_cut_and_few_may_wait(
    house: House, autojump_clock: trio.abc.Clock
) -> None:
    assert await house.ask(b"GET http://a.example/ HTTP/1.1\r\nX: " + b"y" * 70_000) == b""
    silent = [house.open() for _ in range(MOST_STRANGERS)]
    await trio.testing.wait_all_tasks_blocked()
    one_more = house.open()
    assert await all_of(one_more) == b"" and trio.current_time() < HEAD_WITHIN
    for stream in silent:
        await all_of(stream)
    with house.gate.let(SECRET, a_lease()):
        assert (await house.ask(asked(shown(SECRET)))).endswith(b"tide")


async def test_x26_a_client_that_leaves_ends_its_own_connection_only(house: House) -> None:
    for sent in (b"", b"GET", asked(), asked(shown(SECRET))):
        stream = house.open()
        await stream.send_all(sent)
        await trio.aclose_forcefully(stream)
    await trio.testing.wait_all_tasks_blocked()
    with house.gate.let(SECRET, a_lease()):
        assert (await house.ask(asked(shown(SECRET)))).endswith(b"tide")
