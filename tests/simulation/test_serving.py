"""Scripted servers answer at once, slowly, by half, or never, and notice when the client has gone."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock

from tests.simulation.network import SimNetwork
from tests.simulation.serving import LONGEST_STALL, Answer, Request, serve_http

HEAD = b'GET /feed HTTP/1.1\r\nHost: a.org\r\nIf-None-Match: "1"\r\n\r\n'


async def ask(nursery: trio.Nursery, answer: Answer, sent: bytes = HEAD, *, patience: float = 3600.0) -> bytes:
    """Return a server's output within `patience` seconds; then the client hangs up."""
    network = SimNetwork(random.Random(1))
    asked: list[Request] = []

    async def respond(request: Request) -> Answer:
        asked.append(request)
        return answer

    nursery.start_soon(serve_http, respond, await network.side("a.org").listen("", 80))
    stream = await network.side("client.org").connect(network.hosts["a.org"].address, 80)
    received = b""
    with trio.move_on_after(patience):
        await stream.send_all(sent)
        while piece := await stream.receive_some():
            received += piece
    await stream.aclose()
    await trio.sleep(1)
    assert all(request.path == "/feed" for request in asked)
    return received


async def test_an_answer_is_whole_and_its_length_right(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    said = await ask(nursery, Answer(200, b"hello", {"etag": '"2"'}))
    assert said.startswith(b"HTTP/1.1 200 ") and said.endswith(b"\r\n\r\nhello")
    assert b"content-length: 5\r\n" in said and b'etag: "2"\r\n' in said


async def test_a_304_has_no_body(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    assert (await ask(nursery, Answer(304, b"none"))).endswith(b"\r\n\r\n")


async def test_a_body_is_read_whole_before_it_is_answered(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    sent = b"POST /feed HTTP/1.1\r\nContent-Length: 4\r\n\r\nab"
    assert await ask(nursery, Answer(204), sent, patience=60) == b""
    assert await ask(nursery, Answer(204), sent + b"cd", patience=60)


@pytest.mark.parametrize(("pace", "least", "most"), [("never", 0, 0), ("half", 40, 120), ("trickle", 10, 20)])
async def test_a_server_may_stall(
    nursery: trio.Nursery, autojump_clock: MockClock, pace: str, least: int, most: int
) -> None:
    answer = replace(Answer(200, bytes(100)), pace=pace)  # type: ignore[arg-type]  # one of the literals
    assert least <= len(await ask(nursery, answer, patience=30)) <= most


@pytest.mark.parametrize(("patience", "ends"), [(30.0, 31.0), (3600.0, LONGEST_STALL)])
async def test_a_stalling_server_ends_with_its_client_or_by_itself(
    nursery: trio.Nursery, autojump_clock: MockClock, patience: float, ends: float
) -> None:
    finished: list[float] = []
    began = trio.current_time()
    answer = Answer(200, pace="never", finished=lambda: finished.append(trio.current_time() - began))
    await ask(nursery, answer, patience=patience)
    assert finished == [pytest.approx(ends, abs=2.0)]
