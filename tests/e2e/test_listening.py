"""A real service delivers to `sanderling listen`: directly, and through a proxy that re-serialises bodies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart import Response, request
from quart_trio import QuartTrio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from tests.e2e.service import a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


@asynccontextmanager
async def listening(*arguments: str) -> AsyncIterator[tuple[trio.Process, int]]:
    """Run `sanderling listen` on a free port; yields the process and the port."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-P", "-m", "sanderling", "listen", "--port", "0", "--json", *arguments],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        said = b""
        with trio.fail_after(HANG):
            while b"Ctrl-C" not in said:
                said += await process.stderr.receive_some()
        yield process, int(said.split(b"127.0.0.1:")[1].split(b"/")[0])
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()


async def a_rewriting_proxy(to: int, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
    """Pass requests on with their bodies parsed and serialised again, as many gateways do."""
    app = QuartTrio("proxy", static_folder=None)

    @app.post("/<path:path>")
    async def pass_on(path: str) -> Response:
        body = json.dumps(json.loads(await request.get_data())).encode()
        names = {name: value for name, value in request.headers.items() if name.lower().startswith("webhook-")}
        async with httpx.AsyncClient(timeout=HANG) as client:
            answer = await client.post(f"http://127.0.0.1:{to}/{path}", content=body, headers=names)
        return Response(answer.content, answer.status_code)

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    config = Config()
    port = listener.socket.getsockname()[1]
    config.bind = [f"fd://{listener.socket.detach()}"]
    config.errorlog = None
    task_status.started(port)
    await serve(app, config, shutdown_trigger=trio.sleep_forever)


async def test_a_delivery_is_shown_verified_and_through_a_rewriting_proxy_as_re_serialised(tmp_path: Path) -> None:
    key = keyring.create(Settings(data=str(tmp_path)), "e2e", ("alerts:read", "alerts:write", "stream:read"))[1]
    (tmp_path / "secret").touch()
    async with trio.open_nursery() as nursery, a_service(tmp_path) as service, Client(service.url, key) as client:
        how = ("--jwks", service.url, "--secret-file", str(tmp_path / "secret"), "--count", "2")
        alert = (await client.ask("POST", "/v1/alerts", json={"filter_query": ""})).json()["id"]
        hooks: list[dict[str, Any]] = []
        # The secret is known only once the receiver's port is, so the receiver starts twice.
        async with listening() as (_, port):
            pass
        proxy = await nursery.start(a_rewriting_proxy, port)
        for place in (port, proxy):
            body = {"url": f"http://127.0.0.1:{place}/in"}
            hooks.append((await client.ask("POST", f"/v1/alerts/{alert}/destinations", json=body)).json())
        (tmp_path / "secret").write_text("\n".join(hook["secret"] for hook in hooks))
        async with listening(*how, "--port", str(port)) as (process, _):
            results = [(await client.ask("POST", f"/v1/destinations/{hook['id']}/test")).json() for hook in hooks]
            assert process.stdout is not None
            lines = b"".join([part async for part in process.stdout]).splitlines()
            code = await process.wait()
        nursery.cancel_scope.cancel()

    direct, rewritten = (json.loads(line) for line in lines)
    assert [result["result"] for result in results] == ["sent", "retry"]
    assert (direct["webhook"]["cause"], direct["answered"]) == ("verified", 200)
    assert (rewritten["webhook"]["cause"], rewritten["answered"]) == ("re-serialised", 400)
    assert "re-serialised" in results[1]["detail"]
    assert [delivery["events"][0]["cause"] for delivery in (direct, rewritten)] == ["verified"] * 2
    assert code == 1
