"""The commands of docs/backup.md work in their order, in one shell."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling import cli
from storage.sqlite.engine import STEPS
from tests.rules.source_files import ROOT

PAGE = (ROOT / "docs/backup.md").read_text("utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S)
    for line in block.splitlines()
]


@pytest.mark.real
def test_every_command_of_the_page_works_in_its_order(tmp_path: Path) -> None:
    assert len(COMMANDS) > 6
    script = f'sanderling() {{ "{sys.executable}" -P -m sanderling "$@"; }}\n'
    script += "set -e\nsanderling keys create --name me --scope admin\n" + "\n".join(COMMANDS)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere/sanderling.db").is_file()
    assert "secrets.sealed" in done.stdout


def test_the_schema_version_is_shown_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`sanderling version` names the program's schema" in (ROOT / "docs/upgrade.md").read_text("utf-8")
    cli.run(["version"])
    assert capsys.readouterr().out.endswith(f", schema {len(STEPS)}\n")
