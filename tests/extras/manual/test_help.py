"""`sanderling help`: the list of pages, and the page for a word."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extras.manual import pages
from extras.manual.pages import KINDS, WRITTEN, contents, page, title
from extras.manual.references import tree
from sanderling import cli
from sanderling.exits import CommandFailed, Exit
from tests.rules.source_files import ROOT


def test_every_page_of_the_docs_is_there_once() -> None:
    names = [name for names in contents().values() for name in names]
    files = {str(path.relative_to(ROOT / "docs"))[:-3] for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(names) == sorted((files | set(WRITTEN)) - {"decisions/README"})


def test_every_page_with_a_place_is_there() -> None:
    there = {name for names in contents().values() for name in names}
    assert {name for names in KINDS.values() for name in names} - there == set()


def test_titles_of_written_pages_are_their_headings() -> None:
    assert [name for name in WRITTEN if not page(name).markdown.startswith(f"# {title(name)}\n")] == []


@pytest.mark.parametrize(
    ("word", "name"), [("alerts", "alerts"), ("docs/alerts.md", "alerts"), ("arch", "architecture")]
)
def test_a_page_is_found_by_its_name_its_file_or_its_beginning(word: str, name: str) -> None:
    assert page(word).name == name


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("alrts", "did you mean alerts"),
        ("setings", "did you mean settings"),
        ("de", "deliveries or dependencies or decisions"),
        ("quantum", "lists the pages"),
        ("../../etc/passwd", "lists the pages"),
        ("", "lists the pages"),
    ],
)
def test_a_page_that_is_not_there_names_the_nearest(word: str, hint: str) -> None:
    with pytest.raises(CommandFailed, match="there is no page") as caught:
        page(word)
    assert hint in caught.value.message and caught.value.code == Exit.USAGE


def test_without_its_pages_the_manual_fails_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    with pytest.raises(CommandFailed, match="install the program again"):
        contents()


def test_the_list_has_a_line_for_each_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help"]) == Exit.WELL
    shown = capsys.readouterr().out
    assert "  alerts         Alerts\n" in shown and "\nReference\n" in shown
    assert "decisions/" not in shown


def test_a_page_is_shown_and_its_source_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help", "alerts"]) == Exit.WELL
    assert capsys.readouterr().out.startswith("ALERTS\n\n")
    assert cli.run(["help", "alerts", "--markdown"]) == Exit.WELL
    assert capsys.readouterr().out == (ROOT / "docs/alerts.md").read_text("utf-8")


def test_the_page_of_commands_has_every_command() -> None:
    shown = page("commands").markdown
    names = [name for name, _ in tree()]
    assert len(names) > 20
    assert [name for name in names if f"## {name}\n" not in shown] == []


def test_the_page_of_the_api_has_every_operation() -> None:
    from api.openapi.document import ROUTES, described

    shown = page("reference").markdown
    assert [r.label for r in described(ROUTES, "http://a.test") if f"### `{r.label}`\n" not in shown] == []


@pytest.mark.real
@pytest.mark.skipif(shutil.which("less", path="/usr/bin:/bin") is None, reason="needs less")
@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}], ids=["coloured", "plain"])
def test_a_long_page_reads_well_in_the_pager_of_a_plain_system(more: dict[str, str]) -> None:
    master, slave = pty.openpty()
    reader = subprocess.Popen(
        [sys.executable, "-P", "-m", "sanderling", "help", "start"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "TERM": "xterm"} | more,
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    while b"in five minutes" not in shown.lower() or b"\n:" not in shown:
        assert select.select([master], [], [], 20)[0], shown
        shown += os.read(master, 65_536)
    os.write(master, b"q")
    reader.wait(20)
    os.close(master)
    assert b"ESC" not in shown and b"^[" not in shown
    assert (b"\x1b[1mStart in five minutes" in shown or b"\x1b[1mSTART" in shown) is not more
