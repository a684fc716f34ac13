from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.program import NAMES, find_browser


def test_the_shell_comes_before_whole_browsers() -> None:
    there = {name: f"/usr/bin/{name}" for name in NAMES}
    for name in NAMES:
        assert find_browser("", there.get).path == f"/usr/bin/{name}"
        del there[name]
    assert "install" in find_browser("", there.get).absent


def test_a_path_names_another(tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\n")
    assert not find_browser(str(program)).path, "it can't be run"
    program.chmod(0o755)
    assert find_browser(str(program)) == (str(program), "")


@pytest.mark.parametrize(
    ("setting", "says"), [("off", "is off"), ("chromium", "no program"), ("/nowhere", "no program")]
)
def test_a_program_that_is_not_a_browser_is_reported(setting: str, says: str) -> None:
    path, absent = find_browser(setting)
    assert path == "" and says in absent


def test_a_socket_is_taken_as_it_is() -> None:
    assert find_browser("unix:/run/b/socket", {}.get) == ("unix:/run/b/socket", "")
