"""Lines in, lines out, with the service between."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from extras.agents.stateless import VERSION
from extras.agents.stdio import AGAIN, AT_ONCE, MOST, Bridge, serve
from sanderling.client.api import Client
from tests.api.house import House


def service(answer: Any) -> Bridge:
    return Bridge(Client("http://service.test", "svc_k", httpx.MockTransport(answer)))


async def slow(request: httpx.Request) -> httpx.Response:
    """Answer after as many seconds as the message asks."""
    message = json.loads(request.content)
    await trio.sleep(message["for"])
    return httpx.Response(200, json={"id": message["id"]})


async def lines_of(*pieces: bytes, bridge: Bridge | None = None) -> list[dict[str, Any]]:
    """Return the output for these pieces of input."""
    waiting, written = list(pieces), list[bytes]()

    async def read() -> bytes:
        await trio.sleep(0.01)
        return waiting.pop(0) if waiting else b""

    async def write(line: bytes) -> None:
        written.append(line)

    await serve(bridge or service(slow), read, write)
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


async def test_a_line_without_end_is_not_answered() -> None:
    assert await lines_of(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}') == []


async def test_each_line_is_one_request_and_its_answer_one_line() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, content=b'{"jsonrpc":"2.0","id":1,"result":{}}\n')

    assert await lines_of(call(1, 0), bridge=service(answer)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert (asked[0].url.path, asked[0].content) == ("/mcp", call(1, 0).rstrip())
    assert asked[0].headers["authorization"] == "Bearer svc_k"


async def test_a_refusal_is_the_messages_error_and_a_notification_gets_no_answer() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(403, json={"title": "No", "detail": "The key lacks the scope stream:read."})

    (said,) = await lines_of(call(1, 0), b'{"jsonrpc": "2.0", "method": "x"}\n', bridge=service(refuse))
    assert said["id"] == 1 and "stream:read" in said["error"]["message"]
    taken = service(lambda request: httpx.Response(202))
    assert await lines_of(b'{"jsonrpc": "2.0", "method": "x"}\n', bridge=taken) == []


@pytest.mark.parametrize("line", [b"rubbish\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"x" * (MOST + 9) + b"\n"])
async def test_rubbish_is_answered_as_such(line: bytes) -> None:
    bridge = service(lambda request: httpx.Response(400, json={"title": "No", "detail": "This is no JSON."}))
    (said,) = await lines_of(line, bridge=bridge)
    assert said["id"] is None and said["error"]["code"] == -32700


@given(st.binary(max_size=200))
def test_any_line_is_answered_or_ignored(line: bytes) -> None:
    bridge = service(lambda request: httpx.Response(400, json={"title": "No", "detail": "No."}))

    async def run() -> None:
        answered = await bridge.answer(line)
        assert not answered or json.loads(answered)["jsonrpc"] == "2.0"

    trio.run(run)


async def test_a_message_without_a_session_goes_with_the_headers_that_repeat_it(house: House) -> None:
    client = await house.client("stream:read")
    async with client:
        bridge = service(lambda request: forwarded(client, request))
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
        calls = [("server/discover", {}), ("tools/call", {"name": "sources", "arguments": {}})]
        calls += [("tools/call", {"name": "källor", "arguments": {}}), ("prompts/list", {})]
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta, **params}}).encode()
            for id, (method, params) in enumerate(calls)
        ]
        found = [json.loads(await bridge.answer(line)) for line in lines]
    assert [one["id"] for one in found] == [0, 1, 2, 3]
    assert VERSION in found[0]["result"]["supportedVersions"]
    assert found[1]["result"]["resultType"] == "complete"
    assert [one["error"]["code"] for one in found[2:]] == [-32602, -32601]


async def forwarded(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    headers = {name: value for name, value in request.headers.items() if name not in ("host", "authorization")}
    answer = await client.request(request.method, request.url.path, content=request.content, headers=headers)
    return httpx.Response(answer.status_code, content=answer.content)


class Restarted:
    """A service that forgets its sessions once: the requests it gets, and the frames of its streams."""

    def __init__(self) -> None:
        self.sessions = 0
        self.subscribed: list[tuple[str, str]] = []
        self.followed: list[tuple[str, str]] = []

    async def answer(self, request: httpx.Request) -> httpx.Response:
        session = request.headers.get("mcp-session-id", "")
        if request.method == "GET":
            return self.stream(session, request.headers.get("last-event-id", ""))
        message = json.loads(request.content)
        headers = {}
        if message["method"] == "initialize":
            self.sessions += 1
            headers = {"Mcp-Session-Id": f"session {self.sessions}"}
        else:
            self.subscribed.append((session, message["params"]["uri"]))
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": {}}, headers=headers)

    def stream(self, session: str, last: str) -> httpx.Response:
        self.followed.append((session, last))
        if len(self.followed) == 2:
            return httpx.Response(404, json={"title": "No", "detail": "This session has ended."})
        frames = b'data: {"n": %d}\nid: %d\n\n' % (len(self.followed), len(self.followed))
        return httpx.Response(200, content=frames, headers={"Content-Type": "text/event-stream"})


async def test_subscriptions_survive_a_forgotten_session(
    autojump_clock: object,
) -> None:
    restarted = Restarted()
    lines = [
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}\n',
        b'{"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "a"}}\n',
        b'{"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": "b"}}\n',
        b'{"jsonrpc": "2.0", "id": 4, "method": "resources/unsubscribe", "params": {"uri": "a"}}\n',
    ]
    written = list[dict[str, Any]]()

    async def read() -> bytes:
        await trio.sleep(1)
        if lines:
            return lines.pop(0)
        await trio.sleep(AGAIN + 2)
        return b""

    async def write(line: bytes) -> None:
        written.append(json.loads(line))

    await serve(service(restarted.answer), read, write)
    assert {"n": 1} in written and {"n": 3} in written
    assert restarted.followed[:3] == [("session 1", ""), ("session 1", "1"), ("session 2", "1")]
    assert ("session 2", "b") in restarted.subscribed and ("session 2", "a") not in restarted.subscribed
