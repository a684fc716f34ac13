"""The site has all pages and loads nothing from other sites."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from extras.manual.pages import contents
from tests.rules.source_files import ROOT

BUILDER = runpy.run_path(str(ROOT / "docs/site/build.py"), run_name="build")


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("site") / "pages"
    return folder, tomllib.loads("nav = " + BUILDER["gather"](folder))["nav"]


def test_every_page_is_there_and_in_the_navigation(gathered: tuple[Path, Any]) -> None:
    folder, nav = gathered
    named = re.findall(r"'([\w/-]+)\.md'", str(nav))
    names = {name for names in contents().values() for name in names}
    assert {str(path.relative_to(folder))[:-3] for path in folder.rglob("*.md")} >= names
    assert set(named) >= {name for name in names if "/" not in name} | {"index", "contributing", "reporting", "changes"}
    assert [name for name in named if not (folder / f"{name}.md").is_file()] == []


def test_every_link_of_every_page_leads_to_a_page(gathered: tuple[Path, Any]) -> None:
    folder, _nav = gathered
    dead = [
        f"{path.relative_to(folder)}: {link}"
        for path in folder.rglob("*.md")
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`\n]+`", "", path.read_text("utf-8")))
        if ":" not in link and not (path.parent / link).is_file()
    ]
    assert dead == []


@pytest.mark.real
def test_the_site_builds_without_warnings_and_external_resources(tmp_path: Path) -> None:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed; `make docs` installs it")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text("# One\n\n```sh\necho\n```\n", "utf-8")
    file = tmp_path / "zensical.toml"
    file.write_text(BUILDER["SETTINGS"].format(nav='[{ "One" = "index.md" }]'), "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site/index.html").read_text("utf-8")
    assert re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*", page) == []
    styles = "".join(path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.css"))
    assert not re.search(r"url\(\"?(?:https?:)?//|@import", styles)
