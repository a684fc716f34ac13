from __future__ import annotations

from pathlib import Path

import pytest

from sanderling import cli, flags
from sanderling.exits import Exit
from tests.actors.destination_kinds.messengers.test_files import EXAMPLE


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (flags,):
        monkeypatch.setattr(module, "environ", lambda: {"SANDERLING_DATA": str(tmp_path / "data")})


def test_kinds_are_listed_with_their_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tide.toml").write_text(EXAMPLE)
    (tmp_path / "bad.toml").write_text("id = ")
    assert cli.run(["kinds", "list", "--kinds", str(tmp_path)]) == Exit.WELL
    told = capsys.readouterr()
    assert "telegram  chat  Telegram  token, chat, thread" in told.out
    assert "tide-table  chat  Tide table  token, level" in told.out
    assert told.err.startswith("sanderling: bad.toml:1: not TOML")


def test_one_is_shown_with_the_command_that_makes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["kinds", "show", "ntfy"]) == Exit.WELL
    told = capsys.readouterr().out
    assert "need not be given: https://ntfy.sh" in told
    assert told.endswith("sanderling alerts deliver ALERT --kind ntfy --option topic=...\n")
    assert cli.run(["kinds", "show", "slack"]) == Exit.WELL
    told = capsys.readouterr().out
    assert "sanderling alerts deliver ALERT URL --kind slack" in told and "It is sealed" in told
    assert cli.run(["kinds", "show", "pigeon"]) == Exit.USAGE
    assert cli.run(["kinds", "show", "slak"]) == Exit.USAGE
    assert capsys.readouterr().err.endswith("slak: there is no such kind. Did you mean slack?\n")


def test_ones_own_files_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["kinds", "check", str(tmp_path)]) == Exit.WELL
    assert "There is no *.toml file" in capsys.readouterr().err
    (tmp_path / "tide.toml").write_text(EXAMPLE)
    assert cli.run(["kinds", "check", str(tmp_path)]) == Exit.WELL
    assert capsys.readouterr().out == "tide.toml: tide-table (Tide table) is well\n"
    (tmp_path / "bad.toml").write_text(EXAMPLE.replace("{title}", "{titel}"))
    assert cli.run(["kinds", "check", str(tmp_path)]) == Exit.FAILED
    told = capsys.readouterr().out
    assert "bad.toml:" in told and "{titel} is no field" in told
    assert cli.run(["kinds", "check", str(tmp_path / "absent")]) == Exit.BAD_SETTING
