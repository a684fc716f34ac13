from __future__ import annotations

import base64
import gzip
import hashlib
import inspect
import zlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest
import trio
import trio.testing
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from actors.egress.failures import Blame, CheckFailed
from actors.egress.guard import Guard
from actors.egress.url import parse_url
from actors.egress.websocket import FRAME_LIMIT, MOST_LEFT, BoundedConnection, Frames, SessionEnded, open_websocket
from tests.support.memory_network import MemoryNetwork, Serve, a_world, settings

URL = parse_url("ws://push.example/frames?x=1")
Session = Callable[[WebSocketConnection], Awaitable[None]]


def accepting(session: Session, *, subprotocol: str | None = None) -> Serve:
    async def serve(stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, stream)
            connection = await request.accept(subprotocol=subprotocol)
            with suppress(ConnectionClosed):
                await session(connection)
            nursery.cancel_scope.cancel()

    return serve


async def rest(connection: WebSocketConnection) -> None:
    """Read until the other side closes."""
    while True:
        await connection.get_message()


def rejecting(status: int, headers: dict[str, str]) -> Serve:
    async def serve(stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, stream)
            await request.reject(status, extra_headers=[(k.encode(), v.encode()) for k, v in headers.items()])
            nursery.cancel_scope.cancel()

    return serve


def a_network(nursery: trio.Nursery, serve: Serve) -> MemoryNetwork:
    network = MemoryNetwork(nursery)
    network.add("push.example", "93.184.216.34", serve)
    return network


def opened(network: MemoryNetwork, **given: Any) -> AbstractAsyncContextManager[Frames]:
    return open_websocket(URL, Guard(network, network, ()), settings(), a_world(network), **given)


async def failure_of(nursery: trio.Nursery, serve: Serve) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        async with opened(a_network(nursery, serve)) as frames:
            while True:
                await frames.receive()
    return caught.value


async def taken(frames: Frames, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        found += await frames.receive()
    return found


async def test_frames_arrive_in_order_and_utf_8_bytes_as_text(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        for message in ("one", "zwei ä".encode(), b"\xff\xfe", "x" * FRAME_LIMIT):
            await connection.send_message(message)
        await rest(connection)

    network = a_network(nursery, accepting(session, subprotocol="feed"))
    async with opened(network, subprotocols=["feed"]) as frames:
        assert await taken(frames, 3) == ["one", "zwei ä", "x" * FRAME_LIMIT]
        assert frames.statistics().skipped == 1
        assert frames.subprotocol == "feed"
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == 0


async def test_a_frame_over_the_cap_ends_the_session_as_content(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        await connection.send_message("x" * (FRAME_LIMIT + 1))
        await rest(connection)

    assert (await failure_of(nursery, accepting(session))).blame is Blame.CONTENT


@pytest.mark.parametrize(
    ("code", "blame"),
    [
        (1000, Blame.REMOTE_TRANSIENT),
        (1001, Blame.REMOTE_TRANSIENT),
        (1008, Blame.REMOTE_PERMANENT),
        (1011, Blame.REMOTE_TRANSIENT),
        (1012, Blame.REMOTE_TRANSIENT),
        (1013, Blame.THROTTLED),
        (3000, Blame.REMOTE_PERMANENT),
        (4000, Blame.REMOTE_TRANSIENT),
    ],
)
async def test_the_close_code_decides_the_fault(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, code: int, blame: Blame
) -> None:
    failed = await failure_of(nursery, accepting(lambda connection: connection.aclose(code, "because")))
    assert failed.blame is blame
    assert f"with {code}: " in failed.reason
    assert failed.reason.endswith('("because")')
    assert isinstance(failed, SessionEnded)
    assert (failed.answered, failed.orderly) == (True, code in (1000, 1001, 1012))


async def test_a_connection_that_breaks_is_a_passing_fault(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        await trio.aclose_forcefully(connection._stream)

    assert (await failure_of(nursery, accepting(session))).blame is Blame.REMOTE_TRANSIENT


async def test_a_half_open_link_is_found_within_60_seconds(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def serve(stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as inner:
            request = await wrap_server_stream(inner, stream)
            await (await request.accept()).send_message("last words")
            inner.cancel_scope.cancel()
        await trio.sleep_forever()  # the stream stays open, unread

    before = trio.current_time()
    failed = await failure_of(nursery, keeping_open(serve))
    assert failed.blame is Blame.REMOTE_TRANSIENT
    assert "no pong" in failed.reason
    assert trio.current_time() - before <= 60


def keeping_open(serve: Serve) -> Serve:
    """Return a server whose library leaves the stream open when its reader is cancelled."""

    async def kept(stream: trio.abc.Stream) -> None:
        await serve(Unclosable(stream))

    return kept


class Unclosable(trio.abc.Stream):
    def __init__(self, inner: trio.abc.Stream) -> None:
        self.inner = inner

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self.inner.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self.inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return bytes(await self.inner.receive_some(max_bytes))

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


async def test_a_quiet_connection_that_answers_pings_stays_open(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        await trio.sleep(3600)
        await connection.send_message("at last")
        await rest(connection)

    async with opened(a_network(nursery, accepting(session))) as frames:
        assert await frames.receive() == ["at last"]


async def test_a_slow_reader_is_not_taken_for_a_dead_link(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        for number in range(50):
            await connection.send_message(str(number) * 2000)
            await trio.sleep(40)
        await rest(connection)

    async with opened(a_network(nursery, accepting(session))) as frames:
        seen = 0
        while seen < 50:
            await trio.sleep(170)
            seen += len(await frames.receive())
        assert (seen, frames.statistics().received) == (50, 50)


@pytest.mark.parametrize(
    ("status", "headers", "blame", "wait"),
    [
        (401, {}, Blame.REMOTE_PERMANENT, None),
        (404, {}, Blame.REMOTE_PERMANENT, None),
        (429, {"Retry-After": "90"}, Blame.THROTTLED, 90.0),
        (503, {"Retry-After": "60"}, Blame.THROTTLED, 60.0),
        (503, {}, Blame.REMOTE_TRANSIENT, None),
        (200, {}, Blame.REMOTE_PERMANENT, None),
    ],
)
async def test_a_refused_handshake_keeps_its_status(
    autojump_clock: trio.abc.Clock,
    nursery: trio.Nursery,
    status: int,
    headers: dict[str, str],
    blame: Blame,
    wait: float | None,
) -> None:
    failed = await failure_of(nursery, rejecting(status, headers))
    assert (failed.status, failed.blame, failed.retry_after) == (status, blame, wait)


async def test_a_handshake_that_never_ends_is_given_up(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    async def silent(stream: trio.abc.Stream) -> None:
        await trio.sleep_forever()

    before = trio.current_time()
    assert "handshake" in (await failure_of(nursery, silent)).reason
    assert trio.current_time() - before == pytest.approx(30)


async def test_an_answer_that_is_no_websocket_fails_the_check(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def garbage(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(b"220 mail.example ESMTP\r\n\r\n")

    assert (await failure_of(nursery, garbage)).blame is Blame.REMOTE_TRANSIENT


async def test_x2_a_private_address_is_refused_before_anything_is_sent(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    network = MemoryNetwork(nursery, names={"push.example": [("10.0.0.1",)]})
    with pytest.raises(CheckFailed) as caught:
        async with opened(network):
            pass
    assert caught.value.blame is Blame.REMOTE_PERMANENT
    assert network.connected == []


async def test_an_exception_of_the_block_comes_out_unwrapped(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    network = a_network(nursery, accepting(rest))
    with pytest.raises(ZeroDivisionError):
        async with opened(network):
            raise ZeroDivisionError
    with trio.move_on_after(5) as scope:
        async with opened(network) as frames:
            await frames.receive()
    assert scope.cancelled_caught
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == 0


@pytest.mark.parametrize(("status", "blame"), [(301, Blame.REMOTE_PERMANENT), (302, Blame.REMOTE_TRANSIENT)])
async def test_a_redirected_handshake_is_not_followed_and_names_its_target(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, status: int, blame: Blame
) -> None:
    network = a_network(nursery, rejecting(status, {"Location": "ws://inner.example/frames"}))
    with pytest.raises(CheckFailed, match=r"ws://inner\.example/frames.*not redirected") as caught:
        async with opened(network):
            pass
    assert (caught.value.status, caught.value.blame) == (status, blame)
    assert network.resolved == ["push.example"]


async def test_a_message_after_the_handshake_reaches_the_server(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        await connection.send_message(f"you said {await connection.get_message()!r}")
        await rest(connection)

    async with opened(a_network(nursery, accepting(session))) as frames:
        await frames.send("subscribe é")
        assert await frames.receive() == ["you said 'subscribe é'"]


async def test_a_reader_that_is_cancelled_again_and_again_misses_nothing(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def session(connection: WebSocketConnection) -> None:
        for number in range(300):
            await connection.send_message(str(number))
            await trio.sleep(0.003)
        await rest(connection)

    found: list[str] = []
    async with opened(a_network(nursery, accepting(session))) as frames:
        while len(found) < 300:
            with trio.move_on_after(0.005):
                while True:
                    found += await frames.receive()
    assert found == [str(number) for number in range(300)]


def test_the_parts_of_the_library_that_the_bounds_rest_on_are_there() -> None:
    called = set(WebSocketConnection._reader_task.__code__.co_names)
    handlers = {name for name in vars(BoundedConnection) if name.startswith("_handle_")}
    assert handlers == {name for name in called if name.startswith("_handle_")} - NOT_AFTER_A_HANDSHAKE
    for name in ("_close_web_socket", "_abort_web_socket", "_send"):
        assert inspect.iscoroutinefunction(getattr(WebSocketConnection, name))
    assert {"_initial_request", "_message_parts", "_subprotocol", "_recv_channel", "_send_channel"} <= set(
        WebSocketConnection.__init__.__code__.co_names
    )


NOT_AFTER_A_HANDSHAKE = {
    "_handle_accept_connection_event",
    "_handle_reject_connection_event",
    "_handle_reject_data_event",
    "_handle_request_event",
}


def raw_deflate(data: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
async def test_compressed_messages_are_read_within_bounds(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, pack: Callable[[bytes], bytes]
) -> None:
    large = b"x" * FRAME_LIMIT

    async def session(connection: WebSocketConnection) -> None:
        for message in (pack(b'{"id": 1}'), pack(large + b"x"), *[pack(large)] * 40, b"\xff\xfe", "end"):
            await connection.send_message(message)
        await rest(connection)

    async with opened(a_network(nursery, accepting(session))) as frames:
        assert await taken(frames, 1) == ['{"id": 1}']
        found: list[str] = []
        while found[-1:] != ["end"]:
            batch = await frames.receive()
            assert sum(map(len, batch)) <= 2 * FRAME_LIMIT
            found += batch
        counts = frames.statistics()
    assert (len(found), counts.received, counts.skipped) == (41, 44, 2)
    assert counts.why == "a binary frame is neither text nor compressed text"


async def test_a_session_that_is_closed_keeps_a_bounded_part_of_a_compressed_flood(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    bomb = gzip.compress(b"x" * FRAME_LIMIT)

    async def session(connection: WebSocketConnection) -> None:
        for _ in range(50):
            await connection.send_message(bomb)
        await rest(connection)

    async with opened(a_network(nursery, accepting(session))) as frames:
        await frames.receive()
    assert sum(map(len, frames.unread())) <= MOST_LEFT + 2 * FRAME_LIMIT


async def test_a_handshake_that_requires_an_extension_names_it(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    failed = await failure_of(nursery, rejecting(400, {}))
    assert "`subprotocols`, or `headers` such as an Origin" in failed.reason

    async def chooses(stream: trio.abc.Stream) -> None:
        head = (await stream.receive_some(65536)).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        token = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Accept: {token}", "Sec-WebSocket-Protocol: xmpp", "", ""]
        await stream.send_all("\r\n".join(lines).encode())
        await trio.sleep_forever()

    failed = await failure_of(nursery, chooses)
    assert failed.blame is Blame.REMOTE_PERMANENT
    assert failed.reason.endswith(
        "subprotocol xmpp: the server chose one that was not offered; name it in `subprotocols`"
    )
