"""`make demo` shows an event of each tier within a minute, without the internet, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import trio

from tests.e2e.service import run_command
from tests.rules.source_files import ROOT

pytestmark = pytest.mark.real


def leftovers() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("sanderling-demo-*"))


async def test_events_of_all_three_tiers_come_within_a_minute() -> None:
    before = leftovers()
    with trio.fail_after(60):
        done = await run_command("demo", "--seconds", "50", "--events", "12")
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode() + shown
    tiers = {line.split()[1] for line in shown.splitlines() if line[:1].isdigit()}
    assert tiers == {"feed", "html", "push"}
    assert leftovers() <= before


async def test_ctrl_c_ends_service_and_shore_and_removes_the_folder() -> None:
    before = leftovers()
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "sanderling", "demo"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    with trio.fail_after(60):
        assert await process.stdout.receive_some()  # the first event: everything is up
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    assert leftovers() <= before
    await process.stdout.aclose()
