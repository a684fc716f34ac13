"""Ambiguous requests are refused: request smuggling, over raw bytes (X21, RFC 9112)."""

from __future__ import annotations

import json
from typing import Any

import h11
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from api.server.http1 import HEAD_LIMIT, LINE_LIMIT, StrictConnection
from tests.api.house import House, make_house, running
from tests.support.waiting import HANG

HOST = b"Host: x\r\n"
POST = b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
INNER = b"GET /healthz?smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"

SMUGGLING = {
    "length and chunks": POST + b"Content-Length: 6\r\n" + CHUNKED + b"0\r\n\r\n" + INNER,
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + INNER,
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + INNER,
    "two equal lengths": POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n" + INNER,
    "a list of lengths": POST + b"Content-Length: 0, 0\r\n\r\n" + INNER,
    "a signed length": POST + b"Content-Length: +0\r\n\r\n" + INNER,
    "a hexadecimal length": POST + b"Content-Length: 0x0\r\n\r\n" + INNER,
    "an endless length": POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + INNER,
    "an empty length": POST + b"Content-Length: \r\n\r\n" + INNER,
    "a folded header": POST + b"X: a\r\n Content-Length: 44\r\n\r\n" + INNER,
    "a folded coding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + INNER,
    "a bare LF in the head": POST + b"X: a\nContent-Length: 44\r\n\r\n" + INNER,
    "a bare LF as the end": b"GET / HTTP/1.1\nHost: x\n\n" + INNER,
    "a bare CR in the head": POST + b"X: a\rContent-Length: 44\r\n\r\n" + INNER,
    "a space before the colon": POST + b"Content-Length : 44\r\n\r\n" + INNER,
    "a space before a coding's colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + INNER,
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + INNER,
    "chunked, identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INNER,
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\n" + CHUNKED + b"0\r\n\r\n" + INNER,
    "a vertical tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + INNER,
    "a NUL": POST + b"X: \x00\r\n\r\n" + INNER,
    "chunks of HTTP/1.0": b"POST /v1/sources HTTP/1.0\r\n" + HOST + CHUNKED + b"0\r\n\r\n" + INNER,
    "HTTP/0.9": b"GET /healthz\r\n\r\n" + INNER,
    "HTTP/1.2": b"GET /healthz HTTP/1.2\r\n" + HOST + b"\r\n" + INNER,
    "HTTP/2 by prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + INNER,
    "an absolute target": b"GET http://other.test/healthz HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "CONNECT": b"CONNECT other.test:80 HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "an asterisk": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "a fragment": b"GET /healthz#x HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "a small method": b"delete /v1/sources/x HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "two spaces": b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "a tab for a space": b"GET\t/healthz HTTP/1.1\r\n" + HOST + b"\r\n" + INNER,
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + INNER,
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n" + INNER,
    "an empty name": b"GET /healthz HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n" + INNER,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40,
    "a chunk's extension": POST + CHUNKED + b"0;x=y\r\n\r\n" + INNER,
    "an extension with a bare LF": POST + CHUNKED + b"2;\nxx\r\n44\r\n0\r\n\r\n" + INNER,
    "an extension with a bare CR": POST + CHUNKED + b"2;\rxx\r\n44\r\n0\r\n\r\n" + INNER,
    "a space behind a chunk's size": POST + CHUNKED + b"0 \r\n\r\n" + INNER,
    "a chunk's size with a prefix": POST + CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n" + INNER,
    "a signed chunk's size": POST + CHUNKED + b"+2\r\n{}\r\n0\r\n\r\n" + INNER,
    "an endless chunk's size": POST + CHUNKED + b"0" * 20 + b"\r\n\r\n" + INNER,
    "a chunk's size ended by LF": POST + CHUNKED + b"2\n{}\r\n0\r\n\r\n" + INNER,
    "a chunk longer than its size": POST + CHUNKED + b"1\r\n{}\r\n0\r\n\r\n" + INNER,
    "an end by LF": POST + CHUNKED + b"2\r\n{}\r\n0\r\n\n" + INNER,
    "a trailer": POST + CHUNKED + b"2\r\n{}\r\n0\r\nContent-Length: 44\r\n\r\n" + INNER,
}


async def read_all(stream: trio.abc.Stream) -> bytes:
    return b"".join([bytes(piece) async for piece in stream])


def problem_in(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower() and b"x-request-id: " in head.lower()
    assert b"connection: close" in head.lower()
    found: dict[str, Any] = json.loads(body)
    return found


def asked(house: House) -> list[str]:
    """Return the paths of the answered requests, from the log."""
    return [fields["path"] for event, fields in house.logs if event == "http.request"]


@pytest.mark.parametrize("vector", SMUGGLING.values(), ids=SMUGGLING.keys())
async def test_x21_an_ambiguous_request_gets_a_problem_and_closes_the_connection(house: House, vector: bytes) -> None:
    """The client gets one 400 and the connection closes: no later bytes become a request."""
    answer = await read_all(await house.raw(vector))
    status = answer[9:12]
    assert answer.count(b"\r\ncontent-length: ") == 1
    if status == b"401":  # only the body was wrong, so the key was refused first
        assert "/healthz" not in asked(house)
        return
    assert status == b"400"
    problem = problem_in(answer)
    assert problem["type"].endswith("/invalid-request") and problem["errors"][0]["location"]
    assert "/healthz" not in asked(house)


async def test_a_broken_chunk_is_a_problem_while_the_body_is_waited_for(house: House) -> None:
    key = (await house.key()).encode()
    answer = await read_all(await house.raw(POST + b"X-API-Key: " + key + b"\r\n" + CHUNKED + b"zz\r\n"))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert problem_in(answer)["errors"][0]["location"] == "body"
    assert not house.registry.seen


@pytest.mark.parametrize(
    ("raw", "status", "slug"),
    [
        (b"GET /" + b"y" * LINE_LIMIT, 414, "target-too-long"),
        (b"GET /" + b"y" * LINE_LIMIT + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "target-too-long"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * HEAD_LIMIT, 431, "headers-too-large"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * HEAD_LIMIT + b"\r\n\r\n", 431, "headers-too-large"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 2000 + b"\r\n", 431, "headers-too-large"),
    ],
)
async def test_x21_a_head_has_limits(house: House, raw: bytes, status: int, slug: str) -> None:
    answer = await read_all(await house.raw(raw))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert problem_in(answer)["type"].endswith(f"/{slug}")


async def test_a_head_just_inside_the_limits_is_read(house: House) -> None:
    line = b"GET /" + b"y" * (LINE_LIMIT - 14) + b" HTTP/1.1\r\n"
    head = line + HOST + b"Connection: close\r\nX: " + b"y" * (HEAD_LIMIT - 60) + b"\r\n\r\n"
    assert (await read_all(await house.raw(head))).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    "upgrade",
    [
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Version: 13\r\n",
    ],
)
async def test_an_upgrade_is_not_taken_and_the_request_is_answered(house: House, upgrade: bytes) -> None:
    stream = await house.raw(b"GET /healthz HTTP/1.1\r\n" + HOST + upgrade + b"\r\n")
    assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
    await stream.send_all(b"GET /readyz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert b"HTTP/1.1 200 " in await read_all(stream)


async def test_requests_behind_each_other_are_answered_in_order(house: House) -> None:
    one = b"GET /healthz HTTP/1.1\r\n" + HOST
    answer = await read_all(await house.raw(one + b"\r\n" + one + b"\r\n" + one + b"Connection: close\r\n\r\n"))
    assert answer.count(b"HTTP/1.1 200 ") == 3


def body_of(pieces: list[bytes]) -> bytes | None:
    """Return the body that a strict connection reads from these pieces; None while incomplete."""
    connection, body = StrictConnection(h11.SERVER), b""
    for piece in pieces:
        connection.receive_data(piece)
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return body
    return None


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.data())
def test_chunks_are_read_at_any_cut(chunks: list[bytes], data: st.DataObject) -> None:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    raw = b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + framed
    cuts = sorted(data.draw(st.lists(st.integers(1, len(raw) - 1), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True) if a < b]
    assert body_of(pieces) == b"".join(chunks)
    assert body_of([raw[:-1]]) is None


@given(st.binary(max_size=80))
def test_any_head_is_read_or_refused(raw: bytes) -> None:
    connection = StrictConnection(h11.SERVER)
    connection.receive_data(b"GET / HTTP/1.1\r\n" + raw + b"\r\n\r\n")
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        assert error.error_status_hint in (400, 501)
    else:
        assert isinstance(event, h11.Request)
        assert all(b"\n" not in value and b"\r" not in value for _, value in event.headers)


@pytest.mark.real
async def test_a_sending_client_can_read_its_refusal() -> None:
    """Closing a socket with unread data resets it, and the answer is lost."""
    house = make_house(request_limit=1024)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    house.listener = listener  # type: ignore[assignment]  # a real listener
    address = listener.socket.getsockname()[:2]
    async with running(house):
        key = (await house.key()).encode()
        for head in (POST + b"X-API-Key: " + key + b"\r\n" + b"Content-Length: 4000000\r\n\r\n", b"nonsense\r\n\r\n"):
            stream = await trio.open_tcp_stream(*address)
            answer = b""
            with trio.fail_after(HANG):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(send_for_long, stream, head)
                    answer = await read_all(stream)
                    nursery.cancel_scope.cancel()
            assert answer.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 ")) and answer.endswith(b"}\n")
            await stream.aclose()


async def send_for_long(stream: trio.abc.Stream, head: bytes) -> None:
    await stream.send_all(head)
    try:
        for _ in range(20):
            await stream.send_all(b" " * 10_000)
            await trio.sleep(0.01)
    except trio.BrokenResourceError:
        pass
