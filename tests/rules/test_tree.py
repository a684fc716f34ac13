"""The architecture page shows the packages as they are, down to the second level."""

from __future__ import annotations

import re

from tests.rules.source_files import ROOT
from tests.rules.tree import drawn, packages


def test_the_page_names_every_package_of_two_levels_once_and_no_other() -> None:
    section = (ROOT / "docs/architecture.md").read_text("utf-8").partition("\n## Packages\n")[2].partition("\n## ")[0]
    rows = "".join(line for line in section.splitlines(keepends=True) if line.startswith("| "))
    below = [name for name in re.findall(r"`(\w+/(?:\w+/)?)`", rows) if name.count("/") == 2]
    assert sorted(below) == sorted(name for name in packages() if name.count("/") == 2)
    assert set(re.findall(r"`(\w+/)`", rows)) == {name for name in packages() if name.count("/") == 1}


def test_the_printed_tree_has_a_sentence_for_every_package() -> None:
    lines = drawn().splitlines()
    assert len(lines) == len(packages()) > 50
    assert [line for line in lines if not re.fullmatch(r"- `[\w/]+/`: \S.*", line)] == []
