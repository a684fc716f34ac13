"""docs/dependencies.md explains each run-time requirement, and nothing else."""

from __future__ import annotations

import re

from tests.rules.source_files import ROOT
from tests.rules.test_requirements import asked_for, canonical


def test_each_requirement_has_its_line() -> None:
    page = (ROOT / "docs/dependencies.md").read_text("utf-8")
    assert {canonical(name) for name in re.findall(r"^\| `([^`]+)`", page, re.M)} == asked_for()
