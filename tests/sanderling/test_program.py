"""Restarting the same program, in both forms: from a checkout and frozen."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling import program
from tests.rules.source_files import ROOT

VARIABLES = {
    "PATH": "/bin",
    "LD_LIBRARY_PATH": "/tmp/_MEI1",
    "LD_LIBRARY_PATH_ORIG": "/opt/lib",
    "_PYI_ARCHIVE_FILE": "/usr/bin/sanderling",
    "SANDERLING_KEY": "svc_secret",
}


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    monkeypatch.setattr(sys, "executable", "/usr/lib/sanderling/sanderling")
    return tmp_path


def test_a_worker_of_a_checkout_sees_no_environment_and_no_folder_but_its_own() -> None:
    assert list(program.worker_command())[:3] == [sys.executable, "-I", "-c"]
    assert program.worker_environment(VARIABLES) == {}


def test_a_frozen_worker_is_the_program_itself_and_keeps_only_the_loaders_words(frozen: Path) -> None:
    assert program.worker_command() == ["/usr/lib/sanderling/sanderling", "worker"]
    assert program.worker_environment(VARIABLES).keys() == {"LD_LIBRARY_PATH", "_PYI_ARCHIVE_FILE"}


def test_a_service_of_our_own_has_no_settings_in_either_form(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, environment = program.service_command(VARIABLES)
    assert command == ["/usr/lib/sanderling/sanderling"] and "SANDERLING_KEY" not in environment
    monkeypatch.delattr(sys, "_MEIPASS")
    command, environment = program.service_command(VARIABLES)
    assert command[1:] == ["-P", "-m", "sanderling"] and "SANDERLING_KEY" not in environment


def test_a_foreign_program_gets_its_own_libraries_back(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = program.foreign_environment(VARIABLES)
    assert theirs["LD_LIBRARY_PATH"] == "/opt/lib" and "_PYI_ARCHIVE_FILE" not in theirs
    unset = {name: text for name, text in VARIABLES.items() if name != "LD_LIBRARY_PATH_ORIG"}
    assert "LD_LIBRARY_PATH" not in program.foreign_environment(unset)
    monkeypatch.delattr(sys, "_MEIPASS")
    assert program.foreign_environment(VARIABLES) == VARIABLES


def test_the_one_file_is_known_by_the_launcher_that_it_carries(frozen: Path) -> None:
    assert program.unpacked() == frozen and not program.is_one_file()
    (frozen / "launcher").mkdir()
    assert program.is_one_file()


def test_the_command_of_a_fresh_clone_installs_what_it_needs_first(tmp_path: Path) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    shutil.copy(ROOT / "bin/sanderling", bin)
    python = tmp_path / ".venv/bin/python"
    (bin / "setup").write_text(
        f"#!/bin/sh\necho installs $1\nmkdir -p {python.parent}\ncp /bin/echo {python}\n", "utf-8"
    )
    (bin / "setup").chmod(0o755)
    runs = [subprocess.run([bin / "sanderling", "try"], capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout for run in runs] == ["-P -m sanderling try\n"] * 2
    assert [run.stderr for run in runs] == ["installs run\n", ""]
