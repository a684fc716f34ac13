"""Lines in, lines out, with the service between."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from sanderling.agents.stdio import AT_ONCE, MOST, Answering, serve, through
from sanderling.client.api import Client


def service(answer: Any) -> Answering:
    return through(Client("http://service.test", "svc_k", httpx.MockTransport(answer)))


async def slow(line: bytes) -> bytes:
    """Answer after as many seconds as the message says."""
    message = json.loads(line)
    await trio.sleep(message["for"])
    return json.dumps({"id": message["id"]}).encode()


async def lines_of(*pieces: bytes, answering: Answering = slow) -> list[dict[str, Any]]:
    """Return what is written when these pieces are read, one after the other."""
    waiting, written = list(pieces), list[bytes]()

    async def read() -> bytes:
        await trio.sleep(0.01)
        return waiting.pop(0) if waiting else b""

    async def write(line: bytes) -> None:
        written.append(line)

    await serve(answering, read, write)
    return [json.loads(line) for line in written]


def call(id: int, seconds: float) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping", "for": seconds}).encode() + b"\n"


async def test_messages_may_be_cut_anywhere_and_slow_ones_hold_up_no_others(autojump_clock: object) -> None:
    whole = call(1, 5) + call(2, 1) + call(3, 0)
    for at in range(1, len(whole), 7):
        assert [one["id"] for one in await lines_of(whole[:at], whole[at:])] == [3, 2, 1]


async def test_no_more_are_answered_at_once_than_may_be(autojump_clock: object) -> None:
    found = await lines_of(b"".join(call(number, 10) for number in range(AT_ONCE)), call(9, 0))
    assert [one["id"] for one in found][-1] == 9


async def test_what_has_no_end_of_line_is_not_answered() -> None:
    assert await lines_of(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}') == []


async def test_a_line_is_what_the_service_is_asked_and_its_answer_a_line() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, content=b'{"jsonrpc":"2.0","id":1,"result":{}}\n')

    assert await lines_of(call(1, 0), answering=service(answer)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert (asked[0].url.path, asked[0].content) == ("/mcp", call(1, 0).rstrip())
    assert asked[0].headers["authorization"] == "Bearer svc_k"


async def test_what_the_service_refuses_is_an_error_of_the_message_and_what_wants_no_answer_gets_none() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(403, json={"title": "No", "detail": "The key lacks the scope stream:read."})

    (said,) = await lines_of(call(1, 0), b'{"jsonrpc": "2.0", "method": "x"}\n', answering=service(refuse))
    assert said["id"] == 1 and "stream:read" in said["error"]["message"]
    taken = service(lambda request: httpx.Response(202))
    assert await lines_of(b'{"jsonrpc": "2.0", "method": "x"}\n', answering=taken) == []


@pytest.mark.parametrize("line", [b"rubbish\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"x" * (MOST + 9) + b"\n"])
async def test_rubbish_is_answered_as_such(line: bytes) -> None:
    answering = service(lambda request: httpx.Response(400, json={"title": "No", "detail": "This is no JSON."}))
    (said,) = await lines_of(line, answering=answering)
    assert said["id"] is None and said["error"]["code"] == -32700


@given(st.binary(max_size=200))
def test_whatever_a_line_says_it_is_answered_or_left(line: bytes) -> None:
    answering = service(lambda request: httpx.Response(400, json={"title": "No", "detail": "No."}))

    async def run() -> None:
        answered = await answering(line)
        assert not answered or json.loads(answered)["jsonrpc"] == "2.0"

    trio.run(run)
