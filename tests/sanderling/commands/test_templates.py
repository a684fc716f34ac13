from __future__ import annotations

from pathlib import Path

import pytest

from sanderling import cli, flags
from sanderling.exits import Exit
from tests.actors.templates.samples import a_text


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (flags,):
        monkeypatch.setattr(module, "environ", lambda: {"SANDERLING_DATA": str(tmp_path / "data")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.toml").write_text(a_text(), "utf-8")
    return folder


def test_the_list_names_built_in_templates_and_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.toml").write_text("id = ", "utf-8")
    assert cli.run(["templates", "list", "--templates", str(folder)]) == Exit.WELL
    written = capsys.readouterr()
    lines = [line.split("  ")[0] for line in written.out.splitlines()]
    assert lines == [*sorted(lines[:-1]), "own"] and len(lines) == 19 and "gtm-competitor-watch" in lines
    assert "  built in\n" in written.out and "  own.toml\n" in written.out
    assert written.err.startswith("sanderling: bad.toml:1: not TOML")


def test_a_template_is_shown_with_parameters_sources_and_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["templates", "show", "gtm-competitor-watch"]) == Exit.WELL
    shown = capsys.readouterr().out
    assert "gtm-competitor-watch, version 1 (built in)" in shown
    assert "domain: 1 to 10 domains, such as example.com" in shown
    assert "html  https://{domain}/pricing" in shown and "feed  https://{domain}/blog" in shown
    assert "Leadership changes (en): " in shown
    assert "    of pages: added and removed texts" in shown


def test_an_unknown_template_is_an_error_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["templates", "show", "nothing"]) == Exit.USAGE
    assert "sanderling templates list" in capsys.readouterr().err


def test_a_healthy_folder_is_reported_as_such(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["templates", "check", str(folder)]) == Exit.WELL
    assert capsys.readouterr().out == "own.toml: own, version 3, is well\n"


def test_an_empty_folder_says_that_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["templates", "check", str(tmp_path)]) == Exit.WELL
    assert "no *.toml file" in capsys.readouterr().err


def test_every_fault_of_a_folder_is_reported_and_sets_the_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.toml").write_text(a_text().replace("https", "ftp").replace('"own"', '"bad"'), "utf-8")
    assert cli.run(["templates", "check", str(folder)]) == Exit.FAILED
    good, bad = capsys.readouterr().out.splitlines()
    assert good.startswith("own.toml: ") and bad.startswith("bad.toml:8: sources[0].url: ")


@pytest.mark.parametrize("command", [["templates", "check", "absent"], ["templates", "list", "--templates", "absent"]])
def test_a_folder_that_can_not_be_read_is_a_bad_setting(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(command) == Exit.BAD_SETTING
    assert "absent can't be read as a folder of templates" in capsys.readouterr().err


def test_the_service_does_not_start_without_the_folder_that_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = str(tmp_path / "absent")
    assert cli.run(["serve", "--port", "0", "--templates", absent, "--data", str(tmp_path)]) == Exit.BAD_SETTING
    assert "can't be read as a folder of templates" in capsys.readouterr().err
