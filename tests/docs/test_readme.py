"""The README's quick start works as printed, from nothing to a live event."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.e2e.origin import Origin
from tests.e2e.service import a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

HEADING = "## First event"
SERVICE = "http://127.0.0.1:8080"
COMMAND = "bin/sanderling"
WATCHED = re.compile(r"https://\S+")


def printed() -> tuple[str, str, str]:
    """Return the shell lines below the heading: the commands, those of a program, and those of an alert."""
    readme = (ROOT / "README.md").read_text("utf-8")
    commands, program, alert = re.findall(r"```sh\n(.*?)```", readme[readme.index(HEADING) :], re.S)
    return commands, program, alert


def test_it_is_short_and_asks_for_no_key() -> None:
    commands, program, alert = (lines.replace("\\\n", "") for lines in printed())  # one line a command
    assert len(commands.splitlines()) <= 5 and len(program.splitlines()) <= 2
    assert "key" not in commands + alert
    assert SERVICE in program and COMMAND in commands


async def test_it_ends_with_an_event_on_the_terminal(tmp_path: Path) -> None:
    origin = Origin()
    commands, program, alert = printed()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service:
            shown = await typed(WATCHED.sub(f"http://{origin.place}/feed", commands), tmp_path)
            assert re.search(r"^\d\d:\d\d:\d\d feed .* the first note$", shown, re.M), shown
            assert re.search(f"^ok .* http://{origin.place}/feed", shown, re.M), shown
            once = program.replace(SERVICE, service.url).replace("curl -sN", "curl -sN --max-time 2")
            once = once.replace("/v1/stream", "/v1/stream?since=earliest")
            shown = await typed(once, tmp_path)
            assert re.search(r'^event: feed\ndata: .*"title":"the first note".*\nid: [0-9a-f-]{36}$', shown, re.M), (
                shown
            )
            shown = await typed(WATCHED.sub(f"http://{origin.place}/in", alert), tmp_path)
            assert re.search(r"^whsec_\S+$", shown, re.M), shown
        nursery.cancel_scope.cancel()


async def typed(lines: str, folder: Path) -> str:
    """Return the output of a shell that runs these lines against the service on a data folder."""
    with trio.fail_after(HANG):
        done = await trio.run_process(
            ["bash", "-c", lines.replace(COMMAND, f"{sys.executable} -m sanderling")],
            cwd=ROOT,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "SANDERLING_DATA": str(folder)},
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.stdout.decode()
