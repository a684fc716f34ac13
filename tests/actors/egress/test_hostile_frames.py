"""A hostile WebSocket server, byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
import trio
import trio.testing
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection

from actors.egress.failures import Blame, CheckFailed
from actors.egress.websocket import BURST, CHUNK, MESSAGE_LIMIT, MOST_LEFT, MOST_PARTS, SLICE, SessionEnded
from tests.actors.egress.test_websocket import a_network, failure_of, opened, taken
from tests.support.memory_network import MemoryNetwork, Serve

MORE, TEXT, BYTES, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def raw(kind: int, payload: bytes = b"", *, last: bool = True, reserved: int = 0) -> bytes:
    length = len(payload)
    if length < 126:
        size = bytes([length])
    else:
        size = b"\x7e" + struct.pack("!H", length) if length <= 0xFFFF else b"\x7f" + struct.pack("!Q", length)
    return bytes([last << 7 | reserved << 4 | kind]) + size + payload


def saying(chunks: Iterator[bytes] | list[bytes], *, heard: list[bytes] | None = None) -> Serve:
    """Return a server that sends these bytes after the handshake and ignores all input."""

    async def serve(stream: trio.abc.Stream) -> None:
        connection = WSConnection(ConnectionType.SERVER)
        connection.receive_data(await stream.receive_some(65536))
        next(iter(connection.events()))
        await stream.send_all(connection.send(AcceptConnection()))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_listen, stream, heard)
            for chunk in chunks:
                await stream.send_all(chunk)

    return serve


async def _listen(stream: trio.abc.Stream, heard: list[bytes] | None) -> None:
    while data := await stream.receive_some(65536):
        if heard is not None:
            heard.append(bytes(data))


async def end_of(nursery: trio.Nursery, chunks: Iterator[bytes] | list[bytes]) -> CheckFailed:
    return await failure_of(nursery, saying(chunks))


async def test_fragments_become_one_message_with_pings_between_them(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    word = "år".encode()
    chunks = [raw(TEXT, word[:1], last=False), raw(PING, b"x"), raw(MORE, b"", last=False), raw(MORE, word[1:])]
    binary = [raw(BYTES, word[:1], last=False), raw(MORE, word[1:])]
    heard: list[bytes] = []
    async with opened(a_network(nursery, saying([*chunks, *binary], heard=heard))) as frames:
        assert await taken(frames, 2) == ["år", "år"]
        await trio.testing.wait_all_tasks_blocked()
    assert heard[0][:2] == bytes([0x80 | PONG, 0x80 | 1])


async def test_a_message_arrives_byte_by_byte(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    whole = raw(TEXT, b"slow but sure") + raw(BYTES, b"\xff") + raw(TEXT, b"y" * 70_000)
    chunks = [whole[at : at + 1] for at in range(40)] + [whole[40:]]
    async with opened(a_network(nursery, saying(chunks))) as frames:
        assert await taken(frames, 2) == ["slow but sure", "y" * 70_000]
        assert frames.statistics().skipped == 1


@pytest.mark.parametrize(
    ("chunk", "blame", "words"),
    [
        (raw(TEXT, b"caf\xe9!"), Blame.CONTENT, "not UTF-8"),
        (raw(TEXT, b"compressed", reserved=4), Blame.REMOTE_TRANSIENT, "Reserved bit"),
        (raw(3, b"?"), Blame.REMOTE_TRANSIENT, "Invalid opcode"),
        (raw(MORE, b"of what?"), Blame.REMOTE_TRANSIENT, "unexpected CONTINUATION"),
        (raw(TEXT, b"a", last=False) + raw(TEXT, b"b"), Blame.REMOTE_TRANSIENT, "expected CONTINUATION"),
        (raw(PING, b"x" * 126), Blame.REMOTE_TRANSIENT, "Control frame"),
        (raw(PING, b"x", last=False), Blame.REMOTE_TRANSIENT, "fragment control frame"),
        (raw(CLOSE, b"\x03"), Blame.REMOTE_TRANSIENT, "1 byte"),
        (raw(CLOSE, struct.pack("!H", 1015)), Blame.REMOTE_TRANSIENT, "local-only"),
        (raw(CLOSE, struct.pack("!H", 1000) + b"\xff"), Blame.CONTENT, "not UTF-8"),
        (raw(CLOSE), Blame.REMOTE_TRANSIENT, "1005: it gives no code"),
        (bytes([0x81, 0x81, 1, 2, 3, 4, 5]), Blame.REMOTE_TRANSIENT, "masked"),
        (raw(TEXT, b"x" * (MESSAGE_LIMIT + 1)), Blame.CONTENT, "more than 1 MiB"),
        (raw(TEXT, b"x" * MESSAGE_LIMIT, last=False) + raw(MORE, b"y"), Blame.CONTENT, "more than 1 MiB"),
        (raw(TEXT, "ä".encode() * (MESSAGE_LIMIT // 2) + b"x"), Blame.CONTENT, "more than 1 MiB"),
        (b"\x81\x7f" + struct.pack("!Q", 1 << 62) + b"x" * (MESSAGE_LIMIT + 1), Blame.CONTENT, "more than 1 MiB"),
        (b"\x81\x7f" + struct.pack("!Q", 1 << 63), Blame.REMOTE_TRANSIENT, "non-zero MSB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_protocol_violation_ends_the_session_with_a_reason(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, chunk: bytes, blame: Blame, words: str
) -> None:
    failed = await end_of(nursery, [raw(TEXT, b"a good one"), chunk])
    assert isinstance(failed, SessionEnded)
    assert (failed.blame, words in failed.reason) == (blame, True), failed.reason
    assert failed.answered
    assert (failed.code is None) == ("1005" not in words)


async def test_the_server_gets_the_reason(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    heard: list[bytes] = []
    await failure_of(nursery, saying([raw(TEXT, b"x" * (MESSAGE_LIMIT + 1))], heard=heard))
    assert heard[-1][0] == 0x80 | CLOSE
    mask, payload = heard[-1][2:6], heard[-1][6:8]
    assert bytes(a ^ b for a, b in zip(payload, mask, strict=False)) == struct.pack("!H", 1009)


@pytest.mark.parametrize("kind", [PING, PONG])
async def test_a_flood_of_control_frames_ends_the_session(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, kind: int
) -> None:
    failed = await end_of(nursery, [raw(kind, b"x") * (BURST + 1)])
    assert (failed.blame, "without content" in failed.reason) == (Blame.REMOTE_TRANSIENT, True)


class Ours(trio.abc.Stream):
    """Our end of a stream; it counts the bytes read. deaf: the other end reads nothing after the handshake."""

    def __init__(self, inner: trio.abc.Stream, *, deaf: bool = False) -> None:
        self.inner, self.deaf = inner, deaf
        self.read = 0
        self.sent: list[bytes] = []

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))
        if self.deaf and len(self.sent) > 1:
            await trio.sleep_forever()
        await self.inner.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        data = bytes(await self.inner.receive_some(max_bytes))
        self.read += len(data)
        return data

    async def aclose(self) -> None:
        await self.inner.aclose()


def seen_by_us(network: MemoryNetwork, *, deaf: bool = False) -> list[Ours]:
    """Return a list that collects our ends of the streams opened later."""
    ends: list[Ours] = []
    connect = network.connect

    async def connected(address: str, port: int) -> trio.abc.Stream:
        ends.append(Ours(await connect(address, port), deaf=deaf))
        return ends[-1]

    network.connect = connected  # type: ignore[method-assign]  # wraps each stream in Ours
    return ends


async def test_others_run_while_a_flood_is_read(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    network = a_network(nursery, saying([raw(PONG) * (BURST - 10) + raw(TEXT, b"at last")]))
    async with opened(network) as frames, trio.open_nursery() as others:
        others.start_soon(count)
        assert await frames.receive() == ["at last"]
        others.cancel_scope.cancel()
    assert turns >= (BURST - 10) // SLICE


@pytest.mark.parametrize("size", [10, 10_000, MESSAGE_LIMIT])
async def test_little_is_read_ahead_of_a_busy_caller(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, size: int
) -> None:
    network = a_network(nursery, saying([raw(TEXT, b"x" * size)] * (8 * MESSAGE_LIMIT // max(size, 1_000))))
    ends = seen_by_us(network)
    async with opened(network) as frames:
        first = await frames.receive()
        await trio.sleep(10)
        assert ends[0].read - sum(map(len, first)) <= 2 * MESSAGE_LIMIT + 3 * CHUNK
        nursery.cancel_scope.cancel()


async def test_the_body_of_a_refused_handshake_is_not_read(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    async def serve(stream: trio.abc.Stream) -> None:
        await stream.receive_some(CHUNK)
        await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n")
        await stream.send_all((b"10000\r\n" + b"x" * 0x10000 + b"\r\n") * 100)
        await trio.sleep_forever()

    network = a_network(nursery, serve)
    ends, before = seen_by_us(network), trio.current_time()
    with pytest.raises(CheckFailed) as caught:
        async with opened(network):
            pass
    assert (caught.value.status, caught.value.blame) == (403, Blame.REMOTE_PERMANENT)
    assert (ends[0].read <= 2 * CHUNK, trio.current_time() - before < 1) == (True, True)
    nursery.cancel_scope.cancel()


async def test_no_extension_is_offered(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    network = a_network(nursery, saying([]))
    ends = seen_by_us(network)
    async with opened(network):
        pass
    head = ends[0].sent[0].lower()
    assert (b"sec-websocket-key:" in head, b"sec-websocket-extensions:" in head) == (True, False)


async def test_a_server_that_goes_on_after_our_close_is_left_within_seconds(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    network = a_network(nursery, saying([(raw(PING, b"x") + raw(TEXT, b"x" * 10_000)) * 1_500]))
    async with opened(network) as frames:
        await frames.receive()
        before = trio.current_time()
    assert trio.current_time() - before <= 2
    assert MOST_LEFT <= sum(map(len, frames.unread())) <= MOST_LEFT + MESSAGE_LIMIT
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == 0


@pytest.mark.parametrize("deaf", [False, True], ids=["the server closed", "the server does not read"])
async def test_data_read_ahead_is_left_at_the_end(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, deaf: bool
) -> None:
    texts = [str(number) for number in range(50)]
    chunks = [raw(TEXT, text.encode()) for text in texts] + ([] if deaf else [raw(CLOSE, struct.pack("!H", 1001))])
    network = a_network(nursery, saying(chunks))
    seen_by_us(network, deaf=deaf)
    async with opened(network) as frames:
        await trio.testing.wait_all_tasks_blocked()
        before = trio.current_time()
    assert (frames.unread(), trio.current_time() - before <= 2) == (texts, True)


async def test_empty_fragments_do_not_pile_up(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    failed = await end_of(nursery, [raw(TEXT, b"", last=False) + raw(MORE, b"", last=False) * MOST_PARTS])
    assert "without content" in failed.reason


async def test_slow_fragments_do_not_pile_up_either(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    async def drip(stream: trio.abc.Stream) -> None:
        await saying([raw(TEXT, b"", last=False)])(Dripping(stream))

    class Dripping(trio.abc.SendStream):
        def __init__(self, inner: trio.abc.Stream) -> None:
            self.inner = inner

        async def send_all(self, data: bytes | bytearray | memoryview) -> None:
            await self.inner.send_all(data)
            if data[0] == TEXT:
                for _ in range(MOST_PARTS // 64 + 1):
                    await trio.sleep(0.7)
                    await self.inner.send_all(raw(MORE, b"", last=False) * 64)

        async def wait_send_all_might_not_block(self) -> None:
            await self.inner.wait_send_all_might_not_block()

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            return bytes(await self.inner.receive_some(max_bytes))

        async def aclose(self) -> None:
            await self.inner.aclose()

    assert f"more than {MOST_PARTS} parts" in (await failure_of(nursery, drip)).reason


async def test_pings_now_and_then_are_no_flood(autojump_clock: trio.abc.Clock, nursery: trio.Nursery) -> None:
    def chunks() -> Iterator[bytes]:
        for number in range(BURST - 10):
            yield raw(PING, b"x") + raw(TEXT, str(number).encode())

    async with opened(a_network(nursery, saying(chunks()))) as frames:
        assert len(await taken(frames, BURST - 10)) == BURST - 10


async def test_a_server_that_pings_and_never_reads_is_given_up(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery
) -> None:
    network = a_network(nursery, saying([raw(PING, b"x")]))
    seen_by_us(network, deaf=True)
    before = trio.current_time()
    with pytest.raises(CheckFailed, match="read nothing"):
        async with opened(network) as frames:
            await frames.receive()
    assert trio.current_time() - before < 10


@pytest.mark.parametrize(
    ("answer", "words", "blame"),
    [
        (b"Sec-WebSocket-Extensions: permessage-deflate\r\n", "extension", Blame.REMOTE_TRANSIENT),
        (b"Sec-WebSocket-Protocol: surprise\r\n", "name it in `subprotocols`", Blame.REMOTE_PERMANENT),
        (b"Sec-WebSocket-Protocol: \xc3\xa9\r\n", "ascii", Blame.REMOTE_TRANSIENT),
        (b"Sec-WebSocket-Accept: wrong\r\n", "accept", Blame.REMOTE_TRANSIENT),
        (b"X-Long: " + b"x" * 100_000 + b"\r\n", "Bad HTTP", Blame.REMOTE_TRANSIENT),
    ],
    ids=["extension", "subprotocol", "not ascii", "accept", "long"],
)
async def test_a_handshake_that_breaks_the_rules_fails_the_check(
    autojump_clock: trio.abc.Clock, nursery: trio.Nursery, answer: bytes, words: str, blame: Blame
) -> None:
    async def serve(stream: trio.abc.Stream) -> None:
        connection = WSConnection(ConnectionType.SERVER)
        connection.receive_data(await stream.receive_some(65536))
        next(iter(connection.events()))
        head = bytes(connection.send(AcceptConnection()))
        if b"Accept" in answer:
            head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"sec-websocket-a"))
        await stream.send_all(head[: -len(b"\r\n")] + answer + b"\r\n")
        await trio.sleep(5)

    failed = await failure_of(nursery, serve)
    assert (failed.blame, words in failed.reason) == (blame, True), failed.reason
