"""A conversation with the official SDK of the protocol, over HTTP, with a real service."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from sanderling.environment import environ
from tests.api.browser.origin import Answer, an_origin
from tests.api.browser.service import a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import wait_until

pytestmark = pytest.mark.real
KETTLE = ["It whistles a low note, and pours without a drip.", "Price: £349.00"]


@pytest.fixture
def sdk() -> Any:
    if importlib.util.find_spec("mcp") is None:
        (pytest.fail if environ().get("CI") == "true" else pytest.skip)("the package mcp is not installed")
    import mcp.client.streamable_http

    return mcp


def test_watch_it_and_tell_me_below_300_in_my_chat(sdk: Any, tmp_path: Path) -> None:
    import anyio

    with an_origin() as origin, a_service(tmp_path / "data") as service:
        page = origin.page("/kettle", "Copper kettle", KETTLE)
        origin.says["/slack"] = Answer("ok")
        standing = service.ask("POST", "/v1/alerts", {"filter_query": "nothing", "name": "My chat"})["id"]
        body = {"kind": "slack", "url": f"{origin.url}/slack", "label": "Slack of the shop"}
        service.ask("POST", f"/v1/alerts/{standing}/destinations", body)
        said: dict[str, str] = {}

        async def talk() -> None:
            http = sdk.client.streamable_http
            async with (
                http.create_mcp_http_client(headers=dict(service.api.headers)) as client,
                http.streamable_http_client(f"{service.url}/mcp", http_client=client) as streams,
                sdk.ClientSession(*streams[:2]) as session,
            ):
                await session.initialize()
                tools = {tool.name: tool for tool in (await session.list_tools()).tools}
                assert tools["stop_watching"].annotations.destructive_hint
                assert not tools["create_alert"].annotations.destructive_hint
                assert tools["values"].annotations.read_only_hint
                for name, arguments in (
                    ("detect", {"url": page}),
                    ("destinations", {}),
                    ("watch", {"url": page, "title": "Kettle"}),
                    ("create_alert", {"query": "price<300", "source": "Kettle", "notify": "Slack of the shop"}),
                ):
                    result = await session.call_tool(name, arguments)
                    assert not result.is_error, result
                    said[name] = result.content[0].text
                refused = await session.call_tool("create_alert", {"query": "prise<300"})
                assert refused.is_error and "condition" in refused.content[0].text

        anyio.run(talk, backend="trio")
        assert "Price: £349.00" in said["detect"] and "Slack of the shop" in said["destinations"]
        assert "Its matches go to Slack" in said["create_alert"]
        (source,) = service.ask("GET", "/v1/sources")
        origin.page("/kettle", "Copper kettle", [KETTLE[0], "Price: £289.00"])
        service.look(source["id"])
        wait_until(lambda: any(path == "/slack" and "£289.00".encode() in body for path, body in origin.taken))


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_command_speaks_the_sdks_version(sdk: Any, tmp_path: Path, mode: str, version: str) -> None:
    import anyio
    from mcp.client.client import Client

    with a_service(tmp_path / "data") as service:
        command = sdk.StdioServerParameters(
            command=sys.executable,
            args=["-m", "sanderling", "mcp", "--url", service.url],
            env={"SANDERLING_KEY": service.key, "PATH": environ()["PATH"]},
            cwd=ROOT,
        )

        async def talk() -> None:
            async with Client(command, mode=mode) as client:
                assert client.protocol_version == version
                assert "changes_since" in {tool.name for tool in (await client.list_tools()).tools}
                assert not (await client.call_tool("sources", {})).is_error
                refused = await client.call_tool("create_alert", {"query": "prise<300"})
                assert refused.is_error and "condition" in refused.content[0].text

        anyio.run(talk, backend="trio")
