"""docs/moving.md, whole instances: its commands work in order, and it names every field."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extras.migrate.whole.reading import schema
from tests.rules.source_files import ROOT

PART = (ROOT / "docs/moving.md").read_text("utf-8").partition("## A whole instance\n")[2].partition("\n## ")[0]
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"^```console\n(.*?)^```", PART, re.M | re.S)
    for line in block.splitlines()
]
OF_EVENTS = {
    "Event",
    "Heartbeat",
    "Diff",
    "Change",
    "Context",
    "Contexts",
    "Spans",
    "Delta",
    "DeltaStats",
    "Op",
    "TypedChange",
    "Value",
}
"""Described with the streams."""


@pytest.mark.real
def test_every_command_works_in_its_order(tmp_path: Path) -> None:
    assert len(COMMANDS) > 3
    script = f'sanderling() {{ "{sys.executable}" -P -m sanderling "$@"; }}\n'
    script += "set -e\nsanderling keys create --name me --scope admin >/dev/null\n" + "\n".join(COMMANDS)
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
    assert done.stdout.split()[-1] == "3"  # head, log, end


def test_every_field_of_a_line_is_described() -> None:
    kinds: dict[str, Any] = schema()["$defs"]
    fields = {name for kind, shape in kinds.items() if kind not in OF_EVENTS for name in shape.get("properties", ())}
    assert len(fields) > 80
    assert {name for name in fields if f"`{name}`" not in PART} == set()
