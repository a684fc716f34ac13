"""The Makefile has each `make ...` that a page prints, and the programs it runs understand their arguments."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from bench.fuzz.__main__ import main as fuzz
from bench.mutants.__main__ import main as mutants
from sanderling.environment import environ
from tests.docs.blocks import blocks, of
from tests.rules.source_files import ROOT

TYPED = re.compile(r"^make .*$", re.M)
PRINTED = sorted({line.partition(" #")[0].strip() for block in blocks() for line in TYPED.findall(block.text)})
MAINS = {"bench.fuzz": fuzz, "bench.mutants": mutants}


def would_run(line: str) -> str:
    """Return the commands that a call of make would run."""
    words = [*shlex.split(line), "--dry-run", "RELEASE_KEY=key"]
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=False, env={"PATH": environ()["PATH"], "CI": "true"}
    )
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


@pytest.mark.real
@pytest.mark.parametrize("line", PRINTED)
def test_make_accepts_each_command_that_pages_print(line: str) -> None:
    assert would_run(line)


@pytest.mark.real
@pytest.mark.parametrize("line", [line for block in of("docs/testing.md", "sh") for line in TYPED.findall(block.text)])
def test_the_programs_of_the_page_on_testing_understand_their_arguments(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--help` at the end: the parser has then accepted all arguments before it."""
    (name, rest) = re.findall(r"-m (bench\.\w+) (.*)$", would_run(line.partition(" #")[0]), re.M)[0]
    monkeypatch.setattr("sys.argv", [name, *shlex.split(rest), "--help"])
    with pytest.raises(SystemExit) as ended:
        MAINS[name]()
    assert ended.value.code == 0, capsys.readouterr().err
