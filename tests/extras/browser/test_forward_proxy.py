from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

import pytest
import trio
from trio.testing import memory_stream_pair

from actors.egress.guard import Guard
from actors.settings import Network
from extras.browser.forward_proxy import ForwardProxy, Slot
from extras.browser.leases import MOST_STREAMS, Lease
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, web

PUBLIC = "93.184.216.34"
MARKER = "q7"


def a_lease(requests: int = 50, size: int = 1_000_000, ports: Sequence[int] = (), host: str = "") -> Lease:
    return Lease(most_requests=requests, most_bytes=size, marker=MARKER, ports=ports, host=host)


class House:
    """A proxy on a network in memory; each request opens its own connection."""

    def __init__(
        self, nursery: trio.Nursery, network: MemoryNetwork, lease: Lease | None = None, opened: Sequence[Network] = ()
    ) -> None:
        self.nursery, self.network = nursery, network
        self.proxy = ForwardProxy(Guard(network, network, opened).connect)
        self.lease = lease or a_lease()
        self.slot = Slot()

    def open(self) -> trio.abc.Stream:
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self.slot.serve, self.proxy, theirs)
        return ours

    async def ask(self, text: str, *, more: bytes = b"") -> bytes:
        """Return the proxy's full answer on one connection."""
        stream = self.open()
        with self.slot.let(self.lease):
            await stream.send_all(text.replace("\n", "\r\n").encode("latin-1") + more)
            return await all_of(stream)


async def all_of(stream: trio.abc.Stream) -> bytes:
    found = b""
    try:
        while data := await stream.receive_some(65536):
            found += data
    except trio.BrokenResourceError:
        pass
    return found


@pytest.fixture
def network(nursery: trio.Nursery) -> MemoryNetwork:
    return MemoryNetwork(nursery)


async def test_a_plain_request_goes_out_in_origin_form_with_the_host_that_was_checked(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    seen: list[ReceivedRequest] = []
    network.add("a.example", PUBLIC, web(lambda asked: Answer(body=b"hello", headers={"X-A": "1"}), seen))
    house = House(nursery, network)
    answer = await house.ask(
        "GET http://A.example/p?q=1 HTTP/1.1\nHost: evil.example\nProxy-Connection: keep-alive\nX-Mine: 2\n"
        "Connection: close, X-Hop\nX-Hop: 3\n\n"
    )
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"hello") and b"x-a: 1" in answer.lower()
    assert seen[0].target == "/p?q=1" and seen[0].headers["host"] == "a.example" and seen[0].headers["x-mine"] == "2"
    assert not {"proxy-connection", "x-hop"} & seen[0].headers.keys()
    assert house.lease.requests == 1 and house.lease.wire_bytes > 50


async def test_x26_a_public_page_does_not_reach_an_opened_network(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    seen: list[ReceivedRequest] = []
    network.add("router.example", "192.168.0.1", web(lambda asked: Answer(body=b"hello"), seen))
    ask, opened = "GET http://router.example/ HTTP/1.1\nHost: x\nConnection: close\n\n", [ip_network("192.168.0.0/16")]
    answers = {
        host: await House(nursery, network, a_lease(host=host), opened).ask(ask)
        for host in ("a.example", "router.example")
    }
    assert b"403" in answers["a.example"] and b"not public: a page reaches" in answers["a.example"]
    assert answers["router.example"].endswith(b"hello") and len(seen) == 1


async def test_one_connection_carries_requests_to_several_hosts_and_a_body_each_way(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    seen: list[ReceivedRequest] = []
    for name, address in (("a.example", PUBLIC), ("b.example", "93.184.216.35")):
        network.add(name, address, web(lambda asked: Answer(body=asked.body * 2), seen))
    house = House(nursery, network)
    post = "POST http://{}/ HTTP/1.1\nHost: {}\nContent-Length: 3\n{}\n"
    first = post.format("a.example", "a.example", "").replace("\n", "\r\n").encode() + b"abc"
    second = post.format("b.example", "b.example", "Connection: close\n").replace("\n", "\r\n").encode() + b"xyz"
    answer = await house.ask("", more=first + second)
    assert answer.count(b"HTTP/1.1 200") == 2 and b"abcabc" in answer and b"xyzxyz" in answer
    assert [asked.headers["host"] for asked in seen] == ["a.example", "b.example"]


async def test_a_tunnel_carries_bytes_both_ways_and_counts_them(nursery: trio.Nursery, network: MemoryNetwork) -> None:
    async def echo(stream: trio.abc.Stream) -> None:
        await stream.send_all(b"<" + await stream.receive_some(100) + b">")

    network.add("a.example", PUBLIC, echo, port=443)
    house = House(nursery, network)
    answer = await house.ask("CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\n\n", more=b"hello")
    assert answer == b"HTTP/1.1 200 \r\n\r\n<hello>"
    assert (house.lease.requests, house.lease.wire_bytes) == (1, 12)


REFUSED = [
    "CONNECT 127.0.0.1:443",
    "CONNECT 127.1:443",
    "CONNECT 0x7f.1:443",
    "CONNECT 2130706433:80",
    "CONNECT 017700000001:80",
    "CONNECT [::1]:443",
    "CONNECT [::ffff:127.0.0.1]:443",
    "CONNECT [fe80::1%25eth0]:443",
    "CONNECT localhost:443",
    "CONNECT inside.example:443",
    "CONNECT inside.example.:443",
    "CONNECT mixed.example:443",
    "CONNECT 169.254.169.254:80",
    "CONNECT a.example:22",
    "CONNECT a.example:8443",
    "CONNECT a.example",
    "CONNECT a.example:443/x",
    "CONNECT u@a.example:443",
    "GET http://127.0.0.1/",
    "GET http://u:p@127.0.0.1/",
    "GET http://a.example@127.0.0.1/",
    "GET http://127.0.0.1\\@a.example/",
    "GET http://[::]/",
    "GET http://0/",
    "GET http://inside.example/",
    "GET https://a.example/",
    "GET ftp://a.example/",
    "GET file:///etc/passwd",
    "GET /",
    "GET //127.0.0.1/",
    "OPTIONS *",
    "GET http://a.example:25/",
]


@pytest.mark.parametrize("line", REFUSED)
async def test_x26_refused_requests_get_our_marker_and_no_connection(
    nursery: trio.Nursery, network: MemoryNetwork, line: str
) -> None:
    network.names |= {
        "a.example": [(PUBLIC,)],
        "inside.example": [("10.0.0.1",)],
        "mixed.example": [(PUBLIC, "127.0.0.1")],
        "localhost": [("127.0.0.1", "::1")],
    }
    house = House(nursery, network)
    answer = await house.ask(f"{line} HTTP/1.1\nHost: a.example\n\n")
    assert network.connected == []
    assert answer.split(b" ")[1] in (b"403", b"400") and b"Sanderling-Refused: q7" in answer
    assert house.lease.refused == 1


async def test_a_host_that_does_not_answer_is_no_refusal_and_its_error_is_recorded(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    network.names["a.example"] = [(PUBLIC,)]
    house = House(nursery, network)
    assert b" 502 " in await house.ask("CONNECT a.example:443 HTTP/1.1\nHost: a.example\n\n")
    trouble = house.lease.trouble("a.example", 443)
    assert trouble is not None and trouble.cause == "remote" and "refused" in trouble.reason
    assert b" 502 " in await house.ask("CONNECT nowhere.example:443 HTTP/1.1\nHost: nowhere.example\n\n")
    assert house.lease.refused == 0


async def test_a_host_can_not_answer_with_our_word(nursery: trio.Nursery, network: MemoryNetwork) -> None:
    network.add("a.example", PUBLIC, web(lambda asked: Answer(403, headers={"Sanderling-Refused": MARKER})))
    answer = await House(nursery, network).ask("GET http://a.example/ HTTP/1.1\nHost: a.example\nConnection: close\n\n")
    assert b" 403 " in answer and b"refused" not in answer.lower()


async def test_x26_out_of_bytes_all_connections_are_cut(nursery: trio.Nursery, network: MemoryNetwork) -> None:
    async def flood(stream: trio.abc.Stream) -> None:
        while True:
            await stream.send_all(bytes(1000))

    network.add("a.example", PUBLIC, flood, port=443)
    house = House(nursery, network, a_lease(size=10_000))
    quiet = house.open()
    answer = await house.ask("CONNECT a.example:443 HTTP/1.1\nHost: a.example\n\n")
    assert 0 < len(answer) < 12_000 and house.lease.out_of_bytes
    assert await all_of(quiet) == b""
    again = await house.ask("CONNECT a.example:443 HTTP/1.1\nHost: a.example\n\n")
    assert b" 403 " in again and b"10,000 bytes" in again


async def test_without_a_lease_or_with_too_many_connections_nothing_is_served(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    house = House(nursery, network)
    assert await all_of(house.open()) == b""
    with house.slot.let(house.lease):
        held = [house.open() for _ in range(MOST_STREAMS)]
        await trio.testing.wait_all_tasks_blocked()
        assert await all_of(house.open()) == b""
    assert [await all_of(stream) for stream in held] == [b""] * MOST_STREAMS


async def test_connections_left_open_by_a_page_end_with_its_lease(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    ended = trio.Event()

    async def hang(stream: trio.abc.Stream) -> None:
        await all_of(stream)
        ended.set()

    network.add("a.example", PUBLIC, hang, port=443)
    house = House(nursery, network)
    stream = house.open()
    with house.slot.let(house.lease):
        await stream.send_all(b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n")
        assert await stream.receive_some(100) == b"HTTP/1.1 200 \r\n\r\n"
    await ended.wait()
    assert await all_of(stream) == b"" and network.open_streams == 0


@pytest.mark.parametrize("rubbish", [b"\x16\x03\x01", b"GET\r\n\r\n", b"A" * 100_000, b"\r\n\r\n\x00", b""])
async def test_rubbish_ends_its_own_connection_only(
    nursery: trio.Nursery, network: MemoryNetwork, rubbish: bytes
) -> None:
    house = House(nursery, network)
    stream = house.open()
    with house.slot.let(house.lease):
        with trio.move_on_after(1):
            try:
                await stream.send_all(rubbish)
                await stream.aclose()
            except trio.BrokenResourceError:
                pass
        network.add("a.example", PUBLIC, web(lambda asked: Answer(body=b"fine")))
    assert (await house.ask("GET http://a.example/ HTTP/1.1\nHost: a.example\nConnection: close\n\n")).endswith(b"fine")


async def test_a_host_that_breaks_http_or_breaks_off_ends_the_exchange(
    nursery: trio.Nursery, network: MemoryNetwork
) -> None:
    async def broken(stream: trio.abc.Stream) -> None:
        await stream.receive_some(1000)
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")

    async def rubbish(stream: trio.abc.Stream) -> None:
        await stream.receive_some(1000)
        await stream.send_all(b"SSH-2.0-x\r\n\r\n")

    network.add("a.example", PUBLIC, broken)
    network.add("b.example", "93.184.216.35", rubbish)
    house = House(nursery, network)
    assert (await house.ask("GET http://a.example/ HTTP/1.1\nHost: a.example\n\n")).endswith(b"abc")
    assert await house.ask("GET http://b.example/ HTTP/1.1\nHost: b.example\n\n") == b""
