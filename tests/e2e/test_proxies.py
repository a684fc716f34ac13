"""Debian's nginx, with the very text of docs/proxies.md, in front of a real service."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import trio

from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service
from tests.rules.source_files import ROOT
from tests.support.certificates import make_certificate, needs_openssl, trusting

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
    needs_openssl,
]
READ_TIMEOUT = 3
AROUND = """
daemon off; master_process off; worker_rlimit_nofile 256; pid {folder}/pid; error_log stderr warn;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {server}
}}
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def configure(folder: Path, service: str, port: int) -> ssl.SSLContext:
    """Write the page's own text, with this machine's places in it; return what trusts its certificate."""
    folder.mkdir()
    (server,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/proxies.md").read_text("utf-8"), re.S)
    certificate, key = make_certificate(folder)
    for old, new in (
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("http://127.0.0.1:8080", service),
        ("/etc/letsencrypt/live/sanderling.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/sanderling.example.org/privkey.pem", str(key)),
        ("proxy_read_timeout 1h", f"proxy_read_timeout {READ_TIMEOUT}s"),
    ):
        assert server.count(old) == 1, old
        server = server.replace(old, new)
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, server=server))
    return trusting(certificate)


@asynccontextmanager
async def nginx(folder: Path, service: str) -> AsyncIterator[tuple[str, ssl.SSLContext]]:
    """Run nginx in front of a service; yields the address and what trusts its certificate."""
    port = free_port()
    trust = configure(folder, service, port)
    assert NGINX is not None
    process = await trio.lowlevel.open_process(
        [NGINX, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")], stderr=subprocess.PIPE
    )
    try:
        with trio.fail_after(10):
            while True:
                assert process.poll() is None, await process.stderr.receive_some() if process.stderr else ""
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.05)
        yield f"https://localhost:{port}", trust
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


def through(address: str, trust: ssl.SSLContext, key: str = "", local: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(verify=trust, local_address=local)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.AsyncClient(transport=transport, base_url=address, headers=headers, timeout=20)


async def test_a_stream_passes_at_once_and_outlives_silence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with (
            a_service(data, SANDERLING_TRUSTED_PROXIES="127.0.0.1/32", SANDERLING_KEEPALIVE="1") as service,
            nginx(tmp_path / "nginx", service.url) as (address, trust),
            through(address, trust, a_key(data)) as client,
        ):
            with trio.fail_after(60):
                async with client.stream("GET", "/v1/stream") as stream:
                    assert stream.headers["content-type"].startswith("text/event-stream")
                    began = trio.current_time()
                    lines = stream.aiter_lines()
                    async for _line in lines:  # nothing but signs of life
                        if trio.current_time() - began > 2 * READ_TIMEOUT:
                            break
                    body = {"url": f"http://{origin.place}/feed", "backfill": 1}
                    assert (await client.post("/v1/sources", json=body)).status_code == 201
                    asked = trio.current_time()
                    async for line in lines:
                        if line.startswith("data:") and "the first note" in line:
                            break
                    assert trio.current_time() - asked < 10
        nursery.cancel_scope.cancel()


async def test_large_bodies_and_claimed_addresses_are_answered_by_the_service(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with (
        a_service(data, SANDERLING_TRUSTED_PROXIES="127.0.0.1/32") as service,
        nginx(tmp_path / "nginx", service.url) as (address, trust),
    ):
        with trio.fail_after(60):
            async with through(address, trust, a_key(data)) as client:
                wide = await client.post("/v1/sources", json={"url": "https://a.test/" + "x" * 200_000})
                assert wide.status_code == 400 and wide.headers["content-type"] == "application/problem+json"
                huge = await client.post(
                    "/v1/sources", content=b" " * 900_000, headers={"Content-Type": "application/json"}
                )
                assert huge.status_code == 413 and huge.headers["content-type"] == "application/problem+json"
            async with (
                through(address, trust, local="127.0.0.2") as one,
                through(address, trust, local="127.0.0.3") as other,
            ):
                claims = [
                    {"X-Forwarded-For": f"198.51.100.{n}", "Forwarded": f"for=198.51.100.{n}"} for n in range(200)
                ]
                statuses = [(await one.get("/v1/sources", headers=claim)).status_code for claim in claims]
                assert set(statuses) == {401, 429}
                assert (await other.get("/v1/sources")).status_code == 401
