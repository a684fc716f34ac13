"""The protocol's messages: what is answered, what is refused, and what wants no answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from sanderling.agents.protocol import MOST, VERSIONS, Refused, Result, Session, Unknown
from sanderling.agents.stdio import AT_ONCE, serve


class Box:
    """One tool that echoes, one that refuses, one that takes a while."""

    def tools(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": "echo"}]

    def templates(self) -> Sequence[Mapping[str, Any]]:
        return [{"uriTemplate": "x://{id}"}]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        match name:
            case "echo":
                return Result(str(arguments), dict(arguments))
            case "slow":
                await trio.sleep(arguments["for"])
                return Result(str(arguments["for"]))
            case "no":
                raise Refused("The key lacks sources:write.")
        raise Unknown(f"There is no tool {name}.")

    async def read(self, uri: str) -> str:
        if uri != "x://1":
            raise Unknown("There is no such resource.")
        return "text"


def session() -> Session:
    return Session(Box(), "1.2.3", "Read on.")


async def asked(method: str, **params: Any) -> dict[str, Any]:
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()
    answer = await session().answer(line)
    assert answer is not None
    said: dict[str, Any] = json.loads(answer)
    assert (said.pop("jsonrpc"), said.pop("id")) == ("2.0", 7)
    return said


@pytest.mark.parametrize(
    ("version", "answered"), [(VERSIONS[1], VERSIONS[1]), ("1999-01-01", VERSIONS[0]), (5, VERSIONS[0])]
)
async def test_a_session_begins_with_a_version_that_both_speak(version: object, answered: str) -> None:
    result = (await asked("initialize", protocolVersion=version))["result"]
    assert (result["protocolVersion"], result["instructions"]) == (answered, "Read on.")
    assert result["serverInfo"]["version"] == "1.2.3" and set(result["capabilities"]) == {"tools", "resources"}


async def test_tools_and_resources_are_listed_called_and_read() -> None:
    assert (await asked("ping"))["result"] == {}
    assert (await asked("tools/list"))["result"] == {"tools": [{"name": "echo"}]}
    assert (await asked("resources/list"))["result"] == {"resources": []}
    assert (await asked("resources/templates/list"))["result"]["resourceTemplates"]
    told = (await asked("tools/call", name="echo", arguments={"a": 1}))["result"]
    assert told == {"content": [{"type": "text", "text": "{'a': 1}"}], "structuredContent": {"a": 1}}
    assert (await asked("resources/read", uri="x://1"))["result"]["contents"][0]["text"] == "text"


async def test_what_a_tool_refuses_is_for_the_model_and_what_is_unknown_for_the_program() -> None:
    refused = (await asked("tools/call", name="no"))["result"]
    assert refused["isError"] and "sources:write" in refused["content"][0]["text"]
    assert (await asked("tools/call", name="none"))["error"]["code"] == -32602
    assert (await asked("tools/call", name=5))["error"]["code"] == -32602
    assert (await asked("tools/call", name="echo", arguments=[1]))["error"]["code"] == -32602
    assert (await asked("resources/read", uri="x://2"))["error"]["code"] == -32002
    assert (await asked("sampling/createMessage"))["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"rubbish", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 5}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "x": "' + b"a" * MOST + b'"}', -32600),
    ],
)
async def test_what_is_no_message_is_an_error_with_a_number(line: bytes, code: int) -> None:
    answer = await session().answer(line)
    assert answer is not None and json.loads(answer)["error"]["code"] == code


@pytest.mark.parametrize("message", [{"method": "notifications/initialized"}, {"id": 4, "result": {}}])
async def test_notifications_and_answers_want_no_answer(message: dict[str, Any]) -> None:
    assert await session().answer(json.dumps({"jsonrpc": "2.0", **message}).encode()) is None


@given(st.binary(max_size=200))
def test_whatever_a_line_says_it_is_answered_or_left(line: bytes) -> None:
    async def run() -> None:
        answer = await session().answer(line)
        assert answer is None or json.loads(answer)["jsonrpc"] == "2.0"

    trio.run(run)


async def lines_of(*pieces: bytes) -> list[dict[str, Any]]:
    """Return what is written when these pieces are read, one after the other."""
    waiting, written = list(pieces), list[bytes]()

    async def read() -> bytes:
        await trio.sleep(0.01)
        return waiting.pop(0) if waiting else b""

    async def write(line: bytes) -> None:
        written.append(line)

    await serve(session(), read, write)
    return [json.loads(line) for line in written]


def call(id: int, seconds: float) -> bytes:
    params = {"name": "slow", "arguments": {"for": seconds}}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode() + b"\n"


async def test_messages_may_be_cut_anywhere_and_slow_ones_hold_up_no_others(autojump_clock: object) -> None:
    whole = call(1, 5) + call(2, 1) + call(3, 0)
    for at in range(1, len(whole), 7):
        assert [one["id"] for one in await lines_of(whole[:at], whole[at:])] == [3, 2, 1]


async def test_no_more_are_answered_at_once_than_may_be(autojump_clock: object) -> None:
    found = await lines_of(b"".join(call(number, 10) for number in range(AT_ONCE)), call(9, 0))
    assert [one["id"] for one in found][-1] == 9


async def test_what_has_no_end_of_line_is_not_answered() -> None:
    assert await lines_of(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}') == []
