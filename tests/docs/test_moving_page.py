"""docs/moving.md, other programs: its commands work, and it names every reported field."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import trio

from extras.migrate import changedetection, urlwatch
from extras.migrate.drafting import KINDS
from extras.migrate.execution import as_text
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service
from tests.extras.migrate import samples
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

PAGE = (ROOT / "docs/moving.md").read_text("utf-8")
PART = PAGE.partition("## From another program\n")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^\$ (.*)$", PART, re.M)
REPORT = re.findall(r"^```text\n(This is .*?)^```", PART, re.M | re.S)
LIST = re.findall(r"^```text\n(# .*?)^```", PART, re.M | re.S)


def under(heading: str) -> str:
    return PART.partition(f"### {heading}\n")[2].partition("\n### ")[0]


@pytest.mark.real
async def test_every_command_works_in_its_order(tmp_path: Path) -> None:
    """The list is the page's own, with the origin's addresses; the other files are our samples."""
    origin, key = Origin(), a_key(tmp_path)
    script = f'sanderling() {{ "{sys.executable}" -P -m sanderling "$@"; }}\nset -e\n' + "\n".join(COMMANDS)
    files = {
        "changedetection-backup.zip": samples.new_datastore(),
        "urls.yaml": samples.URLWATCH,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        (given,) = LIST
        local = given.replace("https://example.org/news", f"http://{origin.place}/feed")
        local = local.replace("https://example.org/prices", f"http://{origin.place}/page")
        (tmp_path / "list.txt").write_text(local)
        async with a_service(tmp_path) as service:
            variables = {"SANDERLING_URL": service.url, "SANDERLING_KEY": key}
            with trio.fail_after(HANG):
                done = await trio.run_process(
                    ["bash", "-c", script],
                    cwd=tmp_path,
                    env=variables | {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
                    capture_stdout=True,
                    capture_stderr=True,
                    check=False,
                )
        nursery.cancel_scope.cancel()
    told = done.stderr.decode()
    assert done.returncode == 0, told
    assert told.splitlines() == ["2 sources added.", "2 sources there already."]
    assert done.stdout.decode().count("This is ") == 2


def test_the_printed_report_is_current() -> None:
    (shown,) = REPORT
    printed = list(as_text(urlwatch.read_urlwatch(samples.URLWATCH)))
    assert [line for line in shown.splitlines() if line not in printed] == []


def test_every_kind_of_file_is_on_the_page() -> None:
    assert {kind for kind in KINDS if f"`{kind}`" not in PART} == set()


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        (
            "changedetection.io",
            (*changedetection.SAME, *changedetection.ALIKE, *changedetection.NOT_IMPORTED, *changedetection.ONE_WAY),
        ),
        ("urlwatch and webchanges", (urlwatch.SAME | urlwatch.ALIKE) - {"absolute-links"}),
    ],
)
def test_every_sent_field_is_in_its_table(heading: str, names: Iterable[str]) -> None:
    assert {name for name in names if f"`{name}`" not in under(heading)} == set()
