"""Debian's nginx and Caddy in front of a real service, with the exact text of docs/proxies.md."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import running_at
from tests.e2e.fronts import CADDY, NGINX, READ_TIMEOUT, Front, free_port, in_front
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service
from tests.e2e.test_dashboard import PASSWORD, token
from tests.support.certificates import needs_openssl
from tests.support.waiting import HANG

pytestmark = [pytest.mark.real, needs_openssl]
each_front = pytest.mark.parametrize(
    "front",
    [
        pytest.param(front, marks=pytest.mark.skipif(front.program is None, reason=f"{front.name} is not installed"))
        for front in (NGINX, CADDY)
    ],
    ids=lambda front: front.name,
)

LINES: dict[str, Any] = {"headers": {"Accept": "application/x-ndjson"}}


def through(port: int, trust: ssl.SSLContext, key: str = "", local: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(verify=trust, local_address=local, http2=True)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.AsyncClient(transport=transport, base_url=f"https://localhost:{port}", headers=headers, timeout=HANG)


@each_front
async def test_a_stream_passes_at_once_and_outlives_silence(front: Front, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with (
            a_service(data, SANDERLING_TRUSTED_PROXIES="127.0.0.1/32", SANDERLING_KEEPALIVE="1") as service,
            in_front(front, tmp_path / "front", service.url, port) as trust,
            through(port, trust, a_key(data)) as client,
        ):
            with trio.fail_after(HANG):
                async with (
                    client.stream("GET", "/v1/stream") as stream,
                    client.stream("GET", "/v1/stream", **LINES) as plain,
                ):
                    assert (stream.http_version, plain.http_version) == ("HTTP/2", "HTTP/2")
                    assert stream.headers["content-type"].startswith("text/event-stream")
                    began = trio.current_time()
                    lines = stream.aiter_lines()
                    async for _line in lines:  # keepalives only
                        if trio.current_time() - began > 2 * READ_TIMEOUT:
                            break
                    body = {"url": f"http://{origin.place}/feed", "backfill": 1}
                    assert (await client.post("/v1/sources", json=body)).status_code == 201
                    for arriving in (lines, plain.aiter_lines()):
                        async for line in arriving:
                            if "the first note" in line:
                                break
        nursery.cancel_scope.cancel()


@each_front
async def test_large_bodies_and_claimed_addresses_are_answered_by_the_service(front: Front, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    async with (
        a_service(data, SANDERLING_TRUSTED_PROXIES="127.0.0.1/32") as service,
        in_front(front, tmp_path / "front", service.url, port) as trust,
    ):
        with trio.fail_after(HANG):
            async with through(port, trust, a_key(data)) as client:
                wide = await client.post("/v1/sources", json={"url": "https://a.test/" + "x" * 200_000})
                assert wide.status_code == 400 and wide.headers["content-type"] == "application/problem+json"
                huge = await client.post(
                    "/v1/sources", content=b" " * 900_000, headers={"Content-Type": "application/json"}
                )
                assert huge.status_code == 413 and huge.headers["content-type"] == "application/problem+json"
            async with (
                through(port, trust, local="127.0.0.2") as one,
                through(port, trust, local="127.0.0.3") as other,
            ):
                assert await claimed(one) == {401, 429}
                assert (await other.get("/v1/sources")).status_code == 401


async def claimed(client: httpx.AsyncClient) -> set[int]:
    """Send more requests than a bucket holds, each with another claimed address; return the statuses.

    Twenty at once: sequential requests on a busy machine are no faster than the bucket fills.
    """
    statuses: set[int] = set()

    async def ask(number: int) -> None:
        claim = {"X-Forwarded-For": f"198.51.100.{number}", "Forwarded": f"for=198.51.100.{number}"}
        statuses.add((await client.get("/v1/sources", headers=claim)).status_code)

    await ask(0)
    for begins in range(1, 200, 20):
        async with trio.open_nursery() as nursery:
            for number in range(begins, begins + 20):
                nursery.start_soon(ask, number)
    return statuses


@each_front
async def test_the_dashboard_is_signed_into_by_https(front: Front, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    base = f"https://localhost:{port}"
    async with a_service(data, SANDERLING_TRUSTED_PROXIES="127.0.0.1/32", SANDERLING_BASE_URL=base):
        running = await trio.to_thread.run_sync(running_at, str(data))
        assert running is not None and running.url == base
        async with in_front(front, tmp_path / "front", running.local_url, port) as trust:
            with trio.fail_after(HANG):
                link = keyring.set_up_link(Settings(data=str(data), base_url=base))
                async with through(port, trust) as browser:
                    page = await browser.get(link)
                    form = {
                        "token": token(page),
                        "code": link.partition("#")[2],
                        "password": PASSWORD,
                        "again": PASSWORD,
                    }
                    assert (await browser.post("/set-up", data=form)).status_code == 403  # no Origin
                    done = await browser.post("/set-up", data=form, headers={"Origin": base})
                    assert done.status_code == 303, done.text
                    cookie = done.headers["set-cookie"].lower()
                    assert "secure" in cookie and "httponly" in cookie
                    assert "<h1>System</h1>" in (await browser.get("/system")).text
