"""The self-test passes on this build, and names each missing thing."""

from __future__ import annotations

import json
import sys

import pytest

from sanderling.exits import Exit
from sanderling.operations import self_test as check
from tests.e2e.service import run_command

pytestmark = pytest.mark.real


async def test_this_build_is_complete() -> None:
    done = await run_command("check", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == Exit.WELL, done.stdout
    assert report["ok"] and {finding["what"] for finding in report["findings"]} == set(check.looks({}))


@pytest.mark.parametrize(
    ("what", "missing"),
    [
        ("certificates", "certifi"),
        ("time zones", "tzdata.zoneinfo.Europe"),
        ("stop lists", "actors.content.pages.page"),
    ],
)
async def test_an_incomplete_build_fails_with_a_remedy(
    what: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    finding = await check.found(what, check.looks({})[what])
    assert finding.level == "fail"
    assert missing.rpartition(".")[2] in finding.says
    assert finding.do


async def test_a_worker_that_does_not_start_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.program.worker_command", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    finding = await check.found("worker", check.looks({})["worker"])
    assert finding.level == "fail" and "WorkerDied" in finding.says
