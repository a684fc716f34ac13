"""The README's way from nothing to a live event works as it is printed."""

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

pytestmark = pytest.mark.real

HEADING = "## From nothing to a live event"
SERVICE = "http://127.0.0.1:8080"
COMMAND = "bin/sanderling"
WATCHED = re.compile(r'https://[^"]+')


def printed() -> str:
    """Return the shell lines below the heading."""
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"```sh\n(.*?)```", readme[readme.index(HEADING) :], re.S)
    assert found is not None
    return found.group(1)


def test_it_is_ten_lines() -> None:
    lines = printed().splitlines()
    assert len(lines) <= 10
    assert SERVICE in lines[0] and COMMAND in lines[1]


async def test_it_ends_with_an_event_on_the_terminal(tmp_path: Path) -> None:
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service:
            lines = printed().replace(SERVICE, service.url).replace(COMMAND, f"{sys.executable} -m sanderling")
            lines = WATCHED.sub(f"http://{origin.place}/feed", lines)
            with trio.fail_after(60):
                done = await trio.run_process(
                    ["bash", "-c", lines],
                    cwd=ROOT,
                    env={"PATH": "/usr/local/bin:/usr/bin:/bin", "SANDERLING_DATA": str(tmp_path)},
                    capture_stdout=True,
                    stderr=subprocess.STDOUT,
                )
        nursery.cancel_scope.cancel()
    shown = done.stdout.decode()
    assert re.search(r'^event: feed\ndata: .*"title":"the first note".*\nid: [0-9a-f-]{36}$', shown, re.M), shown
    assert f'"url":"http://{origin.place}/feed"' in shown
