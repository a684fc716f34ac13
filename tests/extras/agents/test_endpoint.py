"""The Model Context Protocol over HTTP, on the whole application."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from extras.agents.protocol import VERSIONS
from tests.api.house import BASE_URL, House


async def sent(client: httpx.AsyncClient, method: str, **params: Any) -> dict[str, Any]:
    answer = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


async def test_a_client_begins_lists_and_calls(house: House) -> None:
    async with await house.client("stream:read") as client:
        begun = await sent(client, "initialize", protocolVersion=VERSIONS[0], capabilities={}, clientInfo={})
        assert begun["result"]["serverInfo"]["name"] == "sanderling"
        taken = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (taken.status_code, taken.content) == (202, b"")
        names = [tool["name"] for tool in (await sent(client, "tools/list"))["result"]["tools"]]
        assert "changes_since" in names
        told = await sent(client, "tools/call", name="changes_since", arguments={"since": "24h"})
        assert told["result"]["content"][0]["text"].startswith("Nothing new.")


async def test_a_tool_has_the_rights_of_its_key(house: House) -> None:
    async with await house.client("stream:read") as client:
        told = await sent(client, "tools/call", name="watch", arguments={"url": "https://a.example/"})
    assert told["result"]["isError"] and "lacks the scope sources:write" in told["result"]["content"][0]["text"]


async def test_a_key_in_the_other_header_is_the_tools_key_as_well(house: House) -> None:
    key = await house.key("stream:read")
    async with house.stranger(**{"X-API-Key": key}) as client:
        told = await sent(client, "tools/call", name="changes_since", arguments={})
    assert not told["result"].get("isError"), told


async def test_tool_calls_count_towards_the_keys_limit(house: House) -> None:
    async with await house.client("stream:read", rate=1, burst=3) as client:
        await sent(client, "tools/call", name="changes_since", arguments={})
        told = await sent(client, "tools/call", name="changes_since", arguments={})
    assert told["result"]["isError"] and "Wait" in told["result"]["content"][0]["text"]


async def test_without_a_key_or_with_another_version_or_rubbish_it_is_a_problem(house: House) -> None:
    async with house.stranger() as client:
        assert (await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})).status_code == 401
    async with await house.client("stream:read") as client:
        old = {"MCP-Protocol-Version": "1999-01-01"}
        refused = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=old)
        assert refused.status_code == 400 and VERSIONS[0] in refused.json()["detail"]
        assert (await client.post("/mcp", json=[{"jsonrpc": "2.0", "id": 1, "method": "ping"}])).status_code == 400
        assert (await client.post("/mcp", json={"jsonrpc": "1.0", "id": 1, "method": "ping"})).status_code == 400


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
        ("http://[::1", 403),
        ("http://localhost:3000", 200),
        ("http://[::1]:3000", 200),
        (BASE_URL, 200),
    ],
)
async def test_a_page_of_another_origin_may_not_use_it(house: House, origin: str, status: int) -> None:
    async with await house.client("stream:read") as client:
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await client.post("/mcp", json=message, headers={"Origin": origin})).status_code == status
        assert (await client.get("/mcp", headers={"Origin": origin})).status_code == (403 if status == 403 else 400)
