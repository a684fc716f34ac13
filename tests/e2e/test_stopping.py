"""A stop under load, and TLS, of a real service."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import httpx
import pytest
import trio

from actors.settings import Settings
from sanderling import keyring
from tests.e2e.service import Service, a_service
from tests.support.certificates import make_certificate, needs_openssl, trusting
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.real

READERS, ASKERS = 20, 20


def a_lasting_key(folder: Path) -> str:
    scopes = ("sources:read", "stream:read")
    return keyring.create(Settings(data=str(folder)), "load", scopes, rate=1_000_000, burst=100_000)[1]


async def read_to_the_end(client: httpx.AsyncClient, ends: list[bytes], begun: trio.Event) -> None:
    got = b""
    async with client.stream("GET", "/v1/stream") as answer:
        async for piece in answer.aiter_raw():
            got += piece
            begun.set()
    ends.append(got)


async def ask_until_refused(client: httpx.AsyncClient, answers: Counter[str]) -> None:
    """Send requests on new connections; accepted ones get an answer, later ones are refused."""
    while True:
        try:
            answer = await client.get("/v1/sources", headers={"Connection": "close"})
        except (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError):
            answers["no door"] += 1
            return
        answers[str(answer.status_code)] += 1
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) >= 1
            return


async def test_f11_a_stop_under_load_ends_streams_with_a_hint_and_answers_running_requests(tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {a_lasting_key(tmp_path)}"}
    ends: list[bytes] = []
    answers: Counter[str] = Counter()
    limits = httpx.Limits(max_connections=None)
    async with (
        a_service(tmp_path) as service,
        httpx.AsyncClient(base_url=service.url, headers=headers, limits=limits, timeout=HANG) as client,
        trio.open_nursery() as nursery,
    ):
        for _ in range(READERS):
            begun = trio.Event()
            nursery.start_soon(read_to_the_end, client, ends, begun)
            await begun.wait()
        for _ in range(ASKERS):
            nursery.start_soon(ask_until_refused, client, answers)
        await until(lambda: answers["200"] >= 2 * ASKERS)
        assert await service.end() == 0
    assert len(ends) == READERS
    assert all(b"retry: " in end.rpartition(b"replay-from")[2] and b": ended: " in end for end in ends)
    assert answers["200"] >= ASKERS and set(answers) <= {"200", "503", "no door"}
    assert answers["503"] + answers["no door"] == ASKERS


@needs_openssl
async def test_https_by_settings_and_a_renewed_certificate_at_sighup(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    (tmp_path / "sanderling.toml").write_text(f'tls_cert = "{certificate}"\ntls_key = "{key}"\n')
    async with a_service(tmp_path) as service:
        assert service.url.startswith("https://127.0.0.1:")
        async with httpx.AsyncClient(base_url=service.url, verify=trusting(certificate), timeout=HANG) as first:
            assert (await first.get("/healthz")).status_code == 200
            (tmp_path / "new").mkdir()
            for new, old in zip(make_certificate(tmp_path / "new", "renewed"), (certificate, key), strict=True):
                new.replace(old)
            service.process.send_signal(signal.SIGHUP)
            await told(service, "http.certificate")
            async with httpx.AsyncClient(base_url=service.url, verify=trusting(certificate), timeout=HANG) as second:
                assert (await second.get("/healthz")).status_code == 200
            assert (await first.get("/healthz")).status_code == 200, "its connection has stayed"
        assert await service.end() == 0


async def told(service: Service, event: str) -> None:
    await until(lambda: any(f'"{event}"' in line for line in service.log))
