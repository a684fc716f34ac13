"""`make demo` shows an event of each tier within a minute, without the internet, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from sanderling.environment import environ
from tests.e2e.service import run_command
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_events_of_all_three_tiers_come_within_a_minute(tmp_path: Path) -> None:
    with trio.fail_after(HANG):
        done = await run_command("demo", "--seconds", "50", "--events", "12", TMPDIR=str(tmp_path))
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode() + shown
    tiers = {line.split()[1] for line in shown.splitlines() if line[:1].isdigit()}
    assert tiers == {"feed", "html", "push"}
    assert left_in(tmp_path) == []


async def test_ctrl_c_ends_service_and_origin_and_removes_the_folder(tmp_path: Path) -> None:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "sanderling", "demo"],
        cwd=ROOT,
        env={**environ(), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with trio.fail_after(HANG):
        assert await process.stdout.receive_some()  # the first event: everything is up
        assert left_in(tmp_path)
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    assert left_in(tmp_path) == []
    await process.stdout.aclose()
