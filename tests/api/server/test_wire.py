"""The fast path from a reader to a socket, on real sockets: memory streams do not use it."""

from __future__ import annotations

import math
import socket

import pytest
import trio

from api.server.wire import Wire
from api.streams.reader import SEND_SIZE
from tests.api.house import make_house, running
from tests.api.listening import Listening
from tests.support.build import a_draft

pytestmark = pytest.mark.real


async def a_pair(patience: float = math.inf) -> tuple[Wire, socket.socket]:
    near, far = socket.socketpair()
    return Wire(trio.SocketStream(trio.socket.from_stdlib_socket(near)), patience=patience), far


async def test_a_socket_sends_directly_and_the_rest_through_trio() -> None:
    wire, far = await a_pair()
    data = bytes(range(256)) * 40_000
    rest = wire.send_nowait(data)
    assert 0 < len(rest) < len(data)
    got = bytearray()

    async def read() -> None:
        while len(got) < len(data):
            got.extend(await trio.to_thread.run_sync(far.recv, 1 << 20))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wire.send_all(rest)
    assert bytes(got) == data
    await wire.aclose()
    far.close()


async def test_a_client_that_reads_nothing_is_cut_at_the_deadline() -> None:
    wire, far = await a_pair(patience=0.2)
    with pytest.raises(trio.BrokenResourceError):
        await wire.send_all(b"x" * 10_000_000)
    assert wire.eof and wire.send_nowait(b"more") == b"more", "a number that may be another's now is not written to"
    far.close()


async def test_a_peer_that_is_gone_is_found_by_the_send_that_follows() -> None:
    wire, far = await a_pair()
    far.close()
    assert wire.send_nowait(b"x") == b"x"
    with pytest.raises(trio.BrokenResourceError):
        await wire.send_all(b"x")


async def test_a_stream_over_tcp_arrives_whole_also_at_a_slow_reader() -> None:
    house = make_house(send_timeout=300)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    house.listener = listener  # type: ignore[assignment]  # a real listener
    address = listener.socket.getsockname()[:2]
    async with running(house):
        client = Listening(await trio.open_tcp_stream(*address))
        await client.ask("/v1/stream", Authorization=f"Bearer {await house.key()}")
        titles = [str(number) for number in range(300)]
        for title in titles:
            await house.publish(a_draft(title, content=title * 5_000))
        assert await client.titles(300) == titles
        await trio.aclose_forcefully(client.stream)


async def test_f5_the_kernel_buffers_at_most_one_send_of_a_stream() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    far = await trio.open_tcp_stream(*listener.socket.getsockname()[:2])
    wire = Wire(await listener.accept(), patience=0.2)
    wire.hold(SEND_SIZE)
    assert wire.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == SEND_SIZE
    for stream in (wire, far, listener):
        await stream.aclose()
    wire.hold(1)  # a closed connection has nothing to hold
