"""The service answers generated requests as described: statuses, headers, bodies, states."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trio

from tests.api.contract.live import a_tireless_key
from tests.e2e.origin import Origin
from tests.e2e.service import a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

WITHIN = 1200.0
"""Seconds for the generator, more than pytest's limit for a hanging test: it works, perhaps on a busy machine."""


@pytest.fixture
def own_bound() -> None:
    """Lift pytest's limit, as this test has its own."""
    faulthandler.cancel_dump_traceback_later()


TEMPLATE = """
id = "over-the-origin"
version = 1
name = "Over the origin"
summary = "Takes what the built-in one takes, and leads nowhere else."
category = "tests"

[[parameters]]
key = "domain"
type = "string"
description = "Anything"
example = "x"
max = 10

[[sources]]
url = "{place}/feed?{domain}"
type = "feed"

[[alerts]]
key = "all"
name = "All"
query = ""
"""


def furnish(data: Path, place: str) -> None:
    """Give a data folder a template over the origin: no generated request may leave the machine."""
    folder = data / "templates"
    folder.mkdir(parents=True)
    (folder / "over.toml").write_text(TEMPLATE.replace("{place}", place), "utf-8")
    (data / "sanderling.toml").write_text(f'templates = "{folder}"\n', "utf-8")


async def test_the_generator_finds_nothing(tmp_path: Path, own_bound: None) -> None:
    data = tmp_path / "data"
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        place = f"http://{origin.place}"
        furnish(data, place)
        async with a_service(data, SANDERLING_REGISTRY_BASE=place) as service:
            key = a_tireless_key(data)
            async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": key}, timeout=HANG) as client:
                some = await client.post("/v1/sources", json={"url": f"{place}/feed", "backfill": 1})
                assert some.status_code == 201, "an event to begin with"
            done = await generate(service.url, tmp_path, ORIGIN=place, KEY=key)
        nursery.cancel_scope.cancel()
    assert done.returncode == 0, done.stdout.decode(errors="replace")
    assert [line for line in service.log if '"http.fault"' in line] == []


async def generate(url: str, folder: Path, *more: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    settings = str(ROOT / "tests/api/contract/schemathesis.toml")
    with trio.fail_after(WITHIN):
        return await trio.run_process(
            [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", settings),
                *("run", f"{url}/openapi.json", "--no-color", *more),
            ],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"} | variables,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
