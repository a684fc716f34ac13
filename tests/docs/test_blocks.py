"""A test runs every program that a page prints, or a table gives the reason why none can."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sanderling.environment import environ
from tests.docs.blocks import PAGES, Block, blocks, indented
from tests.docs.programs import PROSE, ROWS, row_of
from tests.rules.source_files import ROOT, name_of

PROGRAMS = [block for block in blocks() if block.language not in PROSE]


def test_every_block_is_between_fences_and_names_its_language() -> None:
    assert [str(block) for block in blocks() if not block.language] == []
    assert {name_of(page): found for page in PAGES if (found := indented(page.read_text("utf-8")))} == {}
    assert sum(page.read_text("utf-8").count("```") for page in PAGES) == 2 * len(blocks())


def test_every_program_has_its_row_and_every_row_has_a_program() -> None:
    assert [str(block) for block in PROGRAMS if row_of(block) is None] == []
    assert set(ROWS) - {row_of(block) for block in PROGRAMS} == set()


@pytest.mark.parametrize("test", sorted({row.test for row in ROWS if row.test}))
def test_the_test_that_is_named_reads_the_pages_that_it_is_named_for(test: str) -> None:
    text = (ROOT / test).read_text("utf-8")
    for name in re.findall(r"^from (tests\.[\w.]+) import", text, re.M):  # or a module it imports does
        taken = ROOT / f"{name.replace('.', '/')}.py"
        text += taken.read_text("utf-8") if taken.exists() else ""
    pages = {row.page for row in ROWS if row.test == test}
    assert [page for page in pages if Path(page).name not in text and f'"{Path(page).stem}"' not in text] == []


@pytest.mark.parametrize("reason", sorted({row.where for row in ROWS if not row.test}))
def test_each_reason_names_the_test_that_covers_it(reason: str) -> None:
    named = re.findall(r"\btests/[\w/]+(?:\.py)?|`make \w+`", reason)
    assert named and [name for name in named if name.startswith("tests/") and not (ROOT / name).exists()] == []


READERS: dict[str, Callable[[str], object]] = {
    "python": lambda text: compile(text, "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT),
    "toml": tomllib.loads,
    "json": json.loads,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("block", [block for block in PROGRAMS if block.language in READERS], ids=str)
def test_a_block_is_of_the_language_that_it_names(block: Block) -> None:
    assert READERS[block.language](block.text)


@pytest.mark.real
def test_a_shell_understands_every_line_that_is_typed(tmp_path: Path) -> None:
    for block in [block for block in PROGRAMS if block.language in ("sh", "console")]:
        lines = re.findall(r"^\$ (.*)$", block.text, re.M) if block.language == "console" else [block.text]
        (tmp_path / f"{block.page.replace('/', '.')}:{block.line}").write_text("\n".join(lines) + "\n")
    each = 'for file in *; do bash -n "$file" || exit 1; done'
    variables = {"PATH": environ()["PATH"]}
    done = subprocess.run(["bash", "-c", each], cwd=tmp_path, capture_output=True, check=False, env=variables)
    assert done.returncode == 0, done.stderr.decode()
