from __future__ import annotations

import pytest

from extras.install import licences
from release.licences.parts import parts
from sanderling import cli
from sanderling.exits import Exit
from tests.rules.source_files import ROOT


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(["licences", *arguments]) == Exit.WELL
    return capsys.readouterr().out


def test_the_list_has_a_line_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    first, *lines = said(capsys).splitlines()
    assert first.split() == ["NAME", "VERSION", "LICENCE", "TEXT"]
    assert [line.split()[0] for line in lines] == [part.name for part in parts(())]
    (trio,) = (line for line in lines if line.startswith("trio "))
    assert "MIT OR Apache-2.0" in trio and trio.endswith(".dist-info/licenses/ (3 texts)")


def test_a_name_gives_the_texts_of_all_that_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "zlib")
    assert text.count("Jean-loup Gailly and Mark Adler") == 1
    assert "\nzlib 1" in text and "\nzlib (in lxml) 1" in text
    assert said(capsys, "Lxml_HTML_clean") == said(capsys, "lxml-html-clean")


def test_the_programs_own_licence_is_among_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert (ROOT / "LICENSE").read_text("utf-8").strip() in said(capsys, "sanderling")


def test_all_texts_are_there_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--all")
    assert text.count("UNICODE LICENSE V3") == 1
    assert [part.label for part in parts(()) if f"\n{part.label}" not in f"\n{text}"] == []


def test_a_name_that_is_no_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["licences", "nothing"]) == Exit.USAGE
    assert "sanderling licences` lists them" in capsys.readouterr().err


def test_names_are_completed() -> None:
    assert licences.names("libx") == ["libxml2", "libxslt"]
