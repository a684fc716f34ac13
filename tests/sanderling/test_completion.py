"""Shell completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling import cli
from sanderling.exits import Exit
from tests.rules.source_files import ROOT

SHELLS = ("bash", "zsh", "fish")
# In each shell: load the script, complete a line, print the suggestions.
ASKED = {
    "bash": """source "$1"; COMP_WORDS=(sanderling $2); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
               _sanderling_completion sanderling; printf '%s\\n' "${COMPREPLY[@]}" """,
    "fish": """source $argv[1]; complete -C "sanderling $argv[2]" """,
}


@pytest.mark.real
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_the_shells_own_syntax(shell: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "completion"
    file.write_text(cli.completion_script(shell))
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.real
@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("typed", "offered"), [("keys re", "revoke"), ("help ale", "alerts"), ("tail --key", "--keyword")]
)
def test_a_shell_offers_commands_pages_and_flags(shell: str, typed: str, offered: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    file, command = tmp_path / "completion", tmp_path / "sanderling"
    file.write_text(cli.completion_script(shell))
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sanderling "$@"\n')
    command.chmod(0o755)
    variables = {
        "PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }
    arguments = [shell, "-c", ASKED[shell], *(["x"] if shell == "bash" else []), str(file), typed]
    done = subprocess.run(arguments, env=variables, capture_output=True, timeout=60, text=True, check=False)
    assert offered in [line.split("\t")[0] for line in done.stdout.split("\n")], done


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["completion", "zsh"]) == Exit.WELL
    assert capsys.readouterr().out.startswith("#compdef sanderling\n")
    assert cli.run(["completion", "tcsh"]) == Exit.USAGE
