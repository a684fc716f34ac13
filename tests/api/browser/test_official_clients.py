"""From the address to the first call of a tool without typing a key: the official SDK, mcp-remote, a hosted connector.

The person signs in and clicks Allow in Chromium; everything else is the client's own code.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from sanderling.environment import environ
from tests.api.browser.service import Service
from tests.support import node
from tests.support.waiting import HANG

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Allow = Callable[[str], None]


@pytest.fixture
def allow(chromium: Browser, service: Service, cookies: Any) -> Iterator[Allow]:
    """Return a person, signed in, who opens an authorization address and clicks Allow."""
    with chromium.new_context(storage_state=cookies) as context:
        page = context.new_page()

        def click(address: str) -> None:
            page.goto(address)
            page.get_by_role("button", name="Allow").click()
            page.wait_for_url(lambda url: not url.startswith(service.url))

        yield click


@contextmanager
def a_callback() -> Iterator[tuple[str, Queue[str]]]:
    """Serve a redirect URI of a hosted connector; yield it and its requests."""
    arrived: Queue[str] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            arrived.put(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"Connected.")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/back", arrived
    finally:
        server.shutdown()
        server.server_close()


def fields_of(path: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}


def test_a_hosted_connector_connects_with_one_click(service: Service, allow: Allow) -> None:
    with a_callback() as (back, arrived), httpx.Client(timeout=HANG) as http:
        refused = http.post(f"{service.url}/mcp", json={})
        metadata = refused.headers["WWW-Authenticate"].partition('resource_metadata="')[2].rstrip('"')
        resource = http.get(metadata).json()
        server = http.get(f"{resource['authorization_servers'][0]}/.well-known/oauth-authorization-server").json()
        body = {"client_name": "Hosted", "redirect_uris": [back]}
        client = http.post(server["registration_endpoint"], json=body).json()["client_id"]
        verifier = "v" * 64
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "client_id": client,
            "redirect_uri": back,
            "response_type": "code",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": "the state",
            "scope": " ".join(resource["scopes_supported"]),
            "resource": resource["resource"],
        }
        allow(f"{server['authorization_endpoint']}?{urlencode(asked)}")
        came = fields_of(arrived.get(timeout=HANG))
        assert (came["state"], came["iss"]) == ("the state", server["issuer"])
        form = {"grant_type": "authorization_code", "client_id": client, "redirect_uri": back, "code": came["code"]}
        tokens = http.post(server["token_endpoint"], data={**form, "code_verifier": verifier}).json()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sources", "arguments": {}}}
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        called = http.post(resource["resource"], json=message, headers=headers)
    assert called.json()["result"].get("isError") is None, called.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_sdk_connects_with_one_click(service: Service, allow: Allow, mode: str) -> None:
    if importlib.util.find_spec("mcp") is None:
        (pytest.fail if environ().get("CI") == "true" else pytest.skip)("the package mcp is not installed")
    import anyio
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
    from pydantic import AnyUrl

    class Kept:
        """Tokens and registration, in memory."""

        tokens: Any = None
        info: Any = None

        async def get_tokens(self) -> Any:
            return self.tokens

        async def set_tokens(self, tokens: Any) -> None:
            self.tokens = tokens

        async def get_client_info(self) -> Any:
            return self.info

        async def set_client_info(self, client_info: Any) -> None:
            self.info = client_info

    async def talk(back: str, arrived: Queue[str]) -> tuple[str, Any]:
        async def open_browser(address: str) -> None:
            addresses.put(address)

        async def wait_for_code() -> Any:
            came = fields_of(await anyio.to_thread.run_sync(lambda: arrived.get(timeout=HANG)))
            return AuthorizationCodeResult(code=came["code"], state=came["state"], iss=came["iss"])

        metadata = OAuthClientMetadata(client_name="The SDK", redirect_uris=[AnyUrl(back)])
        oauth = OAuthClientProvider(f"{service.url}/mcp", metadata, Kept(), open_browser, wait_for_code)
        async with create_mcp_http_client(auth=oauth) as http:
            transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                result = await client.call_tool("sources", {})
                return str(client.protocol_version), result

    addresses: Queue[str] = Queue()
    found = list[Any]()
    with a_callback() as (back, arrived):
        thread = threading.Thread(target=lambda: found.append(anyio.run(talk, back, arrived)), daemon=True)
        thread.start()
        allow(addresses.get(timeout=HANG))
        thread.join(HANG)
    ((version, result),) = found
    assert version == ("2026-07-28" if mode == "auto" else "2025-11-25")
    assert not result.is_error, result


def test_mcp_remote_connects_with_one_click(service: Service, allow: Allow, tmp_path: Path) -> None:
    program = node.modules() / "node_modules/mcp-remote/dist/proxy.js"
    command = [str(shutil.which("node")), str(program), f"{service.url}/mcp", "--allow-http"]
    settings = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "MCP_REMOTE_CONFIG_DIR": str(tmp_path),
        "BROWSER": "true",
    }
    with subprocess.Popen(
        command, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as remote:
        try:
            assert remote.stdin is not None and remote.stdout is not None and remote.stderr is not None
            address = next(word for line in remote.stderr for word in line.split() if "/oauth/authorize" in word)
            threading.Thread(target=remote.stderr.read, daemon=True).start()
            allow(address)
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            call = {"name": "sources", "arguments": {}}
            for id, method, params in ((1, "initialize", hello), (2, "tools/call", call)):
                line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
                remote.stdin.write(f"{line}\n")
                remote.stdin.flush()
                answer = json.loads(remote.stdout.readline())
            assert answer["result"].get("isError") is None, answer
        finally:
            remote.kill()
