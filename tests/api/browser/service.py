"""A real service in another process, for synchronous tests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from actors.settings import Settings
from sanderling import keyring
from tests.e2e.service import SETTINGS
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG, wait_until

SCOPES = (
    "sources:read",
    "sources:write",
    "stream:read",
    "alerts:read",
    "alerts:write",
    "bins:read",
    "bins:write",
    "publications:read",
    "publications:write",
    "admin",
)
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}


class Service:
    """A running service: its address, its data folder, and its API with a key of all scopes."""

    def __init__(self, url: str, data: Path) -> None:
        self.url, self.data = url, data
        made, self.key = keyring.create(Settings(data=str(data)), "tests", SCOPES, rate=60_000, burst=1_000)
        self.key_id = made.id
        self.api = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {self.key}"}, timeout=HANG)

    def set_up_link(self) -> str:
        url = httpx.URL(keyring.set_up_link(Settings(data=str(self.data))))
        return f"{url.path}#{url.fragment}"

    def ask(self, method: str, path: str, body: object = None, *, status: tuple[int, ...] = (200, 201, 207)) -> Any:
        answer = self.api.request(method, path, json=body)
        assert answer.status_code in status, answer.text
        return answer.json() if answer.content else None

    def streams(self) -> int:
        figures = self.api.get("/metrics").raise_for_status().text
        return int(float(re.findall(r"^sanderling_streams_open (\S+)$", figures, re.MULTILINE)[0]))

    def add(self, url: str, **more: object) -> dict[str, Any]:
        """Add a source with a 12 h schedule, so only a requested check fetches it."""
        return dict(self.ask("POST", "/v1/sources", {"url": url, "schedule": "12h", **more}))

    def look(self, source: str) -> None:
        """Check a source now, and wait for the result."""
        looks = self.ask("GET", f"/v1/sources/{source}/status")["last_fetch_at"]
        wait_until(lambda: self.api.post(f"/v1/sources/{source}/check").status_code == 202)
        wait_until(lambda: self.ask("GET", f"/v1/sources/{source}/status")["last_fetch_at"] != looks)


@contextmanager
def a_service(data: Path, **settings: str) -> Iterator[Service]:
    """Run a service on a data folder and kill it at the end; its files are not reused."""
    data.mkdir(parents=True, exist_ok=True)
    log = data.with_suffix(".log")
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sanderling", "serve", "--port", "0", "--data", str(data)],
            env=ENVIRONMENT | SETTINGS | settings,
            stdin=subprocess.DEVNULL,
            stderr=lines,
        )
    try:
        wait_until(lambda: _url(log) or process.poll() is not None)
        url = _url(log)
        assert url, log.read_text("utf-8")
        service = Service(url, data)
        with service.api:
            yield service
    finally:
        process.kill()
        process.wait()


def _url(log: Path) -> str:
    for line in log.read_text("utf-8").splitlines():
        if '"serve.ready"' in line and line.endswith("}"):
            return str(json.loads(line)["url"])
    return ""
