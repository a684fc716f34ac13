"""Published clients, over real sockets: httpx, curl and Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from sanderling.environment import environ
from tests.api.house import House, make_house, running
from tests.api.http2.peer import securing
from tests.support.certificates import needs_openssl, trusting

pytestmark = [needs_openssl, pytest.mark.real]


def needs(command: str) -> pytest.MarkDecorator:
    absent = shutil.which(command) is None and environ().get("CI") != "true"
    return pytest.mark.skipif(absent, reason=f"the {command} command is not installed")


@asynccontextmanager
async def on_sockets(pair: tuple[Path, Path]) -> AsyncIterator[tuple[House, str]]:
    """Run a house behind TLS on a port of its own; give its address too."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    house: Any = securing(make_house(), pair)
    house.listener = listener
    async with running(house):
        yield house, f"https://localhost:{listener.socket.getsockname()[1]}"


async def run(*words: str) -> subprocess.CompletedProcess[bytes]:
    with trio.fail_after(20):
        return await trio.run_process(words, capture_stdout=True, capture_stderr=True, check=False)


async def test_httpx_asks_and_listens_on_one_connection(pair: tuple[Path, Path]) -> None:
    async with on_sockets(pair) as (house, origin):
        headers = {"Authorization": f"Bearer {await house.key()}"}
        async with httpx.AsyncClient(http2=True, verify=trusting(pair[0]), base_url=origin, headers=headers) as client:
            made = await client.post("/v1/sources", json={"url": "https://a.test/"})
            assert (made.http_version, made.status_code) == ("HTTP/2", 201)
            assert (await client.post("/v1/sources", content=b"x" * 60_000)).status_code == 415
            key, heard = await house.key(), list[str]()
            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(listen, client, key, heard)
                while house.storage.tail.statistics().waiting < 8:
                    await trio.testing.wait_all_tasks_blocked(0.01)
                await house.publish("news")  # no request before: httpx reads for one silent stream after the other
                await house.revoke(key)
            assert heard == ["news"] * 8
            assert (await client.get("/v1/sources")).status_code == 200
            pool: Any = client._transport
            assert len(pool._pool.connections) == 1


async def listen(client: httpx.AsyncClient, key: str, heard: list[str]) -> None:
    """Listen until the server ends the stream."""
    async with client.stream("GET", "/v1/stream", headers={"Authorization": f"Bearer {key}"}) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                heard.append(json.loads(line[6:])["title"])


@needs("curl")
async def test_curl_agrees_on_http_2_and_gets_what_http_1_gets(pair: tuple[Path, Path]) -> None:
    async with on_sockets(pair) as (house, origin):
        curl = partial(run, "curl", "-sS", "--cacert", str(pair[0]), "-H", f"X-API-Key: {await house.key()}")
        answers = {}
        for version in ("--http2", "--http1.1"):
            done = await curl(version, "-w", "\n%{http_version} %{http_code}", f"{origin}/openapi.json")
            body, _, said = done.stdout.rpartition(b"\n")
            answers[said] = body
        assert set(answers) == {b"2 200", b"1.1 200"} and answers[b"2 200"] == answers[b"1.1 200"]
        done = await curl("--http2", "-w", "\n%{http_code}", "-H", f"X: {'y' * 9_000}", f"{origin}/healthz")
        assert done.stdout.endswith(b"\n431") and b"headers-too-large" in done.stdout


@needs("curl")
async def test_curl_uploads_more_than_is_read_and_learns_so(pair: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 3_000_000)
    async with on_sockets(pair) as (house, origin):
        words = ["--cacert", str(pair[0]), "-H", f"X-API-Key: {await house.key()}", "-w", "\n%{http_code}"]
        done = await run("curl", "-sS", "--http2", *words, "--json", f"@{tmp_path / 'large'}", f"{origin}/v1/sources")
        assert done.stdout.endswith(b"\n413") and b"body-too-large" in done.stdout, done.stderr


@needs("node")
async def test_seven_tabs_of_node_share_a_connection_until_the_service_leaves(pair: tuple[Path, Path]) -> None:
    script = Path(__file__).with_name("tabs.mjs")
    async with on_sockets(pair) as (house, origin):
        words = ["node", str(script), origin, await house.key(), str(pair[0])]
        async with trio.open_nursery() as nursery:
            process = await nursery.start(partial(trio.run_process, words, stdout=subprocess.PIPE))
            said, stopped = list[Any](), False
            with trio.fail_after(20):
                async for chunk in process.stdout:
                    said += [json.loads(line) for line in chunk.splitlines()]
                    if ["listening"] in said and not any(word[0] == "heard" for word in said):
                        await house.publish("news")
                    if sum(word[0] == "heard" for word in said) == 7 and not stopped:
                        stopped = True
                        house.child.stopping.set()
        assert ["status", 200] in said
        assert sorted(word for word in said if word[0] == "ended") == [["ended", tab, True] for tab in range(7)]
        assert [word for word in said if word[0] == "goaway"] == [["goaway", 0, 15]]
        assert said[-1] == ["closed"] and not [word for word in said if word[0] == "error"]
