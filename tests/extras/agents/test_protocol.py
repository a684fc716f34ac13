"""MCP messages: answers, refusals, and notifications without an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from extras.agents.protocol import VERSIONS, Refused, Result, Session, Unknown


class Box:
    """One tool echoes, another refuses."""

    def tools(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": "echo"}]

    def templates(self) -> Sequence[Mapping[str, Any]]:
        return [{"uriTemplate": "x://{id}"}]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        match name:
            case "echo":
                return Result(str(arguments), dict(arguments))
            case "no":
                raise Refused("The key lacks sources:write.")
        raise Unknown(f"There is no tool {name}.")

    def resources(self) -> Sequence[Mapping[str, Any]]:
        return [{"uri": "x://1", "name": "one"}]

    async def subscribe(self, uri: str) -> None:
        if uri == "x://full":
            raise Refused("Enough.")
        await self.read(uri)

    def unsubscribe(self, uri: str) -> None:
        if uri == "x://2":
            raise Refused("There is no session.")

    async def read(self, uri: str) -> str:
        if uri != "x://1":
            raise Unknown("There is no such resource.")
        return "text"


def session() -> Session:
    return Session(Box(), "1.2.3", "Read on.")


async def asked(method: str, **params: Any) -> dict[str, Any]:
    answer = await session().answer({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    assert answer is not None
    assert (answer.pop("jsonrpc"), answer.pop("id")) == ("2.0", 7)
    return answer


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
    assert (await asked("resources/list"))["result"] == {"resources": [{"uri": "x://1", "name": "one"}]}
    assert (await asked("resources/templates/list"))["result"]["resourceTemplates"]
    told = (await asked("tools/call", name="echo", arguments={"a": 1}))["result"]
    assert told == {"content": [{"type": "text", "text": "{'a': 1}"}], "structuredContent": {"a": 1}}
    assert (await asked("resources/read", uri="x://1"))["result"]["contents"][0]["text"] == "text"


async def test_tool_refusals_reach_the_model_and_unknown_tools_the_program() -> None:
    refused = (await asked("tools/call", name="no"))["result"]
    assert refused["isError"] and "sources:write" in refused["content"][0]["text"]
    assert (await asked("tools/call", name="none"))["error"]["code"] == -32602
    assert (await asked("tools/call", name=5))["error"]["code"] == -32602
    assert (await asked("tools/call", name="echo", arguments=[1]))["error"]["code"] == -32602
    assert (await asked("resources/read", uri="x://2"))["error"]["code"] == -32002
    assert (await asked("sampling/createMessage"))["error"]["code"] == -32601


async def test_subscriptions_are_accepted_for_known_resources_only() -> None:
    assert (await asked("initialize"))["result"]["capabilities"]["resources"] == {"subscribe": True}
    assert (await asked("resources/subscribe", uri="x://1"))["result"] == {}
    assert (await asked("resources/unsubscribe", uri="x://1"))["result"] == {}
    assert (await asked("resources/subscribe", uri="x://2"))["error"]["code"] == -32002
    assert (await asked("resources/subscribe", uri="x://full"))["error"]["code"] == -32602
    assert (await asked("resources/unsubscribe", uri="x://2"))["error"]["code"] == -32602


@pytest.mark.parametrize("message", [{"method": "notifications/initialized"}, {"id": 4, "result": {}}])
async def test_notifications_and_answers_want_no_answer(message: dict[str, Any]) -> None:
    assert await session().answer({"jsonrpc": "2.0", **message}) is None
