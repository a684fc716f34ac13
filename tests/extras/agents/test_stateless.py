"""Requests of version 2026-07-28, on the whole application."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import httpx
import pytest

from extras.agents.protocol import VERSIONS
from extras.agents.stateless import VERSION
from tests.api.house import House

META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": {}}


async def sent(
    client: httpx.AsyncClient,
    method: str,
    *,
    meta: Any = ENVELOPE,
    headers: dict[str, str] | None = None,
    **params: Any,
) -> httpx.Response:
    name = str(params.get("name") or params.get("uri") or "")
    said = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method, "Mcp-Name": name, **(headers or {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
    return await client.post("/mcp", json=body, headers={name: value for name, value in said.items() if value})


async def test_a_client_discovers_lists_and_calls_without_a_session(house: House) -> None:
    async with await house.client("stream:read") as client:
        found = await sent(client, "server/discover")
        assert found.status_code == 200
        assert "Mcp-Session-Id" not in found.headers
        result = found.json()["result"]
        assert result["supportedVersions"] == [VERSION, *VERSIONS]
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{META}serverInfo"]["name"] == "sanderling"
        assert "subscribe" not in result["capabilities"]["resources"]
        tools = (await sent(client, "tools/list")).json()["result"]
        assert (tools["ttlMs"], tools["cacheScope"]) == (0, "private")
        called = await sent(client, "tools/call", name="changes_since", arguments={"since": "24h"})
        assert called.json()["result"]["content"][0]["text"].startswith("Nothing new.")


@pytest.mark.parametrize(
    ("headers", "meta", "status", "code"),
    [
        ({"Mcp-Method": "tools/call"}, ENVELOPE, 400, -32020),
        ({"Mcp-Method": ""}, ENVELOPE, 400, -32020),
        ({"MCP-Protocol-Version": VERSIONS[0]}, ENVELOPE, 400, -32020),
        ({"MCP-Protocol-Version": ""}, ENVELOPE, 400, -32020),
        ({"Mcp-Method": "=?base64?!?="}, ENVELOPE, 400, -32020),
        ({}, {f"{META}protocolVersion": VERSION}, 400, -32602),
        ({}, {**ENVELOPE, f"{META}protocolVersion": 7}, 400, -32602),
        ({}, "nonsense", 400, -32602),
    ],
)
async def test_a_request_that_contradicts_itself_is_refused(
    house: House, headers: dict[str, str], meta: Any, status: int, code: int
) -> None:
    async with await house.client("stream:read") as client:
        answer = await sent(client, "tools/list", headers=headers, meta=meta)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_a_name_may_be_encoded_and_must_be_the_bodys(house: House) -> None:
    async with await house.client("stream:read") as client:
        name = f"=?base64?{b64encode(b'changes_since').decode()}?="
        called = await sent(client, "tools/call", headers={"Mcp-Name": name}, name="changes_since", arguments={})
        assert called.status_code == 200
        other = await sent(client, "tools/call", headers={"Mcp-Name": "watch"}, name="changes_since", arguments={})
        assert other.json()["error"]["code"] == -32020


@pytest.mark.parametrize("method", ["subscriptions/listen", "initialize", "ping", "resources/subscribe"])
async def test_methods_of_other_versions_are_unknown(house: House, method: str) -> None:
    async with await house.client("stream:read") as client:
        answer = await sent(client, method)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


async def test_an_unknown_resource_or_tool_is_a_wrong_parameter(house: House) -> None:
    async with await house.client("stream:read") as client:
        for more in ({"method": "resources/read", "uri": "x://y"}, {"method": "tools/call", "name": "nothing"}):
            answer = await sent(client, **more)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


async def test_a_notification_is_taken_and_a_later_version_learns_what_there_is(house: House) -> None:
    async with await house.client("stream:read") as client:
        headers = {"MCP-Protocol-Version": VERSION}
        taken = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/x"}, headers=headers)
        assert taken.status_code == 202
        later = {**ENVELOPE, f"{META}protocolVersion": "2027-01-01"}
        refused = await sent(client, "tools/list", meta=later, headers={"MCP-Protocol-Version": "2027-01-01"})
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["data"]["supported"]) == (400, -32022, [VERSION])
