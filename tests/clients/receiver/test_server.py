"""The receiver's HTTP: whole requests get through; everything else gets an error and a report."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import memory_stream_pair

from sanderling_client.receiver import server
from sanderling_client.receiver.capture import Capture
from sanderling_client.receiver.server import HttpReceiver, Reply
from storage.records.identity import Millis

POST = b"POST /in?x=1 HTTP/1.1\r\nHost: a\r\nWebhook-Id: 7\r\nContent-Length: 3\r\n\r\nabc"


class Rig:
    def __init__(self) -> None:
        self.taken: list[Capture] = []
        self.told: list[str] = []
        self.answered = 0
        self.reply = Reply(200)
        self.http = HttpReceiver(self._take, now=lambda: Millis(5), answered=self._answered, tell=self.told.append)

    async def _take(self, capture: Capture) -> Reply:
        self.taken.append(capture)
        return self.reply

    def _answered(self) -> None:
        self.answered += 1

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[trio.abc.Stream]:
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.http.serve, theirs)
            yield ours
            await ours.aclose()

    async def says(self, *parts: bytes) -> bytes:
        """Send parts, close our side, and return the whole reply."""
        async with self.connected() as stream:
            for part in parts:
                await stream.send_all(part)
            await stream.send_eof()  # type: ignore[attr-defined]
            return b"".join([part async for part in stream])  # type: ignore[attr-defined]


async def test_a_request_arrives_as_it_was_sent_and_gets_its_reply() -> None:
    rig = Rig()
    said = await rig.says(POST)
    assert rig.taken == [
        Capture("POST", "/in", "x=1", (("Host", "a"), ("Webhook-Id", "7"), ("Content-Length", "3")), b"abc", Millis(5))
    ]
    assert said.startswith(b"HTTP/1.1 200 OK\r\n") and said.endswith(b"\r\n\r\nOK\n")
    assert rig.answered == 1


async def test_a_connection_serves_one_request_after_the_other() -> None:
    rig = Rig()
    chunked = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
    await rig.says(POST, chunked, POST[:30], POST[30:])
    assert [capture.body for capture in rig.taken] == [b"abc", b"de", b"abc"]


async def test_expect_100_continue_is_answered() -> None:
    rig = Rig()
    async with rig.connected() as stream:
        await stream.send_all(POST[:-3].replace(b"Webhook-Id: 7", b"Expect: 100-continue"))
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 100")
        await stream.send_all(b"abc")
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("status", [200, 204, 304, 429, 500, 599])
async def test_any_status_can_be_answered(status: int) -> None:
    rig = Rig()
    rig.reply = Reply(status, "because")
    said = await rig.says(POST)
    assert said.startswith(b"HTTP/1.1 %d " % status)
    assert said.endswith(b"\r\n\r\n") == (status in (204, 304))


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (b"hello\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n" + b"x" * (server.BODY_LIMIT + 1), 413),
    ],
)
async def test_a_request_that_is_no_delivery_is_answered_and_not_taken(
    request_bytes: bytes, status: int, autojump_clock: object
) -> None:
    rig = Rig()
    assert (await rig.says(request_bytes)).startswith(b"HTTP/1.1 %d" % status)
    assert rig.taken == [] and rig.answered == 0
    assert rig.told[0].startswith(f"answered {status}: ")


async def test_a_client_that_is_too_slow_is_disconnected(autojump_clock: object) -> None:
    rig = Rig()
    async with rig.connected() as stream:
        await stream.send_all(POST[:-1])
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 408")
    assert trio.current_time() >= server.PATIENCE


async def test_a_client_that_leaves_in_the_middle_does_no_harm() -> None:
    rig = Rig()
    async with rig.connected() as stream:
        await stream.send_all(POST[:-1])
    assert rig.taken == []


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_at_all_bring_it_down(noise: bytes, after_a_head: bool) -> None:
    rig = Rig()

    async def run() -> None:
        await rig.says(POST[:-3] + noise if after_a_head else noise)
        assert (await rig.says(POST)).startswith(b"HTTP/1.1 200")

    trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
